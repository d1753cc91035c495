# SPDX-License-Identifier: Apache-2.0
# Uncaught errors as the host's error events.
package Dormouse::Errors;
use strict;
use warnings;
use overload ();
use Scalar::Util ();

use constant {MAX_FRAMES => 60, MAX_ARGUMENT => 60, MAX_MESSAGE => 65536};

my @trace;  # lines of the last exception's way, noted when it was thrown

sub begin {
  @trace = ();
  return;
}

# $SIG{__DIE__} unless user code sets its own.
sub note_trace {
  @trace = ();
  for (my $level = 1; @trace < MAX_FRAMES; $level++) {
    my ($package, $file, $line, $sub, $has_args, undef, $text);
    my @arguments;
    {
      package DB;
      ($package, $file, $line, $sub, $has_args, undef, $text) = CORE::caller($level);
      @arguments = @DB::args if $has_args;
    }
    last if !defined $package || $package =~ /\ADormouse(?:::|\z)/;
    push @trace, '    ' . frame_name($sub, $text, $has_args, \@arguments) . " called at $file line $line";
  }
  return;
}

sub frame_name {
  my ($sub, $text, $has_args, $arguments) = @_;
  return defined $text ? 'require ' . $text : 'eval {...}' if $sub eq '(eval)';
  return $sub if !$has_args;
  my @shown = map { argument_text($_) } @$arguments > 8 ? @$arguments[0 .. 7] : @$arguments;
  push @shown, '...' if @$arguments > 8;
  return "$sub(" . join(', ', @shown) . ')';
}

sub argument_text {
  my ($value) = @_;
  return 'undef' if !defined $value;
  return (Scalar::Util::blessed($value) // '') . '=' . Scalar::Util::reftype($value) if ref $value;
  return $value if Scalar::Util::looks_like_number($value);
  $value = substr($value, 0, MAX_ARGUMENT) . '...' if length $value > MAX_ARGUMENT;
  $value =~ s/([\\'])/\\$1/g;
  return "'$value'";
}

# Bytes that are UTF-8 become characters.
sub characters {
  my ($text) = @_;
  utf8::decode($text) if !utf8::is_utf8($text);
  return $text;
}

sub describe {
  my ($error, $cell) = @_;
  my $name = 'Error';
  my $text = eval { "$error" } // '(an error that cannot be shown)';
  if (Scalar::Util::blessed($error)) {
    $name = ref $error;
    $text = object_text($error, $text);
  } elsif (ref $error) {
    $text = eval { Dormouse::Display::text($error) } // $text;
  }
  $text = substr($text, 0, MAX_MESSAGE) . '...' if length $text > MAX_MESSAGE;
  $text = characters($text);
  $text =~ s/\n+\z//;
  my $file = quotemeta $cell->{filename};
  my ($line) = $text =~ /\bat $file line (\d+)/;
  $line //= (map { / called at $file line (\d+)\z/ ? $1 : () } @trace)[0];
  $name = 'SyntaxError' if $name eq 'Error' && is_syntax_error($text);
  my $message = $text;
  # Where it was is in the traceback.
  $message =~ s/ at \S+ line \d+(?:, <[^>]+> (?:line|chunk) \d+)?\.?\z// if $message !~ /\n/;
  my %event = (name => $name, message => $message, traceback => [map { characters($_) } "$name: $text", @trace]);
  $event{lineNumber} = int $line if defined $line;
  return \%event;
}

# What an exception object says of itself.
sub object_text {
  my ($error, $text) = @_;
  return $text if overload::Method($error, '""');
  for my $method (qw(message msg as_string)) {
    next if !$error->can($method);
    my $said = eval { $error->$method };
    return "$said" if defined $said && length $said;
  }
  my $field = Scalar::Util::reftype($error) eq 'HASH' ? $error->{message} : undef;
  return defined $field && !ref $field ? $field : $text;
}

my $syntax_error = do {
  my @beginnings = (
    'syntax error at ', 'Execution of .* aborted due to compilation', 'Global symbol "', 'Missing right ',
    "Can't find string terminator", 'Unmatched right ', 'Bareword ".*" not allowed', 'Unrecognized character ',
    'Not enough arguments for ', 'Too many arguments for .* at .* near ', "Can't modify .* in ",
  );
  my $any = join '|', @beginnings;
  qr/^(?:$any)/m;
};

sub is_syntax_error {
  my ($text) = @_;
  return $text =~ $syntax_error;
}

1;
