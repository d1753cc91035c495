# SPDX-License-Identifier: Apache-2.0
# Built-in functions that cannot be what they are elsewhere: exit ends the run and not the interpreter, caller does not
# see the driver, there are no processes, and modes of files are the host's.
package Dormouse::Builtins;
use strict;
use warnings;
use Cwd ();
use Scalar::Util ();
use Symbol ();

our $seeded = 0;  # whether user code chose the seed of rand

# Called by POSIX::_exit as well, where `at_once` is true: then no END block runs.
sub leave {
  my ($code, $at_once) = @_;
  $Dormouse::at_once = $at_once;
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

sub new_times () {
  my $seconds = Dormouse::Host::cpu_time();
  return wantarray ? ($seconds, 0, 0, 0) : $seconds;
}

# The C library keeps the current directory as the text that led there, `/workspace/a/b/..`, which leads nowhere once `b` is gone;
# its place is where that is in truth.
sub new_chdir (;$) {
  no warnings 'uninitialized';
  if (@_ && $_[0] eq '') {
    $! = 44;  # no such file
    return !1;
  }
  my $done = @_ ? CORE::chdir($_[0]) : CORE::chdir();
  return $done if !$done;
  local $!;
  my $place = Cwd::realpath(Cwd::getcwd());
  CORE::chdir($place) if defined $place;
  return $done;
}

# The first three take their own number again when they are opened anew, which the interpreter does by a call that does not
# go with duplicates here; what is closed before is given the lowest number, which is that.
sub is_standard {
  my ($handle) = @_;
  return defined $handle && (fileno $handle // 3) < 3;
}

# Duplicates of descriptors, which the interpreter was linked without; installed for cells that seem to ask for one.
sub new_open (*;$*@) {
  my $package = CORE::caller();
  my $target = $_[0];
  $target = Symbol::qualify_to_ref($target, $package) if defined $target && !ref $target && ref \$target ne 'GLOB';
  if (@_ > 1 && defined $_[1] && $_[1] =~ /\A\s*(\+?(?:<|>>?))&(?!=)\s*(.*?)\s*\z/s) {
    my ($mode, $source) = ($1, @_ > 2 ? $_[2] : $2);
    my $is_name = !ref $source && ref \$source ne 'GLOB' && $source !~ /\A\d+\z/;
    $source = Symbol::qualify_to_ref($source, $package) if $is_name;
    my $file = ref $source || ref \$source eq 'GLOB' ? fileno $source : $source;
    my $copy = defined $file ? Dormouse::Host::dup($file) : -8;
    if ($copy < 0) {
      $! = -$copy;
      return;
    }
    $source->flush if ref $source;
    my $holder;
    if (is_standard($target)) {
      CORE::open($holder, "$mode&=", $copy) or return;
      CORE::close($target);
      $copy = Dormouse::Host::dup($copy);
    }
    return defined $target ? CORE::open($target, "$mode&=", $copy) : CORE::open($_[0], "$mode&=", $copy);
  }
  CORE::close($target) if @_ > 1 && is_standard($target);
  return defined $target ? CORE::open($target, $_[1], @_[2 .. $#_]) : CORE::open($_[0], $_[1], @_[2 .. $#_]) if @_ > 2;
  return defined $target ? CORE::open($target, $_[1]) : CORE::open($_[0], $_[1]) if @_ > 1;
  return CORE::open($target);
}

# Whether what chmod and chown were given is a handle.
sub is_handle {
  my ($file) = @_;
  return ref \$file eq 'GLOB' || ref $file && defined Scalar::Util::reftype($file)
      && Scalar::Util::reftype($file) =~ /\A(?:GLOB|IO)\z/;
}

sub new_chmod (@) {
  my ($mode, @files) = @_;
  my $done = 0;
  for my $file (@files) {
    my $is_path = !is_handle($file);
    my $error = Dormouse::Host::chmod($is_path ? "$file" : fileno($file) // -1, int($mode // 0), $is_path ? 1 : 0);
    if ($error) { $! = $error } else { ++$done }
  }
  return $done;
}

# There is one user: files that are there are theirs.
sub new_chown (@) {
  my (undef, undef, @files) = @_;
  return scalar grep { is_handle($_) ? defined fileno $_ : -e $_ } @files;
}

# Called before a cell is compiled.
sub prepare_open {
  my ($code) = @_;
  if ($code =~ /\bopen\b[^;]*['"]\s*\+?[<>]{1,2}&/) {
    # By its name: the glob that was there when this was compiled may have been deleted since.
    no strict 'refs';
    *{'CORE::GLOBAL::open'} = \&new_open;
  } elsif (defined &CORE::GLOBAL::open) {
    delete $CORE::GLOBAL::{open};
  }
  return;
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
  *CORE::GLOBAL::kill = sub { refuse('kill', 'signals') };
  *CORE::GLOBAL::times = \&new_times;
  *CORE::GLOBAL::chdir = \&new_chdir;
  *CORE::GLOBAL::chmod = \&new_chmod;
  *CORE::GLOBAL::chown = \&new_chown;
  # Nobody else could hold a lock.
  *CORE::GLOBAL::flock = sub (*$) { return 1 };
  *CORE::GLOBAL::alarm = sub (;$) { refuse('alarm', 'signals') };
}

1;
