# SPDX-License-Identifier: Apache-2.0
# chart(): data to the dictionary of a chart, which clients can draw, and to a picture (Svg.pm).
#
# The dictionary always has all keys of its type, undef where there is nothing to say. docs/outputs.md lists them.
package Dormouse::Chart;
use strict;
use warnings;
use utf8;
no warnings qw(surrogate nonchar non_unicode experimental::builtin);
use overload '""' => sub { summary($_[0]{spec}) }, fallback => 1;
use Dormouse::Scales ();
use Dormouse::Svg ();
use Dormouse::Tables ();
use Scalar::Util ();

use constant {TYPE => 'application/vnd.dormouse.chart.v1+json', MOST_POINTS => 20_000, MOST_SERIES => 100};

my %kinds = ((map { $_ => $_ } qw(line scatter bar pie histogram box_and_whisker heatmap)), hist => 'histogram', box => 'box_and_whisker');
my %make = (
  line => \&make_xy, scatter => \&make_xy, bar => \&make_bar, pie => \&make_pie, histogram => \&make_histogram,
  box_and_whisker => \&make_boxes, heatmap => \&make_heatmap,
);
my @options = qw(x y title x_label y_label x_scale y_scale bins x_labels y_labels columns width height);
my %scales = map { $_ => 1 } qw(linear log datetime categorical);

*least = \&Dormouse::Scales::least;
*most = \&Dormouse::Scales::most;
*floor = \&Dormouse::Scales::floor;
*characters = \&Dormouse::Errors::characters;

