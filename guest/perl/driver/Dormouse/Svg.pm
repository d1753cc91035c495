# SPDX-License-Identifier: Apache-2.0
# Draws the dictionary of a chart (Chart.pm) as an SVG picture: text, lines and areas, nothing that runs.
#
# Every language of Dormouse draws the same picture, byte for byte; tests/charts holds them to it.
package Dormouse::Svg;
use strict;
use warnings;
use utf8;
no warnings qw(surrogate nonchar non_unicode);
use Dormouse::Frame ();
use Dormouse::Scales ();

our @colors = map {"#$_"} qw(4269d0 efb118 ff725c 6cc5b0 3ca951 ff8ab7 a463f2 97bbf5 9c6b4e 9498a0);
use constant {CHARACTER => 6.2, PI => 4 * atan2(1, 1)};
my @ramp = ([239, 246, 253], [66, 146, 198], [8, 48, 107]);
my %draw = (
  line => \&points, scatter => \&points, bar => \&bars, box_and_whisker => \&boxes, pie => \&pie, heatmap => \&heatmap,
);

*least = \&Dormouse::Scales::least;
*most = \&Dormouse::Scales::most;
*floor = \&Dormouse::Scales::floor;

# The SVG text of a chart's dictionary.
sub draw {
  my ($chart, $width, $height, $columns) = @_;
  my @parts = (
    qq{<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="$height" viewBox="0 0 $width $height" }
        . 'font-family="sans-serif" font-size="11" fill="#333">',
    qq{<rect x="0" y="0" width="$width" height="$height" fill="#fff"/>},
  );
  draw_into(\@parts, $chart, $width, $height, $columns);
  return join '', @parts, '</svg>';
}

sub draw_into {
  my ($parts, $chart, $width, $height, $columns) = @_;
  my $frame = Dormouse::Frame->new($parts, $chart, $width, $height);
  my @elements = @{$chart->{elements}};
  if (my $draw = $draw{$chart->{type}}) {
    $draw->($frame, $chart) if @elements;
    return;
  }
  my $across = $width / $columns;
  my $down = ($height - $frame->{top} + 16) / most(1, Dormouse::Scales::ceil(@elements / $columns));
  for my $i (0 .. $#elements) {
    my $y = $frame->{top} - 16 + $down * floor($i / $columns);
    push @$parts, sprintf '<g transform="translate(%s %s)">', px($across * ($i % $columns)), px($y);
    draw_into($parts, $elements[$i], $across, $down, 1);
    push @$parts, '</g>';
  }
  return;
}

