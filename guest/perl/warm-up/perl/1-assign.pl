my $y = 1;
