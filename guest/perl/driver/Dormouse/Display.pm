# SPDX-License-Identifier: Apache-2.0
# Results and display(): values as MIME bundles.
package Dormouse::Display;
use strict;
use warnings;
no warnings qw(surrogate nonchar non_unicode experimental::builtin);
use Data::Dumper ();
use MIME::Base64 ();
use Scalar::Util ();

use constant {
  MAX_SHOWN => 20_000, MAX_TEXT => 1_048_576, MAX_JSON_VALUES => 5000, MAX_JSON_DEPTH => 32, MAX_JSON_TEXT => 262_144,
};

my %mime_types = (
  text => 'text/plain', plain => 'text/plain', html => 'text/html', markdown => 'text/markdown', svg => 'image/svg+xml',
  png => 'image/png', jpeg => 'image/jpeg', jpg => 'image/jpeg', gif => 'image/gif', webp => 'image/webp',
  pdf => 'application/pdf', json => 'application/json', latex => 'text/latex', md => 'text/markdown', javascript => 'application/javascript',
);

# The values of a cell that are worth showing; none for a run that only did something.
sub shown {
  my ($code, $values) = @_;
  return if !@$values || !grep {defined} @$values;
  $code =~ s/^__(?:END|DATA)__\b.*\z//ms;
  if (@$values == 1 && !ref $values->[0]) {
    my $value = $values->[0];
    # print answers true, an `if` or a loop at the end what its condition was.
    return if $value && builtin::is_bool($value) && ends_with_print($code);
    return if !$value && $code =~ /\}\s*\z/;
  }
  return @$values;
}

