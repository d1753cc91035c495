# SPDX-License-Identifier: Apache-2.0
# JSON for requests and events: strings are characters.
package Dormouse::JSON;
use strict;
use warnings;
use feature 'isa';
no warnings qw(surrogate nonchar non_unicode experimental::builtin);

use constant {TRUE => \1, FALSE => \0};

my %escapes = ('"' => '\\"', '\\' => '\\\\', "\n" => '\\n', "\r" => '\\r', "\t" => '\\t');

# What UTF-8 cannot say becomes U+FFFD.
sub encode_string {
  my ($text) = @_;
  utf8::upgrade($text);
  $text =~ s/[^\x{0}-\x{D7FF}\x{E000}-\x{10FFFF}]/\x{FFFD}/g;
  $text =~ s/(["\\\x00-\x1f\x7f])/$escapes{$1} \/\/ sprintf '\\u%04x', ord $1/ge;
  return "\"$text\"";
}

sub encode_number {
  my ($number) = @_;
  return 'null' if $number != $number || $number == 9**9**9 || $number == -9**9**9;
  my $text = "$number";
  return $text == $number ? $text : sprintf '%.17g', $number;
}

# References to scalars are booleans; whatever is no plain value or container, a string.
sub encode {
  my ($value) = @_;
  return 'null' if !defined $value;
  if (!ref $value) {
    return $value ? 'true' : 'false' if builtin::is_bool($value);
    return builtin::created_as_number($value) ? encode_number($value) : encode_string($value);
  }
  return '[' . join(',', map { encode($_) } @$value) . ']' if ref $value eq 'ARRAY';
  if (ref $value eq 'HASH') {
    return '{' . join(',', map { encode_string($_) . ':' . encode($value->{$_}) } sort keys %$value) . '}';
  }
  return $$value ? 'true' : 'false' if ref $value eq 'SCALAR';
  return encode_string("$value");
}

# Decodes what the host sends, which is valid JSON.
sub decode {
  my ($text) = @_;
  pos($text) = 0;
  return parse_value(\$text);
}

my %unescaped = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");

# A string whose opening quote is just before pos.
sub parse_string {
  my ($text) = @_;
  my $start = pos $$text;
  my $end = $start;
  while (1) {
    $end = index $$text, '"', $end;
    die "JSON: a string without end\n" if $end < 0;
    my $slashes = 0;
    ++$slashes while substr($$text, $end - 1 - $slashes, 1) eq '\\' && $end - $slashes > $start;
    last if $slashes % 2 == 0;
    ++$end;
  }
  my $string = substr $$text, $start, $end - $start;
  pos($$text) = $end + 1;
  if (index($string, '\\') >= 0) {
    $string =~ s{\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)}
                {defined $1 ? chr(0x10000 + ((hex($1) - 0xD800) << 10) + hex($2) - 0xDC00)
                 : defined $3 ? chr hex $3 : $unescaped{$4} // $4}gse;
  }
  return $string;
}

sub parse_value {
  my ($text) = @_;
  return parse_string($text) if $$text =~ /\G\s*"/gc;
  return parse_object($text) if $$text =~ /\G\s*\{/gc;
  return parse_array($text) if $$text =~ /\G\s*\[/gc;
  return $1 + 0 if $$text =~ /\G\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)/gc;
  return $1 eq 'true' ? 1 : $1 eq 'false' ? 0 : undef if $$text =~ /\G\s*(true|false|null)/gc;
  die "JSON: unexpected text\n";
}

sub parse_object {
  my ($text) = @_;
  my %object;
  return \%object if $$text =~ /\G\s*\}/gc;
  while (1) {
    $$text =~ /\G\s*"/gc or die "JSON: a name is missing\n";
    my $name = parse_string($text);
    $$text =~ /\G\s*:/gc or die "JSON: a colon is missing\n";
    $object{$name} = parse_value($text);
    return \%object if $$text =~ /\G\s*\}/gc;
    $$text =~ /\G\s*,/gc or die "JSON: a comma is missing\n";
  }
}

sub parse_array {
  my ($text) = @_;
  my @array;
  return \@array if $$text =~ /\G\s*\]/gc;
  while (1) {
    push @array, parse_value($text);
    return \@array if $$text =~ /\G\s*\]/gc;
    $$text =~ /\G\s*,/gc or die "JSON: a comma is missing\n";
  }
}

1;
