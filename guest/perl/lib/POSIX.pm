# SPDX-License-Identifier: Apache-2.0
# The part of POSIX that can be had without its C part, which the interpreter was linked without.
package POSIX;
use strict;
use warnings;
no warnings 'experimental::builtin';
use Errno ();
use Exporter 'import';
use Fcntl ();
use Time::Local ();
use Time::Piece ();

our $VERSION = '2.23';

my %numbers = (
  CHAR_BIT => 8, SCHAR_MAX => 127, SCHAR_MIN => -128, UCHAR_MAX => 255, SHRT_MAX => 32767, SHRT_MIN => -32768,
  USHRT_MAX => 65535, INT_MAX => 2147483647, INT_MIN => -2147483648, UINT_MAX => 4294967295, LONG_MAX => 2147483647,
  LONG_MIN => -2147483648, ULONG_MAX => 4294967295, DBL_DIG => 15, DBL_EPSILON => 2**-52, DBL_MANT_DIG => 53,
  DBL_MAX => 1.7976931348623157e308, DBL_MIN => 2.2250738585072014e-308, DBL_MAX_EXP => 1024, DBL_MIN_EXP => -1021,
  FLT_DIG => 6, FLT_EPSILON => 2**-23, FLT_MAX => 3.40282346638528859812e38, FLT_MIN => 1.17549435082228750797e-38,
  FLT_RADIX => 2, EXIT_SUCCESS => 0, EXIT_FAILURE => 1, CLOCKS_PER_SEC => 1000000, PATH_MAX => 4096,
  LC_CTYPE => 0, LC_NUMERIC => 1, LC_TIME => 2, LC_COLLATE => 3, LC_MONETARY => 4, LC_MESSAGES => 5, LC_ALL => 6,
  WNOHANG => 1, WUNTRACED => 2, M_PI => 4 * atan2(1, 1), M_E => exp(1), M_SQRT2 => sqrt(2), M_LN2 => log(2),
  M_LN10 => log(10), SIGHUP => 1, SIGINT => 2, SIGQUIT => 3, SIGKILL => 9, SIGALRM => 14, SIGTERM => 15,
);
{
  no strict 'refs';
  for my $name (keys %numbers) {
    my $value = $numbers{$name};
    *{$name} = sub () { $value };
  }
  for my $name (qw(O_RDONLY O_WRONLY O_RDWR O_CREAT O_EXCL O_TRUNC O_APPEND O_NONBLOCK SEEK_SET SEEK_CUR SEEK_END)) {
    *{$name} = \&{"Fcntl::$name"};
  }
  for my $name (@Errno::EXPORT_OK) {
    *{$name} = \&{"Errno::$name"};
  }
}

sub floor { return builtin::floor($_[0]) }
sub ceil { return builtin::ceil($_[0]) }
sub trunc { return $_[0] < 0 ? builtin::ceil($_[0]) : builtin::floor($_[0]) }
sub round { return $_[0] < 0 ? -builtin::floor(0.5 - $_[0]) : builtin::floor($_[0] + 0.5) }
sub lround { return round($_[0]) }
sub rint { my $even = sprintf '%.0f', $_[0]; return $even + 0 }
sub fabs { return CORE::abs($_[0]) }
sub pow { return $_[0]**$_[1] }
sub fmod {
  my ($x, $y) = @_;
  return 'nan' + 0 if !$y || $x != $x || $y != $y || CORE::abs($x) == 9**9**9;
  return $x if CORE::abs($y) == 9**9**9;
  my ($rest, $by) = (CORE::abs($x), CORE::abs($y));
  while ($rest >= $by) {
    my $part = $by;
    $part *= 2 while $part <= $rest / 2;
    $rest -= $part;
  }
  return $x < 0 ? -$rest : $rest;
}
sub fmin { return $_[0] < $_[1] || $_[1] != $_[1] ? $_[0] : $_[1] }
sub fmax { return $_[0] > $_[1] || $_[1] != $_[1] ? $_[0] : $_[1] }
sub modf { my $whole = trunc($_[0]); return ($_[0] - $whole, $whole) }
sub ldexp { return $_[0] * 2**$_[1] }
sub frexp {
  my ($x) = @_;
  return (0, 0) if !$x;
  my $exponent = builtin::floor(CORE::log(CORE::abs $x) / CORE::log(2)) + 1;
  my $mantissa = $x / 2**$exponent;
  ($mantissa, $exponent) = ($mantissa / 2, $exponent + 1) if CORE::abs($mantissa) >= 1;
  ($mantissa, $exponent) = ($mantissa * 2, $exponent - 1) if CORE::abs($mantissa) < 0.5;
  return ($mantissa, $exponent);
}
sub tan { return CORE::sin($_[0]) / CORE::cos($_[0]) }
sub asin { return atan2($_[0], CORE::sqrt(1 - $_[0]**2)) }
sub acos { return atan2(CORE::sqrt(1 - $_[0]**2), $_[0]) }
sub atan { return atan2($_[0], 1) }
sub sinh { return (CORE::exp($_[0]) - CORE::exp(-$_[0])) / 2 }
sub cosh { return (CORE::exp($_[0]) + CORE::exp(-$_[0])) / 2 }
sub tanh { return $_[0] > 20 ? 1 : $_[0] < -20 ? -1 : sinh($_[0]) / cosh($_[0]) }
sub log10 { return CORE::log($_[0]) / CORE::log(10) }
sub log2 { return CORE::log($_[0]) / CORE::log(2) }
sub cbrt { return $_[0] < 0 ? -((-$_[0])**(1 / 3)) : $_[0]**(1 / 3) }
sub isnan { return $_[0] != $_[0] ? 1 : 0 }
sub isinf { return CORE::abs($_[0]) == 9**9**9 ? 1 : 0 }
sub isfinite { return isnan($_[0]) || isinf($_[0]) ? 0 : 1 }
sub signbit { return $_[0] < 0 || sprintf('%g', $_[0]) eq '-0' ? 1 : 0 }