sub escape {
  my ($text) = @_;
  $text =~ s/[^\t\n\r\x20-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]/\x{fffd}/g;
  my %escapes = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');
  return $text =~ s/([&<>"])/$escapes{$1}/gr;
}

sub short {
  my ($text, $limit) = (@_, 24);
  return length $text <= $limit ? $text : substr($text, 0, $limit - 1) . '…';
}

# A length in pixels, to the tenth.
sub px {
  my $tenths = floor($_[0] * 10 + 0.5);
  my $whole = floor(abs($tenths) / 10);
  my $rest = abs($tenths) - $whole * 10;
  return ($tenths < 0 ? '-' : '') . $whole . ($rest ? ".$rest" : '');
}

# An axis places values between 0 and 1; its ticks are [place, text].
sub axis {
  my ($place, @ticks) = @_;
  return {place => $place, ticks => \@ticks, width => (most(map { length $_->[1] } @ticks) // 0) * CHARACTER};
}

sub linear {
  my ($low, $high) = @_;
  my @ticks = Dormouse::Scales::linear_ticks($low, $high);
  my $first = $ticks[0][0];
  my $span = $ticks[-1][0] - $first;
  my $place = sub { ($_[0] - $first) / $span };
  return axis($place, map { [$place->($_->[0]), $_->[1]] } @ticks);
}

# From $low to $high exactly, with the ticks in between.
sub inner {
  my ($low, $high) = @_;
  my $place = sub { ($_[0] - $low) / ($high - $low) };
  my @ticks = map { [$place->($_->[0]), $_->[1]] } Dormouse::Scales::linear_ticks($low, $high);
  return axis($place, grep { $_->[0] >= -1e-9 && $_->[0] <= 1 + 1e-9 } @ticks);
}

sub logarithmic {
  my ($low, $high) = @_;
  my @ticks = Dormouse::Scales::log_ticks($low, $high);
  my $first = Dormouse::Scales::log10($ticks[0][0]);
  my $span = Dormouse::Scales::log10($ticks[-1][0]) - $first;
  my $place = sub { (Dormouse::Scales::log10($_[0]) - $first) / $span };
  return axis($place, map { [$place->($_->[0]), $_->[1]] } @ticks);
}

sub times_axis {
  my ($low, $high) = @_;
  ($low, $high) = ($low - 1000, $high + 1000) if $low == $high;
  my $span = $high - $low;
  my @ticks = map { [($_->[0] - $low) / $span, $_->[1]] } Dormouse::Scales::time_ticks($low, $high);
  return axis(sub { (Dormouse::Scales::time_ms($_[0]) - $low) / $span }, @ticks);
}

sub bands {
  my (@names) = @_;
  my $count = most(scalar @names, 1);
  my (%place, @different);
  for my $i (0 .. $#names) {
    push @different, $names[$i] if !exists $place{$names[$i]};
    $place{$names[$i]} = ($i + 0.5) / $count;
  }
  return axis(sub { $place{$_[0]} }, map { [$place{$_}, short($_)] } @different);
}

sub axis_of {
  my ($scale, $values, $categories) = @_;
  return bands(@$categories) if $scale eq 'categorical';
  my @values = $scale eq 'datetime' ? map { Dormouse::Scales::time_ms($_) } @$values : @$values;
  my ($low, $high) = (least(@values), most(@values));
  return times_axis($low // 0, $high // 0) if $scale eq 'datetime';
  return $scale eq 'log' ? logarithmic($low // 1, $high // 10) : linear($low // 0, $high // 1);
}

# Each different item and its place among them, and the items in order.
sub numbered {
  my (%number, @different);
  for (@_) {
    next if exists $number{$_};
    $number{$_} = @different;
    push @different, $_;
  }
  return (\%number, @different);
}

# The points of each series, undef for those that have no place.
sub drawn {
  my ($chart) = @_;
  my @log = map { $chart->{$_} eq 'log' } qw(x_scale y_scale);
  my $has = sub { my ($point, $i) = @_; defined $point->[$i] && !($log[$i] && $point->[$i] <= 0) };
  return map { [map { $has->($_, 0) && $has->($_, 1) ? $_ : undef } @{$_->{points}}] } @{$chart->{elements}};
}

sub points {
  my ($frame, $chart) = @_;
  $frame->legend(map { $_->{label} } @{$chart->{elements}});
  my @series = drawn($chart);
  my @present = grep {defined} map {@$_} @series;
  my $x = axis_of($chart->{x_scale}, [map { $_->[0] } @present], $chart->{x_ticks});
  my $y = axis_of($chart->{y_scale}, [map { $_->[1] } @present], $chart->{y_ticks});
  $frame->axes($chart, $x, $y);
  for my $i (0 .. $#series) {
    my $color = $colors[$i % 10];
    my @places = map { $_ && px($frame->x($x->{place}->($_->[0]))) . ' ' . px($frame->y($y->{place}->($_->[1]))) } @{$series[$i]};
    if ($chart->{type} eq 'line') {
      my ($data, $pen_down) = ('', 0);
      for (@places) {
        $data .= ($pen_down ? 'L' : 'M') . $_ if defined;
        $pen_down = defined;
      }
      $frame->path($data, qq{fill="none" stroke="$color" stroke-width="2" stroke-linejoin="round"});
    }
    next if $chart->{type} eq 'line' && @places > 30;
    my $size = $chart->{type} eq 'scatter' ? 7 : 5;
    my $dots = join '', map {"M${_}h0"} grep {defined} @places;
    $frame->path($dots, qq{stroke="$color" stroke-width="$size" stroke-linecap="round"});
  }
  return;
}

sub bars {
  my ($frame, $chart) = @_;
  my ($elements, $bins) = @$chart{qw(elements bins)};
  my ($labels, @labels) = numbered(map { $_->{label} } @$elements);
  my ($groups, @groups) = numbered(map { $_->{group} } @$elements);
  $frame->legend(@groups);
  my @values = grep {defined} map { $_->{value} } @$elements;
  my $y = linear(least(0, @values), most(0, @values));
  my $x = $bins ? inner($bins->[0], $bins->[-1]) : bands(@labels);
  $frame->axes($chart, $x, $y);
  for my $element (@$elements) {
    my $value = $element->{value} // next;
    my $i = $labels->{$element->{label}};
    my ($low, $high);
    if ($bins) {
      ($low, $high) = ($frame->x($x->{place}->($bins->[$i])) + 0.5, $frame->x($x->{place}->($bins->[$i + 1])) - 0.5);
    } else {
      my $half = ($frame->{right} - $frame->{left}) / @labels * 0.4;
      my $middle = $frame->x($x->{place}->($element->{label}));
      ($low, $high) = ($middle - $half, $middle + $half);
    }
    my ($width, $group) = (($high - $low) / @groups, $groups->{$element->{group}});
    my $top = $frame->y($y->{place}->(most(0, $value)));
    $frame->rect($low + $width * $group, $top, $width, $frame->y($y->{place}->(least(0, $value))) - $top, $colors[$group % 10]);
  }
  return;
}

sub boxes {
  my ($frame, $chart) = @_;
  my @elements = @{$chart->{elements}};
  my @values = map { $_->{min}, $_->{max}, @{$_->{outliers}} } @elements;
  my $y = linear(least(@values), most(@values));
  $frame->axes($chart, bands(map { $_->{label} } @elements), $y);
  my $half = ($frame->{right} - $frame->{left}) / @elements * 0.3;
  for my $i (0 .. $#elements) {
    my $element = $elements[$i];
    my $color = $colors[$i % 10];
    my $middle = $frame->x(($i + 0.5) / @elements);
    my ($low, $first, $median, $third, $high) =
        map { $frame->y($y->{place}->($element->{$_})) } qw(min first_quartile median third_quartile max);
    $frame->line($middle, $low, $middle, $first, $color);
    $frame->line($middle, $third, $middle, $high, $color);
    $frame->line($middle - $half / 2, $_, $middle + $half / 2, $_, $color) for $low, $high;
    $frame->rect($middle - $half, $third, 2 * $half, $first - $third, $color, qq{ fill-opacity="0.4" stroke="$color"});
    $frame->line($middle - $half, $median, $middle + $half, $median, '#222');
    my $dots = join '', map { 'M' . px($middle) . ' ' . px($frame->y($y->{place}->($_))) . 'h0' } @{$element->{outliers}};
    $frame->path($dots, qq{stroke="$color" stroke-width="5" stroke-linecap="round"}) if length $dots;
  }
  return;
}

sub pie {
  my ($frame, $chart) = @_;
  my @elements = @{$chart->{elements}};
  $frame->legend(map { short($_->{label}, 16) . ' ' . px($_->{angle} / 3.6) . '%' } @elements);
  my ($middle, $center) = (($frame->{left} + $frame->{right}) / 2, ($frame->{top} + $frame->{bottom}) / 2);
  my $full = least($frame->{right} - $frame->{left}, $frame->{bottom} - $frame->{top}) / 2;
  my $start = -90;
  for my $i (0 .. $#elements) {
    my ($angle, $radius) = ($elements[$i]{angle}, $full * $elements[$i]{radius});
    my ($fill, $r) = (qq{fill="$colors[$i % 10]" stroke="#fff"}, px($radius));
    if ($angle >= 359.99) {
      push @{$frame->{parts}}, sprintf '<circle cx="%s" cy="%s" r="%s" %s/>', px($middle), px($center), $r, $fill;
    } elsif ($angle > 0) {
      my ($from, $to) =
          map { px($middle + $radius * cos($_ * PI / 180)) . ' ' . px($center + $radius * sin($_ * PI / 180)) } $start, $start + $angle;
      my $arc = "A$r $r 0 " . ($angle > 180 ? 1 : 0) . " 1 $to";
      $frame->path('M' . px($middle) . ' ' . px($center) . "L$from${arc}Z", $fill);
    }
    $start += $angle;
  }
  return;
}

# The colour for a place between 0 and 1.
sub shade {
  my ($place) = @_;
  my $half = $place < 0.5 ? 0 : 1;
  my $rest = $place * 2 - $half;
  my @rgb = map { floor($ramp[$half][$_] + ($ramp[$half + 1][$_] - $ramp[$half][$_]) * $rest + 0.5) } 0 .. 2;
  return 'rgb(' . join(',', @rgb) . ')';
}

sub heatmap {
  my ($frame, $chart) = @_;
  my @columns = @{$chart->{x_tick_labels}};
  my @rows = @{$chart->{y_tick_labels}};
  my @elements = @{$chart->{elements}};
  my @values = grep {defined} map { $_->{value} } @elements;
  my ($low, $high) = (least(@values) // 0, most(@values) // 1);
  my $span = $high - $low || 1;
  my @ends = map { Dormouse::Scales::number_text($_) } $low, $high;
  $frame->{right} -= most(map {length} @ends) * CHARACTER + 24;
  $frame->rect($frame->{right} + 8, $frame->{top} + 18 * $_, 12, 18, shade(1 - $_ / 5)) for 0 .. 5;
  $frame->text($frame->{right} + 24, $frame->{top} + 10, $ends[1], 'start');
  $frame->text($frame->{right} + 24, $frame->{top} + 106, $ends[0], 'start');
  $frame->axes($chart, bands(@columns), bands(reverse @rows));
  my $width = ($frame->{right} - $frame->{left}) / most(scalar @columns, 1);
  my $height = ($frame->{bottom} - $frame->{top}) / most(scalar @rows, 1);
  for my $i (0 .. $#elements) {
    my $value = $elements[$i]{value};
    my ($x, $y) = ($frame->{left} + $width * ($i % @columns), $frame->{top} + $height * floor($i / @columns));
    my $place = defined $value ? ($value - $low) / $span : undef;
    $frame->rect($x, $y, $width, $height, defined $place ? shade($place) : '#eee');
    next if !defined $place || $width < 34 || $height < 16;
    my $more = $place > 0.5 ? ' fill="#fff"' : '';
    $frame->text($x + $width / 2, $y + $height / 2 + 4, Dormouse::Scales::number_text($value), 'middle', $more);
  }
  return;
}

1;
