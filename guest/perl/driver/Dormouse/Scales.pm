# SPDX-License-Identifier: Apache-2.0
# Numbers and times along the axis of a chart: which ticks it has, where a value lies, how it is written.
#
# Every language of Dormouse has this arithmetic, operation for operation, so that a chart is the same picture in all.
package Dormouse::Scales;
use strict;
use warnings;

use constant DAY_MS => 86_400_000;

my @steps_s = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800);
my @steps_months = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200);

sub floor {
  my ($value) = @_;
  my $whole = int $value;
  return $whole > $value ? $whole - 1 : $whole;
}

sub ceil { return -floor(-$_[0]) }

sub over { return floor($_[0] / $_[1]) }

sub least {
  my $least;
  for (@_) { $least = $_ if !defined $least || $_ < $least }
  return $least;
}

sub most {
  my $most;
  for (@_) { $most = $_ if !defined $most || $_ > $most }
  return $most;
}

# value * 10**power, rounded once.
sub scaled {
  my ($value, $power) = @_;
  return $power >= 0 ? $value * 10**$power : $value / 10**-$power;
}

sub log10 { return log($_[0]) / log(10) }

# The power of ten at or below a positive value.
sub magnitude {
  my ($value) = @_;
  my $power = floor(log10($value));
  --$power while scaled(1, $power) > $value;
  ++$power while scaled(1, $power + 1) <= $value;
  return $power;
}

# digits * 10**power as text, with up to six digits before the point.
sub decimal {
  my ($digits, $power) = @_;
  return '0' if $digits == 0;
  my $sign = $digits < 0 ? '-' : '';
  my $plain = sprintf '%.0f', abs $digits;
  my $text = $plain =~ s/0+\z//r;
  $power += length($plain) - length $text;
  my $point = length($text) + $power;
  if ($point > 6 || $point < -3) {
    my $rest = length $text > 1 ? '.' . substr $text, 1 : '';
    return $sign . substr($text, 0, 1) . $rest . 'e' . ($point - 1);
  }
  return $sign . $text . '0' x $power if $power >= 0;
  return $sign . ($point > 0 ? substr($text, 0, $point) . '.' . substr $text, $point : '0.' . '0' x -$point . $text);
}

# A number with four digits that count.
sub number_text {
  my ($value) = @_;
  my $size = abs $value;
  return '0' if $size < 1e-300;
  my $power = magnitude($size);
  my $digits = floor(scaled($size, 3 - $power) + 0.5);
  return decimal($value < 0 ? -$digits : $digits, $power - 3);
}

# Round numbers from at or below $low to at or above $high: [number, text], …
sub linear_ticks {
  my ($low, $high) = @_;
  if ($high - $low <= 1e-9 * most(abs $low, abs $high)) {
    my $pad = $low ? abs($low) / 2 : 1;
    ($low, $high) = ($low - $pad, $high + $pad);
  }
  my $raw = ($high - $low) / 5;
  my $power = magnitude($raw);
  my ($factor) = grep { scaled($_, $power) >= $raw * (1 - 1e-9) } 1, 2, 5, 10;
  my $step = scaled($factor, $power);
  return map { [scaled($factor * $_, $power), decimal($factor * $_, $power)] }
      floor($low / $step + 1e-9) .. ceil($high / $step - 1e-9);
}

# Powers of ten around the range of positive numbers.
sub log_ticks {
  my ($low, $high) = @_;
  my ($first, $last) = (magnitude($low), magnitude($high));
  ++$last if scaled(1, $last) < $high || $last == $first;
  my $step = over($last - $first + 7, 8);
  my @ticks;
  for (my $power = $first; $power < $last + $step; $power += $step) {
    push @ticks, [scaled(1, $power), decimal(1, $power)];
  }
  return @ticks;
}

