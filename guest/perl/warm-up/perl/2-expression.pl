my @x = map { $_ * $_ } 0 .. 9;
print "hello $x[3]\n";
$x[2] + 1