# chart($kind, $data, {title => …}); chart([$chart, …], {title => …}) is one picture of several.
sub chart {
  my ($kind, $data, $given) = @_;
  return superchart($kind, options($data)) if ref $kind eq 'ARRAY';
  my $options = options($given);
  my $type = $kinds{$kind // ''} // fail("unknown type '" . ($kind // 'undef') . "'; known are " . join ', ', sort keys %kinds);
  my $spec = $make{$type}->($type, $data, $options);
  my @elements = @{$spec->{elements}};
  my $size = 0;
  $size += @{$_->{points} // []} || 1 for @elements;
  if ($size > MOST_POINTS || (@elements > MOST_SERIES && $elements[0]{points})) {
    fail("$size points in " . @elements . ' elements; the limit is ' . MOST_POINTS . ' points, ' . MOST_SERIES . ' series');
  }
  return new(__PACKAGE__, $spec, $options);
}

sub fail {
  my ($message) = @_;
  require Carp;
  local $Carp::CarpLevel = 1;
  Carp::croak("chart: $message");
}

sub new {
  my ($class, $spec, $options) = @_;
  my $size = sub { my $value = int $_[0]; $value < 1 ? 1 : $value > 10_000 ? 10_000 : $value };
  return bless {
    spec => $spec, width => $size->($options->{width} // 640), height => $size->($options->{height} // 400),
    columns => $size->($options->{columns} // 2),
  }, $class;
}

sub spec { return $_[0]{spec} }
sub width { return $_[0]{width} }
sub height { return $_[0]{height} }

sub svg {
  my ($self) = @_;
  return Dormouse::Svg::draw(@$self{qw(spec width height columns)});
}

sub superchart {
  my ($charts, $options) = @_;
  my $columns = $options->{columns} // 2;
  my $spec = {type => 'superchart', title => $options->{title}, elements => [map { $_->{spec} } @$charts]};
  my %size = (
    width => 420 * least($columns, most(scalar @$charts, 1)),
    height => 300 * most(Dormouse::Scales::ceil(@$charts / $columns), 1),
  );
  return new(__PACKAGE__, $spec, {%size, %$options});
}

sub options {
  my ($given) = @_;
  my %options;
  for my $name (keys %{$given // {}}) {
    fail("unknown option '$name'; known are @options") if !grep { $_ eq $name } @options;
    next if !defined $given->{$name};
    $options{$name} = ref $given->{$name} || $name !~ /title|label|scale/ ? $given->{$name} : characters("$given->{$name}");
  }
  for my $scale (grep {defined} @options{qw(x_scale y_scale)}) {
    fail("unknown scale '$scale'; known are " . join ', ', sort keys %scales) if !$scales{$scale};
  }
  return \%options;
}

sub is_number { return defined $_[0] && !ref $_[0] && Scalar::Util::looks_like_number($_[0]) }

# The number that a value is; undef where there is none to draw.
sub number {
  my ($value) = @_;
  return undef if !is_number($value) || !($value == $value && abs $value < 1e300);
  return 0 + $value;
}

# A value along the x axis: a number or a text.
sub place {
  my ($value) = @_;
  return undef if !defined $value;
  return is_number($value) ? number($value) : characters("$value");
}

# A text, or the text of a number.
sub text {
  my ($value) = @_;
  return '' if !defined $value;
  return "$value" if !builtin::created_as_number($value);
  return sprintf '%.0f', $value if abs $value < 1e15 && $value == floor($value);
  return Dormouse::Scales::number_text($value);
}

# Keys in order: as numbers if all are.
sub ordered_keys {
  my ($hash) = @_;
  my @keys = keys %$hash;
  return sort { $a <=> $b || $a cmp $b } @keys if !grep { !is_number($_) } @keys;
  return sort @keys;
}

# What the values of one series say: pairs as they are, a hash's entries by key, or numbers by their position.
sub points {
  my ($values) = @_;
  my @pairs;
  if (ref $values eq 'HASH') {
    @pairs = map { [$_, $values->{$_}] } ordered_keys($values);
  } elsif (@$values && !grep { !(ref $_ eq 'ARRAY' && @$_ == 2) } @$values) {
    @pairs = @$values;
  } else {
    @pairs = map { [$_, $values->[$_]] } 0 .. $#$values;
  }
  return [map { [place($_->[0]), number($_->[1])] } @pairs];
}

sub table_series {
  my ($table, $x, $y) = @_;
  my @names = @{$table->{names}};
  my %column = map { my $i = $_; $names[$i] => [map { $_->[$i] } @{$table->{rows}}] } 0 .. $#names;
  my %is_numeric = map { my $name = $_; $name => scalar grep { is_number($_) } @{$column{$name}} } @names;
  if (!defined $x && @names > 1) {
    ($x) = grep { !$is_numeric{$_} } @names;
    $x //= $names[0] if !defined $y;
  }
  my @series = defined $y ? ref $y ? @$y : $y : grep { $is_numeric{$_} && $_ ne ($x // '') } @names;
  for my $name (grep {defined} $x, @series) {
    fail("there is no column '$name'; there are " . join ', ', @names) if !$column{$name};
  }
  my @along = defined $x ? @{$column{$x}} : 0 .. $#{$table->{rows}};
  return map { my $values = $column{$_}; [$_, [map { [place($along[$_]), number($values->[$_])] } 0 .. $#along]] } @series;
}

# [name, [[x, y], …]], … of whatever form of data; series of a hash in the order of their names.
sub series {
  my ($data, $options) = @_;
  my ($x, $y) = @$options{qw(x y)};
  if (defined $x || defined $y || (ref $data eq 'ARRAY' && @$data && ref $data->[0] eq 'HASH') || Dormouse::Tables::is_frame($data)) {
    return table_series(Dormouse::Tables::of($data), $x, $y);
  }
  return ['', points($data)] if ref $data eq 'ARRAY';
  fail('no data in ' . (defined $data ? "'$data'" : 'undef')) if ref $data ne 'HASH';
  return ['', points($data)] if grep { !/\A(?:ARRAY|HASH)\z/ } map {ref} values %$data;
  return map { [characters($_), points($data->{$_})] } ordered_keys($data);
}

# What an axis' label has in parentheses or brackets.
sub unit {
  my ($label) = @_;
  return ($label // '') =~ /\(([^()]*)\)|\[([^\[\]]*)\]/ ? $1 // $2 : undef;
}

sub labels {
  my ($options) = @_;
  my ($x, $y) = @$options{qw(x_label y_label)};
  return (x_label => $x, y_label => $y, x_unit => scalar unit($x), y_unit => scalar unit($y));
}

sub scale_of {
  my (@values) = @_;
  return 'linear' if !grep { !builtin::created_as_number($_) } @values;
  my $is_time = sub { !builtin::created_as_number($_[0]) && defined Dormouse::Scales::time_ms($_[0]) };
  return (grep { !$is_time->($_) } @values) ? 'categorical' : 'datetime';
}

# [value, text], … of an axis.
sub ticks {
  my ($scale, @values) = @_;
  if ($scale eq 'categorical') {
    my %seen;
    return map { [$_, $_] } grep { !$seen{$_}++ } @values;
  }
  @values = map { Dormouse::Scales::time_ms($_) } @values if $scale eq 'datetime';
  @values = grep { $_ > 0 } @values if $scale eq 'log';
  return if !@values;
  my ($low, $high) = (least(@values), most(@values));
  if ($scale eq 'datetime') {
    return map { [Dormouse::Scales::time_text($_->[0]), $_->[1]] } Dormouse::Scales::time_ticks($low, $high);
  }
  return $scale eq 'log' ? Dormouse::Scales::log_ticks($low, $high) : Dormouse::Scales::linear_ticks($low, $high);
}

sub make_xy {
  my ($type, $data, $options) = @_;
  my @series = series($data, $options);
  my $along = sub { my ($i) = @_; grep {defined} map { map { $_->[$i] } @{$_->[1]} } @series };
  my $x_scale = $options->{x_scale} // scale_of($along->(0));
  my $y_scale = $options->{y_scale} // 'linear';
  if ($x_scale eq 'categorical') {
    for my $point (map { @{$_->[1]} } @series) { $point->[0] = text($point->[0]) if defined $point->[0] }
  }
  my @x = ticks($x_scale, $along->(0));
  my @y = ticks($y_scale, $along->(1));
  return {
    type => $type, title => $options->{title}, labels($options),
    x_ticks => [map { $_->[0] } @x], y_ticks => [map { $_->[0] } @y],
    x_tick_labels => [map { $_->[1] } @x], y_tick_labels => [map { $_->[1] } @y], x_scale => $x_scale, y_scale => $y_scale,
    elements => [map { {label => $_->[0], points => $_->[1]} } @series],
  };
}

sub make_bar {
  my ($type, $data, $options) = @_;
  my @elements;
  for my $series (series($data, $options)) {
    push @elements, map { {label => text($_->[0]), value => $_->[1], group => $series->[0]} } @{$series->[1]};
  }
  return {type => $type, title => $options->{title}, labels($options), elements => \@elements};
}

sub make_pie {
  my ($type, $data, $options) = @_;
  my ($first) = series($data, $options);
  my @points = $first ? @{$first->[1]} : ();
  my @values = map { most($_->[1] // 0, 0) } @points;
  my $total = 0;
  $total += $_ for @values;
  my @elements = map { {label => text($points[$_][0]), angle => $values[$_] / ($total || 1) * 360, radius => 1} } 0 .. $#points;
  return {type => $type, title => $options->{title}, elements => \@elements};
}

# [name, [sorted numbers]] of each series that has any.
sub samples {
  my ($data, $options) = @_;
  return grep { @{$_->[1]} } map { [$_->[0], [sort { $a <=> $b } grep {defined} map { $_->[1] } @{$_->[1]}]] } series($data, $options);
}

sub quantile {
  my ($numbers, $share) = @_;
  my $at = $share * $#$numbers;
  my $below = floor($at);
  my $above = least($below + 1, $#$numbers);
  return $numbers->[$below] + ($numbers->[$above] - $numbers->[$below]) * ($at - $below);
}

sub make_boxes {
  my ($type, $data, $options) = @_;
  my @elements;
  for my $sample (samples($data, $options)) {
    my ($name, $numbers) = @$sample;
    my ($first, $median, $third) = map { quantile($numbers, $_) } 0.25, 0.5, 0.75;
    my $reach = 1.5 * ($third - $first);
    my $is_inside = sub { $_[0] >= $first - $reach && $_[0] <= $third + $reach };
    my @inside = grep { $is_inside->($_) } @$numbers;
    push @elements, {
      label => $name, min => $inside[0], first_quartile => $first, median => $median, third_quartile => $third,
      max => $inside[-1], outliers => [grep { !$is_inside->($_) } @$numbers],
    };
  }
  return {type => $type, title => $options->{title}, labels($options), elements => \@elements};
}

sub make_histogram {
  my ($type, $data, $options) = @_;
  my @samples = samples($data, $options);
  my $low = least(map { $_->[1][0] } @samples) // 0;
  my $high = most(map { $_->[1][-1] } @samples) // 1;
  ($low, $high) = ($low - 0.5, $high + 0.5) if $low == $high;
  my $count = least(most(int($options->{bins} // 10), 1), 1000);
  my @bins = map { $low + ($high - $low) * $_ / $count } 0 .. $count;
  my @edges = map { Dormouse::Scales::number_text($_) } @bins;
  my @elements;
  for my $sample (@samples) {
    my @heights = (0) x $count;
    ++$heights[least(floor(($_ - $low) / ($high - $low) * $count), $count - 1)] for @{$sample->[1]};
    push @elements, map { {label => "$edges[$_] – $edges[$_ + 1]", value => $heights[$_], group => $sample->[0]} } 0 .. $#heights;
  }
  return {type => 'bar', title => $options->{title}, labels($options), bins => \@bins, elements => \@elements};
}

sub make_heatmap {
  my ($type, $data, $options) = @_;
  my $is_matrix = ref $data eq 'ARRAY' && (!@$data || ref $data->[0] eq 'ARRAY');
  my $table = $is_matrix ? undef : Dormouse::Tables::of($data);
  my @rows = $is_matrix ? @$data : @{$table->{rows}};
  my $width = most(map { scalar @$_ } @rows) // 0;
  my $names = sub { my ($given, $count) = @_; my @names = map { text(place($_)) } @{$given // [0 .. $count - 1]}; splice @names, 0, $count };
  my @columns = $names->($options->{x_labels} // ($table && $table->{names}), $width);
  my @lines = $names->($options->{y_labels}, scalar @rows);
  fail(@rows . " rows of $width need as many labels") if @columns < $width || @lines < @rows;
  my @elements;
  for my $i (0 .. $#rows) {
    push @elements, map { {x => $columns[$_], y => $lines[$i], value => number($rows[$i][$_])} } 0 .. $#columns;
  }
  return {
    type => $type, title => $options->{title}, labels($options), x_tick_labels => \@columns, y_tick_labels => \@lines,
    elements => \@elements,
  };
}

# What stands for the picture where there is only text.
sub summary {
  my ($chart) = @_;
  my $kind = $chart->{type} =~ s/_and_whisker//r;
  my @elements = @{$chart->{elements}};
  my $title = "$kind chart" . (length($chart->{title} // '') ? qq{ "$chart->{title}"} : '') . ': ';
  return $title . join '; ', map { summary($_) } @elements if $kind eq 'superchart';
  return $title . @{$chart->{y_tick_labels}} . ' rows of ' . @{$chart->{x_tick_labels}} if $kind eq 'heatmap';
  my $name = sub { length $_[0]{label} ? $_[0]{label} : 'one series' };
  if ($kind eq 'line' || $kind eq 'scatter') {
    return $title . join ', ', map { $name->($_) . ' (' . @{$_->{points}} . ' points)' } @elements;
  }
  my @shown = map {
    $kind eq 'bar' ? $_->{label} . (length $_->{group} ? " $_->{group}" : '') . ' ' . text($_->{value})
        : $kind eq 'pie' ? "$_->{label} " . Dormouse::Svg::px($_->{angle} / 3.6) . '%'
        : $name->($_) . ' median ' . Dormouse::Scales::number_text($_->{median})
  } @elements;
  splice @shown, 20, @shown, @shown - 20 . ' more' if @shown > 20;
  return $title . join ', ', @shown;
}

1;
