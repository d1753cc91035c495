# SPDX-License-Identifier: Apache-2.0
# Hashes that describe charts in the words of Vega-Lite, Vega or Plotly: what they are, and the chart of those that need
# no more than their own data.
package Dormouse::Specifications;
use strict;
use warnings;
use Dormouse::Chart ();

my %marks = (
  line => 'line', area => 'line', point => 'scatter', circle => 'scatter', square => 'scatter', bar => 'bar', arc => 'pie',
  boxplot => 'box',
);

# The MIME type of a hash that describes a chart; undef of any other.
sub type {
  my ($value) = @_;
  my $schema = $value->{'$schema'};
  if (defined $schema && !ref $schema) {
    return 'application/vnd.vegalite.v5+json' if $schema =~ /vega-lite/;
    return $schema =~ m{/vega/} ? 'application/vnd.vega.v5+json' : undef;
  }
  return ref $value->{data} eq 'ARRAY' && ref $value->{layout} eq 'HASH' ? 'application/vnd.plotly.v1+json' : undef;
}

# The chart that such a hash describes; undef if that takes more than is known here.
sub of {
  my ($value) = @_;
  local $@;
  local $SIG{__WARN__} = sub { };
  return scalar eval { exists $value->{'$schema'} ? vega_lite($value) : plotly($value) };
}

# The chart of a hash as chart() makes them.
sub own {
  my ($value) = @_;
  my $chart = eval { my $made = Dormouse::Chart->new($value, {}); $made->svg; $made };
  return $chart // die "display: this does not describe a chart\n";
}

sub title { return ref $_[0] eq 'HASH' ? $_[0]{text} : $_[0] }

sub vega_lite {
  my ($spec) = @_;
  my $mark = ref $spec->{mark} ? $spec->{mark}{type} : $spec->{mark};
  my ($encoding, @records) = ($spec->{encoding}, @{$spec->{data}{values}});
  my ($x, $y, $color) = map { $encoding->{$_} // {} } qw(x y color);
  my %options = (title => title($spec->{title}));
  if ($mark eq 'arc') {
    return Dormouse::Chart::chart('pie', [map { [$_->{$color->{field}}, $_->{$encoding->{theta}{field}}] } @records], \%options);
  }
  @options{qw(x_label y_label)} = map { $_->{title} // $_->{field} } $x, $y;
  if ($mark eq 'bar' && $x->{bin}) {
    $options{bins} = $x->{bin}{maxbins} if ref $x->{bin} eq 'HASH';
    return Dormouse::Chart::chart('histogram', [map { $_->{$x->{field}} } @records], \%options);
  }
  return undef if $x->{aggregate} || $y->{aggregate} || !$marks{$mark};
  my %series;
  for my $record (@records) {
    my ($along, $value) = @$record{$x->{field}, $y->{field}};
    if ($mark eq 'boxplot') { push @{$series{$along}}, $value }
    else { push @{$series{defined $color->{field} ? $record->{$color->{field}} : ''}}, [$along, $value] }
  }
  if ($marks{$mark} =~ /line|scatter/) {
    $options{x_scale} = 'log' if ($x->{scale}{type} // '') eq 'log';
    $options{y_scale} = 'log' if ($y->{scale}{type} // '') eq 'log';
  }
  return Dormouse::Chart::chart($marks{$mark}, \%series, \%options);
}

sub plotly {
  my ($spec) = @_;
  my ($layout, @traces) = ($spec->{layout}, @{$spec->{data}});
  my %kinds = map { ($_->{type} // 'scatter') => 1 } @traces;
  return undef if keys %kinds != 1;
  my ($kind) = keys %kinds;
  my ($x, $y) = map { $layout->{$_} // {} } qw(xaxis yaxis);
  my ($first, %options) = ($traces[0], title => title($layout->{title}));
  if ($kind eq 'pie') {
    return Dormouse::Chart::chart('pie', [map { [$first->{labels}[$_], $first->{values}[$_]] } 0 .. $#{$first->{labels}}], \%options);
  }
  @options{qw(x_label y_label)} = map { title($_->{title}) } $x, $y;
  if ($kind eq 'heatmap') {
    return Dormouse::Chart::chart('heatmap', $first->{z}, {%options, x_labels => $first->{x}, y_labels => $first->{y}});
  }
  my %series;
  for my $i (0 .. $#traces) {
    my $trace = $traces[$i];
    my $name = $trace->{name} // (@traces > 1 ? "trace $i" : '');
    my $values = $kind eq 'histogram' ? $trace->{x} : $trace->{y};
    $values = [map { [$trace->{x} ? $trace->{x}[$_] : $_, $values->[$_]] } 0 .. $#$values] if $kind =~ /\A(?:scatter|bar)\z/;
    $series{$name} = $values;
  }
  return $kind =~ /\A(?:bar|box|histogram)\z/ ? Dormouse::Chart::chart($kind, \%series, \%options) : undef if $kind ne 'scatter';
  $options{x_scale} = 'log' if ($x->{type} // '') eq 'log';
  $options{y_scale} = 'log' if ($y->{type} // '') eq 'log';
  my $dots = !grep { ($_->{mode} // 'lines') =~ /lines/ } @traces;
  return Dormouse::Chart::chart($dots ? 'scatter' : 'line', \%series, \%options);
}

1;
