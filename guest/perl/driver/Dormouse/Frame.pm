# SPDX-License-Identifier: Apache-2.0
# The rectangle of a picture that values are drawn in. `parts` is the picture so far; Svg.pm has what goes into it.
package Dormouse::Frame;
use strict;
use warnings;
use Dormouse::Scales ();

sub new {
  my ($class, $parts, $chart, $width, $height) = @_;
  my $self = bless {
    parts => $parts, width => $width, height => $height, left => 16, right => $width - 16, top => 16, bottom => $height - 16,
  }, $class;
  if (length($chart->{title} // '')) {
    my $title = Dormouse::Svg::short($chart->{title}, 80);
    $self->text($width / 2, 24, $title, 'middle', ' font-size="15" font-weight="bold"');
    $self->{top} = 40;
  }
  return $self;
}

sub px { return Dormouse::Svg::px($_[0]) }

sub x {
  my ($self, $place) = @_;
  return $self->{left} + $place * ($self->{right} - $self->{left});
}

sub y {
  my ($self, $place) = @_;
  return $self->{bottom} - $place * ($self->{bottom} - $self->{top});
}

sub line {
  my ($self, $x1, $y1, $x2, $y2, $color) = @_;
  push @{$self->{parts}},
      sprintf '<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"/>', px($x1), px($y1), px($x2), px($y2), $color;
  return;
}

sub rect {
  my ($self, $x, $y, $width, $height, $fill, $more) = (@_, '');
  push @{$self->{parts}},
      sprintf '<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s/>', px($x), px($y), px($width), px($height), $fill, $more;
  return;
}

sub text {
  my ($self, $x, $y, $text, $anchor, $more) = @_;
  push @{$self->{parts}}, sprintf '<text x="%s" y="%s" text-anchor="%s"%s>%s</text>', px($x), px($y), $anchor // 'middle',
      $more // '', Dormouse::Svg::escape($text);
  return;
}

sub path {
  my ($self, $data, $attributes) = @_;
  push @{$self->{parts}}, qq{<path d="$data" $attributes/>};
  return;
}

# Names of series at the right; none for a single one without a name.
sub legend {
  my ($self, @names) = @_;
  return if !grep {length} @names;
  my @shown = map { Dormouse::Svg::short($_) } @names > 20 ? @names[0 .. 19] : @names;
  $self->{right} -= Dormouse::Scales::most(map {length} @shown) * Dormouse::Svg::CHARACTER() + 26;
  for my $i (0 .. $#shown) {
    $self->rect($self->{right} + 10, $self->{top} + 18 * $i, 11, 11, $Dormouse::Svg::colors[$i % 10]);
    $self->text($self->{right} + 26, $self->{top} + 18 * $i + 10, $shown[$i], 'start');
  }
  return;
}

# Makes room for the labels of both axes, and draws grid and labels.
sub axes {
  my ($self, $chart, $x, $y) = @_;
  my ($x_label, $y_label) = map { $_ // '' } @$chart{qw(x_label y_label)};
  my @ticks = @{$x->{ticks}};
  $self->{left} += $y->{width} + 8 + (length $y_label ? 18 : 0);
  my $slot = ($self->{right} - $self->{left}) / (@ticks || 1);
  my $slanted = $x->{width} + 6 > $slot;
  $self->{left} = Dormouse::Scales::most($self->{left}, $x->{width} * 0.82 - $slot / 2) if $slanted;
  $self->{bottom} -= ($slanted ? $x->{width} * 0.6 + 14 : 18) + (length $x_label ? 18 : 0);
  for my $tick (@{$y->{ticks}}) {
    my $at = $self->y($tick->[0]);
    $self->line($self->{left}, $at, $self->{right}, $at, '#e4e4e4');
    $self->text($self->{left} - 6, $at + 4, $tick->[1], 'end');
  }
  my $every = $slanted ? Dormouse::Scales::most(1, Dormouse::Scales::ceil(12 / $slot)) : 1;
  for (my $i = 0; $i < @ticks; $i += $every) { $self->x_tick(@{$ticks[$i]}, $slanted) }
  $self->line($self->{left}, $self->{bottom}, $self->{right}, $self->{bottom}, '#888');
  if (length $x_label) {
    $self->text(($self->{left} + $self->{right}) / 2, $self->{height} - 10, Dormouse::Svg::short($x_label, 80));
  }
  return if !length $y_label;
  my $middle = ($self->{top} + $self->{bottom}) / 2;
  $self->text(16, $middle, Dormouse::Svg::short($y_label, 60), 'middle', sprintf ' transform="rotate(-90 16 %s)"', px($middle));
  return;
}

sub x_tick {
  my ($self, $place, $text, $slanted) = @_;
  my ($at, $below) = ($self->x($place), $self->{bottom} + 16);
  $self->line($at, $self->{bottom}, $at, $self->{bottom} + 4, '#888');
  if ($slanted) {
    $self->text($at + 4, $below, $text, 'end', sprintf ' transform="rotate(-35 %s %s)"', px($at + 4), px($below));
  } else {
    $self->text($at, $below, $text);
  }
  return;
}

1;
