# SPDX-License-Identifier: Apache-2.0
# Tables: arrays of equal hashes, as text, as HTML and as data. A data frame is an object with the methods `columns`
# (names) and `rows` (array references or hashes).
package Dormouse::Tables;
use strict;
use warnings;
use utf8;
no warnings qw(surrogate nonchar non_unicode experimental::builtin);
use Dormouse::Scales ();
use Dormouse::Svg ();
use Scalar::Util ();

# Cells that are looked at and shown without being asked for, and at most.
use constant {FEW_CELLS => 10_000, MOST_CELLS => 200_000};
my %in_text = (head => 40, tail => 10, width => 120, cell => 40);
my %in_html = (head => 150, tail => 50, cell => 500, columns => 200);

*characters = \&Dormouse::Errors::characters;

# The table that an array of equal hashes plainly is, as far as its first rows tell: {names, rows, count}, where rows are
# the first of `count`; columns are in the order of their names. undef if it is none.
sub find {
  my ($value) = @_;
  return undef if ref $value ne 'ARRAY' || !@$value || ref $value->[0] ne 'HASH' || tied @$value;
  my @names = sort keys %{$value->[0]};
  return undef if !@names || @names > 100;
  my $few = Dormouse::Scales::most(int(FEW_CELLS / @names), 1);
  my @rows;
  for my $i (0 .. Dormouse::Scales::least($few, scalar @$value) - 1) {
    my $item = $value->[$i];
    return undef if ref $item ne 'HASH' || keys %$item != @names || grep { !exists $item->{$_} || ref $item->{$_} } @names;
    push @rows, [@$item{@names}];
  }
  return {names => [map { characters($_) } @names], rows => \@rows, count => scalar @$value};
}

sub is_frame {
  my ($value) = @_;
  return Scalar::Util::blessed($value) && $value->can('columns') && $value->can('rows');
}