# Days since 1970.
sub days_of {
  my ($year, $month, $day) = @_;
  --$year if $month <= 2;
  my $era = over($year, 400);
  my $of_era = $year - $era * 400;
  my $of_year = over(153 * ($month + ($month > 2 ? -3 : 9)) + 2, 5) + $day - 1;
  return $era * 146097 + $of_era * 365 + over($of_era, 4) - over($of_era, 100) + $of_year - 719468;
}

# Year, month and day of the days since 1970.
sub date_of {
  my ($days) = @_;
  $days += 719468;
  my $era = over($days, 146097);
  my $of_era = $days - $era * 146097;
  my $year = over($of_era - over($of_era, 1460) + over($of_era, 36524) - over($of_era, 146096), 365);
  my $of_year = $of_era - (365 * $year + over($year, 4) - over($year, 100));
  my $month = over(5 * $of_year + 2, 153);
  my $day = $of_year - over(153 * $month + 2, 5) + 1;
  $month += $month < 10 ? 3 : -9;
  return ($year + $era * 400 + ($month <= 2 ? 1 : 0), $month, $day);
}

# Milliseconds since 1970 of a date or time in ISO 8601; undef of any other text.
sub time_ms {
  my ($text) = @_;
  my @part = $text =~ /\A(\d{4})-(\d\d)-(\d\d)
      (?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?(?:Z|([+-])(\d\d):?(\d\d))?\z/xa or return undef;
  return undef if $part[1] < 1 || $part[1] > 12 || $part[2] < 1 || $part[2] > 31;
  my $offset = defined $part[7] ? ($part[8] * 60 + $part[9]) * ($part[7] eq '-' ? -1 : 1) : 0;
  my $seconds = ($part[3] // 0) * 3600 + (($part[4] // 0) - $offset) * 60 + ($part[5] // 0);
  return days_of(@part[0 .. 2]) * DAY_MS + $seconds * 1000 + substr(($part[6] // '') . '000', 0, 3);
}

sub date_text { return sprintf '%04d-%02d-%02d', date_of($_[0]) }

sub clock_text {
  my ($ms) = @_;
  my $seconds = over($ms - over($ms, DAY_MS) * DAY_MS, 1000);
  return sprintf '%02d:%02d:%02d', over($seconds, 3600), over($seconds, 60) % 60, $seconds % 60;
}

# The time in ISO 8601, to the second.
sub time_text {
  my ($ms) = @_;
  my $days = over($ms, DAY_MS);
  return $days * DAY_MS == $ms ? date_text($days) : date_text($days) . 'T' . clock_text($ms);
}

# Times between two in milliseconds, at steps that people count in: [ms, text], …
sub time_ticks {
  my ($low, $high) = @_;
  my ($seconds) = grep { $high - $low <= 6000 * $_ } @steps_s;
  return month_ticks($low, $high) if !$seconds;
  my ($step, @ticks) = ($seconds * 1000);
  for (my $ms = ceil($low / $step) * $step; $ms <= $high; $ms += $step) {
    my $text = $seconds < 86400 ? substr clock_text($ms), 0, $seconds < 60 ? 8 : 5 : date_text(over($ms, DAY_MS));
    push @ticks, [$ms, $text];
  }
  return @ticks;
}

sub month_ticks {
  my ($low, $high) = @_;
  my @first = date_of(over($low, DAY_MS));
  my @last = date_of(over($high, DAY_MS));
  my ($begin, $end) = ($first[0] * 12 + $first[1] - 1, $last[0] * 12 + $last[1] - 1);
  my ($step) = ((grep { $end - $begin <= 6 * $_ } @steps_months), $steps_months[-1]);
  my @ticks;
  for (my $month = ceil($begin / $step) * $step; $month <= $end; $month += $step) {
    my $year = over($month, 12);
    my $ms = days_of($year, $month - $year * 12 + 1, 1) * DAY_MS;
    next if $ms < $low;
    push @ticks, [$ms, $step >= 12 ? sprintf '%04d', $year : sprintf '%04d-%02d', $year, $month - $year * 12 + 1];
  }
  return @ticks;
}

1;