# Whether the last statement seems to begin with print or its like: no line after that word ends a statement.
sub ends_with_print {
  my ($code) = @_;
  $code =~ s/(<<~?["']?(\w+)["']?[^\n]*\n).*?^\s*\2$/$1/gms;
  return $code =~ /(?:\A|[;{}\n])\s*(?:print|say|printf|write|binmode|close)\b(?:(?!;[ \t]*(?:\#[^\n]*)?\n\s*\S).)*\z/s;
}

sub text {
  my (@values) = @_;
  local $Data::Dumper::Terse = 1;
  local $Data::Dumper::Indent = 1;
  local $Data::Dumper::Sortkeys = 1;
  local $Data::Dumper::Useqq = 0;
  local $Data::Dumper::Deparse = 0;
  local $Data::Dumper::Maxdepth = 0;
  local $SIG{__WARN__} = sub { };
  my $text = Data::Dumper::Dumper(@values);
  $text =~ s/\n\z//;
  return Dormouse::Errors::characters($text);
}

sub plain {
  my ($value) = @_;
  return 'undef' if !defined $value;
  return $value ? '1' : "''" if builtin::is_bool($value);
  return "$value";
}

# How a single value is shown.
sub one {
  my ($value) = @_;
  return plain($value) if !ref $value;
  if (Scalar::Util::blessed($value)) {
    return "$value" if ref $value eq 'Regexp' || overload::Method($value, '""');
  }
  return fits($value) ? text($value) : excerpt($value);
}

# Whether a value is small enough to be shown as a whole.
sub fits {
  my ($value) = @_;
  my @todo = $value;
  my ($count, %seen) = (0);
  while (@todo) {
    my $next = pop @todo;
    return 0 if ++$count > MAX_SHOWN;
    next if !ref $next || $seen{Scalar::Util::refaddr($next)}++;
    my $type = Scalar::Util::reftype($next);
    my $size = $type eq 'ARRAY' ? @$next : $type eq 'HASH' ? keys %$next : 0;
    return 0 if $count + @todo + $size > MAX_SHOWN;
    push @todo, $type eq 'ARRAY' ? @$next : $type eq 'HASH' ? values %$next : $type eq 'REF' ? $$next : ();
  }
  return 1;
}

# The beginning of a large array or hash, if its elements are small.
sub excerpt {
  my ($value) = @_;
  my $type = Scalar::Util::reftype($value);
  my $size = $type eq 'ARRAY' ? @$value : $type eq 'HASH' ? scalar keys %$value : 1;
  my $few = $size > 1000 ? 1000 : $size;
  my $part = $type eq 'ARRAY' ? [@$value[0 .. $few - 1]]
      : $type eq 'HASH' ? {map { $_ => $value->{$_} } (sort keys %$value)[0 .. $few - 1]} : undef;
  return "$value: too large to be shown" if !defined $part || $size == $few || !fits($part);
  return text($part) . "\n... " . ($size - $few) . " more";
}

# The beginning and the end of a text that is too long.
sub cut {
  my ($text) = @_;
  my ($size, $half) = (length $text, MAX_TEXT / 2);
  return $text if $size <= MAX_TEXT;
  return substr($text, 0, $half) . "\n... " . ($size - MAX_TEXT) . " characters left out ...\n" . substr $text, -$half;
}

# Several values are shown as the list that they are.
sub bundle {
  my (@values) = @_;
  my $many = @values > 1;
  return chart_bundle($values[0]) if !$many && is_chart($values[0]);
  my $text = $many ? list_text(@values) : one($values[0]);
  my %bundle = ('text/plain' => cut(Dormouse::Errors::characters($text)));
  my $value = $many ? \@values : $values[0];
  if (ref $value eq 'ARRAY' || ref $value eq 'HASH') {
    add_plain(\%bundle, $value);
  } elsif (Dormouse::Tables::is_frame($value)) {
    my $table = eval { Dormouse::Tables::of($value, Dormouse::Tables::FEW_CELLS()) };
    add_table(\%bundle, $table, 'records') if $table;
  }
  return \%bundle;
}

# Beside the text: JSON, and what an array of hashes or a hash that describes a chart is.
sub add_plain {
  my ($bundle, $value) = @_;
  my ($count, $size) = (0, 0);
  my $copy = eval { plain_copy($value, 0, \$count, \$size) };
  my $type = $copy && ref $value eq 'HASH' ? Dormouse::Specifications::type($copy) : undef;
  return add_chart($bundle, $type, $copy) if $type;
  $bundle->{'application/json'} = $copy if defined $copy;
  my $table = eval { Dormouse::Tables::find($value) };
  add_table($bundle, $table, 'records') if $table;
  return;
}

# A hash that describes a chart: as it is, and drawn if it is understood.
sub add_chart {
  my ($bundle, $type, $copy) = @_;
  my ($count, $size) = (0, 0);
  # Looking for members may make them.
  my $chart = Dormouse::Specifications::of(plain_copy($copy, 0, \$count, \$size));
  my $drawn = $chart ? chart_bundle($chart) : {};
  %$bundle = (%$drawn, %$bundle, $type => $copy);
  return;
}

sub add_table {
  my ($bundle, $table, $orient) = @_;
  $bundle->{'text/html'} = Dormouse::Tables::html($table);
  $bundle->{'application/vnd.dataresource+json'} = Dormouse::Tables::resource($table, $orient);
  return;
}

sub is_chart { return Scalar::Util::blessed($_[0]) && $_[0]->isa('Dormouse::Chart') }

sub chart_bundle {
  my ($chart) = @_;
  return {'text/plain' => "$chart", Dormouse::Chart::TYPE() => $chart->spec, 'image/svg+xml' => $chart->svg};
}

# What is said of the forms of values.
sub metadata {
  my ($value, @more) = @_;
  return {} if @more || !is_chart($value);
  return {'image/svg+xml' => {width => $value->width, height => $value->height}};
}

sub list_text {
  my (@values) = @_;
  my $more = @values > 10_000;
  my @shown = map { ref $_ ? one($_) : scalar_text($_) } $more ? @values[0 .. 9_999] : @values;
  push @shown, '... ' . (@values - 10_000) . ' more' if $more;
  my $line = '(' . join(', ', @shown) . ')';
  return $line if length $line <= 100 && $line !~ /\n/;
  return "(\n" . join(",\n", map { s/^/  /gmr } @shown) . "\n)";
}

sub scalar_text {
  my ($value) = @_;
  return plain($value) if !defined $value || builtin::is_bool($value) || builtin::created_as_number($value);
  $value =~ s/([\\'])/\\$1/g;
  return Dormouse::Errors::characters("'$value'");
}

# Dies where there is anything that JSON has no word for, or too much.
sub plain_copy {
  my ($value, $depth, $count, $size) = @_;
  die "too much\n" if ++$$count > MAX_JSON_VALUES || $depth > MAX_JSON_DEPTH;
  if (!ref $value) {
    return $value if !defined $value || builtin::is_bool($value) || builtin::created_as_number($value);
    $$size += length $value;
    die "too much\n" if $$size > MAX_JSON_TEXT;
    return Dormouse::Errors::characters($value);
  }
  my $elements = ref $value eq 'ARRAY' ? @$value : ref $value eq 'HASH' ? keys %$value : 0;
  die "too much\n" if $$count + $elements > MAX_JSON_VALUES;
  return [map { plain_copy($_, $depth + 1, $count, $size) } @$value] if ref $value eq 'ARRAY';
  die "no plain value\n" if ref $value ne 'HASH';
  return {map { Dormouse::Errors::characters($_) => plain_copy($value->{$_}, $depth + 1, $count, $size) } keys %$value};
}

# display($value, {format => 'html', metadata => {…}, display_id => $id, update => 1}): an output beside the result. Without
# a format it is shown as a result would be. With a display_id it may be shown anew: an update stands for what came before
# it under that id.
sub display {
  my ($value, $options) = @_;
  $options //= {};
  $options = {format => $options} if !ref $options;
  my $format = $options->{format};
  my $bundle = defined $format ? formatted($value, $format, $options->{orient} // 'records') : bundle($value);
  my %output = (
    data => $bundle, metadata => {%{metadata($value)}, %{$options->{metadata} // {}}}, isResult => Dormouse::JSON::FALSE(),
  );
  if (defined $options->{display_id}) {
    $output{displayId} = Dormouse::Errors::characters("$options->{display_id}");
    $output{update} = $options->{update} ? Dormouse::JSON::TRUE() : Dormouse::JSON::FALSE();
  }
  Dormouse::emit(1, \%output);
  return;
}

# The bundle of a value in one format; text stands beside what is no text to read.
sub formatted {
  my ($value, $format, $orient) = @_;
  if ($format eq 'data' || $format eq 'table') {
    die "display: orient is records or columns, not $orient\n" if $orient !~ /\A(?:records|columns)\z/;
    my $table = Dormouse::Tables::of($value);
    my $bundle = {'text/plain' => Dormouse::Tables::text($table)};
    add_table($bundle, $table, $orient);
    return $bundle;
  }
  return format_chart($value) if $format eq 'chart';
  my $type = $mime_types{$format} // $format;
  if ($type !~ m{\A[\w.+-]+/[\w.+-]+\z}) {
    die "display: '$format' is neither a MIME type nor a known format: " . join(', ', sort keys %mime_types) . ", data, chart\n";
  }
  return {$type => cut(Dormouse::Errors::characters(one($value)))} if $type eq 'text/plain';
  my $bundle = {$type => content($type, $value)};
  return $bundle if $type =~ m{\Atext/(?:markdown|latex)\z};
  my $unit = $type =~ m{\Atext/|\+xml\z|/javascript\z} ? 'characters' : 'bytes';
  my $size = length $bundle->{$type};
  if ($unit eq 'bytes') { use bytes; $size = length "$value" }
  $bundle->{'text/plain'} = $type eq 'application/json' ? bundle($value)->{'text/plain'} : "<$type, $size $unit>";
  return $bundle;
}

sub format_chart {
  my ($value) = @_;
  my $type = ref $value eq 'HASH' ? Dormouse::Specifications::type($value) : undef;
  return bundle($value) if $type || is_chart($value);
  die "display: no chart\n" if ref $value ne 'HASH';
  return chart_bundle(Dormouse::Specifications::own($value));
}

sub content {
  my ($type, $value) = @_;
  if ($type eq 'application/json') {
    my ($count, $size) = (-100_000, -12_000_000);
    return plain_copy($value, 0, \$count, \$size);
  }
  return Dormouse::Errors::characters("$value") if $type =~ m{\Atext/|\+xml\z|/javascript\z};
  my $bytes = "$value";
  utf8::encode($bytes) if utf8::is_utf8($bytes) && !utf8::downgrade($bytes, 1);
  return MIME::Base64::encode_base64($bytes, '');
}

1;