# The table of a value that its owner calls one.
sub of {
  my ($value, $limit) = (@_, MOST_CELLS);
  if (is_frame($value)) {
    my @names = map { ref $_ eq 'ARRAY' ? @$_ : $_ } $value->columns;
    my @rows = $value->rows;
    @rows = @{$rows[0]} if @rows == 1 && ref $rows[0] eq 'ARRAY' && (!@{$rows[0]} || ref $rows[0][0]);
    return table(\@names, [map { my $row = $_; ref $row eq 'HASH' ? [@$row{@names}] : $row } @rows], $limit);
  }
  if (ref $value eq 'HASH') {
    my @names = sort keys %$value;
    return of([$value], $limit) if grep { ref ne 'ARRAY' } values %$value;
    my $count = Dormouse::Scales::most(map { scalar @$_ } values %$value) // 0;
    return table(\@names, [map { my $i = $_; [map { $value->{$_}[$i] } @names] } 0 .. $count - 1], $limit);
  }
  die 'a table is an array of hashes or a hash of arrays, not ' . ($value // 'undef') . "\n" if ref $value ne 'ARRAY';
  if (@$value && !grep { ref ne 'ARRAY' } @$value) {
    my $width = Dormouse::Scales::most(map { scalar @$_ } @$value);
    return table([0 .. $width - 1], [map { my $row = $_; [@$row[0 .. $width - 1]] } @$value], $limit);
  }
  my (%seen, @names);
  for my $record (@$value) {
    die 'a record of a table is a hash, not ' . ($record // 'undef') . "\n" if ref $record ne 'HASH';
    push @names, grep { !$seen{$_}++ } sort keys %$record;
  }
  return table(\@names, [map { my $record = $_; [@$record{@names}] } @$value], $limit);
}

sub table {
  my ($names, $rows, $limit) = @_;
  my $few = Dormouse::Scales::most(int($limit / (@$names || 1)), 1);
  return {names => [map { characters("$_") } @$names], rows => [@$rows > $few ? @$rows[0 .. $few - 1] : @$rows], count => scalar @$rows};
}

sub kind {
  my (@cells) = @_;
  my %found;
  for my $cell (grep {defined} @cells) {
    my $type = ref $cell ? 'any' : builtin::is_bool($cell) ? 'boolean' : !builtin::created_as_number($cell) ? 'string'
        : $cell == int $cell ? 'integer' : 'number';
    $found{$type} = 1;
  }
  delete $found{integer} if $found{number};
  my @found = keys %found;
  return @found == 1 ? $found[0] : @found ? 'any' : 'string';
}

# A tabular data resource; with orient "columns" its data is a hash of columns.
sub resource {
  my ($table, $orient) = @_;
  my @names = @{$table->{names}};
  my @rows = map { [map { ref $_ ? cell_text($_, 2000) : $_ } @$_] } @{$table->{rows}};
  @rows = map { [map { !defined || builtin::is_bool($_) || builtin::created_as_number($_) ? $_ : characters($_) } @$_] } @rows;
  my @fields = map { my $i = $_; {name => $names[$i], type => kind(map { $_->[$i] } @{$table->{rows}})} } 0 .. $#names;
  my $data = $orient eq 'columns'
      ? {map { my $i = $_; $names[$i] => [map { $_->[$i] } @rows] } 0 .. $#names}
      : [map { my %record; @record{@names} = @$_; \%record } @rows];
  my %resource = (schema => {fields => \@fields}, data => $data, rowCount => $table->{count});
  $resource{truncated} = Dormouse::JSON::TRUE() if $table->{count} > @rows;
  return \%resource;
}

sub cell_text {
  my ($cell, $limit) = @_;
  my $text = !defined $cell ? '' : ref $cell ? eval { Dormouse::Display::one($cell) } // ref $cell : Dormouse::Display::plain($cell);
  $text = characters(substr $text, 0, 4 * $limit);
  my %escapes = ("\r" => '\\r', "\n" => '\\n', "\t" => '\\t');
  $text =~ s/([\r\n\t])/$escapes{$1}/g;
  return length $text <= $limit ? $text : substr($text, 0, $limit - 1) . '…';
}

# The rows to be shown, with their numbers: those before and those after the gap.
sub ends {
  my ($table, $limits) = @_;
  my @rows = map { [$_, $table->{rows}[$_]] } 0 .. $#{$table->{rows}};
  return (\@rows, []) if @rows == $table->{count} && @rows <= $limits->{head} + $limits->{tail};
  my @after = @rows < $table->{count} ? () : splice @rows, -$limits->{tail};
  return ([splice @rows, 0, $limits->{head}], \@after);
}

sub grouped { return $_[0] =~ s/(?<=\d)(?=(?:\d{3})+\z)/,/gr }

# Aligned columns; the middle of many rows, and columns that do not fit, are counted.
sub text {
  my ($table) = @_;
  my ($before, $after) = ends($table, \%in_text);
  my @shown = (@$before, @$after);
  my @lines = ('', map { $_->[0] } @shown);
  my $width = Dormouse::Scales::most(map {length} @lines);
  @lines = map { $_ . ' ' x ($width - length) } @lines;
  my $columns = 0;
  for my $i (0 .. $#{$table->{names}}) {
    my @cells = map { cell_text($_, $in_text{cell}) } $table->{names}[$i], map { $_->[1][$i] } @shown;
    my $size = Dormouse::Scales::most(map {length} @cells);
    last if $columns && $width + 2 + $size > $in_text{width};
    $width += 2 + $size;
    ++$columns;
    my $is_number = kind(map { $_->[1][$i] } @shown) =~ /\A(?:integer|number)\z/;
    for my $j (0 .. $#lines) {
      my $pad = ' ' x ($size - length $cells[$j]);
      $lines[$j] .= '  ' . ($is_number ? $pad . $cells[$j] : $cells[$j] . $pad);
    }
  }
  s/ +\z// for @lines;
  my ($left_out, $names) = ($table->{count} - @shown, scalar @{$table->{names}});
  splice @lines, 1 + @$before, 0, '… ' . grouped($left_out) . ' more rows …' if $left_out;
  if ($left_out || $columns < $names) {
    push @lines, '[' . grouped($table->{count}) . ' rows × ' . grouped($names) . ' columns' . ($columns < $names ? ", $columns shown]" : ']');
  }
  return join "\n", @lines;
}

sub html {
  my ($table) = @_;
  my ($before, $after) = ends($table, \%in_html);
  my $columns = Dormouse::Scales::least(scalar @{$table->{names}}, $in_html{columns});
  my $left_out = $table->{count} - @$before - @$after;
  my $line = sub {
    my ($i, $row) = @{$_[0]};
    return "<tr><th>$i</th>" . join('', map { '<td>' . Dormouse::Svg::escape(cell_text($row->[$_], $in_html{cell})) . '</td>' } 0 .. $columns - 1) . '</tr>';
  };
  my @parts = ('<table><thead><tr><th></th>', (map { '<th>' . Dormouse::Svg::escape($_) . '</th>' } @{$table->{names}}[0 .. $columns - 1]),
    '</tr></thead><tbody>', map { $line->($_) } @$before);
  push @parts, '<tr><td colspan="' . ($columns + 1) . '">… ' . grouped($left_out) . ' more rows …</td></tr>' if $left_out;
  push @parts, (map { $line->($_) } @$after), '</tbody></table>';
  if ($left_out || $columns < @{$table->{names}}) {
    push @parts, '<p>' . grouped($table->{count}) . ' rows × ' . grouped(scalar @{$table->{names}}) . ' columns</p>';
  }
  return join '', @parts;
}

1;