sub toupper { return uc $_[0] }
sub tolower { return lc $_[0] }
sub strtol {
  my ($text, $base) = @_;
  $base //= 10;
  my ($sign, $digits, $rest) = $text =~ /\A\s*([-+]?)(\w*)(.*)\z/s;
  $base = $digits =~ /\A0x/i ? 16 : $digits =~ /\A0/ ? 8 : 10 if $base == 0;
  $digits =~ s/\A0x//i if $base == 16;
  my $value = 0;
  my $used = 0;
  for my $digit (split //, lc $digits) {
    my $number = $digit =~ /\d/ ? $digit : $digit =~ /[a-z]/ ? ord($digit) - 87 : 99;
    last if $number >= $base;
    $value = $value * $base + $number;
    $used++;
  }
  my $left = length($digits) - $used + length $rest;
  $value = -$value if $sign eq '-';
  return wantarray ? ($value, $left) : $value;
}
sub strtod {
  my ($text) = @_;
  my ($number) = $text =~ /\A\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)/;
  my $left = length($text) - (defined $number ? $+[0] : 0);
  return wantarray ? (($number // 0) + 0, $left) : ($number // 0) + 0;
}
sub strstr { return index $_[0], $_[1] }

# Times are UTC.
sub mktime {
  my ($second, $minute, $hour, $day, $month, $year) = @_;
  $year += builtin::floor(($month // 0) / 12);
  $month = ($month // 0) % 12;
  return Time::Local::timegm_nocheck(0, 0, 0, 1, $month, $year + 1900)
      + (($day // 1) - 1) * 86400 + ($hour // 0) * 3600 + ($minute // 0) * 60 + ($second // 0);
}
sub strftime {
  my ($format, @fields) = @_;
  return Time::Piece::_strftime($format, mktime(@fields), 0);
}
sub asctime { return scalar(gmtime mktime(@_)) . "\n" }
sub ctime { return scalar(gmtime $_[0]) . "\n" }
sub difftime { return $_[0] - $_[1] }
sub clock { return int(1_000_000 * (times)[0]) }
sub tzname { return ('UTC', 'UTC') }
sub tzset { return }

sub getpid { return $$ }
sub getcwd { require Cwd; return Cwd::getcwd() }
sub isatty { return 0 }
sub errno { return $! + 0 }
sub strerror { local $! = $_[0]; return "$!" }
sub perror { print STDERR (@_ ? "$_[0]: " : ''), "$!\n"; return }
sub setlocale { return 'C' }
sub localeconv { return {decimal_point => '.'} }
sub uname { return ('Linux', 'dormouse', '0', '0', 'wasm32') }
sub _exit { Dormouse::Builtins::leave(int($_[0] // 0), 1) }
sub abort { die "abort\n" }

my %built_in = map { $_ => 1 } qw(abs atan2 cos exp log sin sqrt exit getc printf sprintf rename time gmtime localtime
    sleep chdir mkdir rmdir unlink utime getppid);
our @EXPORT = (grep({ defined &{"POSIX::$_"} && !/\A(?:import|_exit|round|trunc|rint|lround|fmin|fmax|cbrt|log2|isnan|isinf|isfinite|signbit|strtol|strtod|M_.*)\z/ }
        keys %POSIX::), keys %built_in);
our @EXPORT_OK = qw(_exit round trunc rint lround fmin fmax cbrt log2 isnan isinf isfinite signbit strtol strtod
    M_PI M_E M_SQRT2 M_LN2 M_LN10);
@EXPORT = grep { !$built_in{$_} } @EXPORT;
push @EXPORT_OK, keys %built_in;
our %EXPORT_TAGS = (
  limits_h => [grep {/_(?:MAX|MIN)\z|CHAR_BIT/ && !/\A(?:DBL|FLT)/} keys %numbers],
  float_h => [grep {/\A(?:DBL|FLT)/} keys %numbers],
  math_h => [qw(floor ceil fmod pow tan asin acos atan sinh cosh tanh log10 ldexp frexp modf fabs)],
  fcntl_h => [grep {/\A(?:O|SEEK)_/} keys %POSIX::],
  errno_h => [@Errno::EXPORT_OK], time_h => [qw(strftime mktime asctime ctime difftime clock tzname tzset)],
  sys_wait_h => [qw(WNOHANG WUNTRACED)], locale_h => [grep({/\ALC_/} keys %numbers), qw(setlocale localeconv)],
  stdlib_h => [qw(EXIT_SUCCESS EXIT_FAILURE strtol strtod abort)], signal_h => [grep {/\ASIG/} keys %numbers],
);
push @EXPORT_OK, map {@$_} values %EXPORT_TAGS;

# Built-in functions under their POSIX names.
sub abs { return CORE::abs($_[0]) }
sub cos { return CORE::cos($_[0]) }
sub exp { return CORE::exp($_[0]) }
sub log { return CORE::log($_[0]) }
sub sin { return CORE::sin($_[0]) }
sub sqrt { return CORE::sqrt($_[0]) }
sub time { return CORE::time() }

our $AUTOLOAD;
sub AUTOLOAD {
  my $name = $AUTOLOAD =~ s/.*:://r;
  return if $name eq 'DESTROY';
  my (undef, $file, $line) = caller;
  die "POSIX::$name is not available here at $file line $line.\n";
}

1;
