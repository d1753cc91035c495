# SPDX-License-Identifier: Apache-2.0
# Built-in functions that cannot be what they are elsewhere: exit ends the run and not the interpreter, caller does not
# see the driver, and there are no processes.
package Dormouse::Builtins;
use strict;
use warnings;

our $seeded = 0;  # whether user code chose the seed of rand

sub leave {
  my ($code) = @_;
  $Dormouse::exit_code = $code & 0xFF;
  no warnings 'exiting';
  last DORMOUSE_CELL;
}

# Where the interpreter calls back (sort, tie, DESTROY) the block that is to be left cannot be seen from, and `last`
# dies with a message of its own; the exit code then counts when that has reached the driver.
sub new_exit (;$) {
  my $code = @_ ? $_[0] : 0;
  no warnings 'numeric';
  leave(int($code // 0));
}

# The frame that evaluates cells is the end of the list.
sub new_caller (;$) {
  my $level = @_ ? int($_[0] // 0) : 0;
  my $wants_all = @_;
  my @frame;
  {
    package DB;
    @frame = CORE::caller($level + 1);
  }
  @frame = () if @frame && $frame[0] eq 'Dormouse::Cell';
  return wantarray ? () : undef if !@frame;
  return $frame[0] if !wantarray;
  return $wants_all ? @frame : @frame[0 .. 2];
}

sub new_srand (;$) {
  $seeded = @_ ? 1 : 0;
  return @_ ? CORE::srand($_[0]) : CORE::srand();
}

sub refuse {
  my ($what, $lack) = @_;
  my (undef, $file, $line) = CORE::caller(1);
  die "$what is not possible: there are no ", $lack // 'processes', " here at $file line $line.\n";
}

BEGIN {
  no strict 'refs';
  *CORE::GLOBAL::exit = \&new_exit;
  *CORE::GLOBAL::caller = \&new_caller;
  *CORE::GLOBAL::srand = \&new_srand;
  for my $name (qw(fork wait)) {
    *{"CORE::GLOBAL::$name"} = sub () { refuse($name) };
  }
  *CORE::GLOBAL::system = sub { refuse('system') };
  *CORE::GLOBAL::exec = sub { refuse('exec') };
  *CORE::GLOBAL::readpipe = sub { refuse('running a command in backticks') };
  *CORE::GLOBAL::waitpid = sub ($$) { refuse('waitpid') };
  *CORE::GLOBAL::kill = sub { refuse('kill') };
  *CORE::GLOBAL::alarm = sub (;$) { refuse('alarm', 'signals') };
}

1;
