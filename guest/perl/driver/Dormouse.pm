# SPDX-License-Identifier: Apache-2.0
# The driver: what boot leaves in the image, and the run of a cell. The contract with the host is docs/engine-abi.md;
# ../adapter.c calls boot(), run() and reseed().
package Dormouse;
use strict;
use warnings;
use feature 'evalbytes';

# First: what is compiled after this sees the replaced built-ins.
use Dormouse::Builtins;
use Dormouse::Errors;
use Dormouse::JSON;
use Dormouse::Chart;
use Dormouse::Specifications;
use Dormouse::Display;
use Dormouse::Lexicals;
use Cwd ();
use IO::Handle ();
use Scalar::Util ();

our $request;   # JSON of the next run, as characters
our $exit_code; # set while a cell is being left by exit()
our $is_program; # set by a cell that runs a whole program: see src/service/perl_launcher.cc
our $at_once;   # whether END blocks are to be left out then

my ($result, $finished, $error);

sub boot {
  delete @ENV{qw(PERL_HASH_SEED PERL_PERTURB_KEYS)};
  $ENV{HOME} = '/workspace';
  $ENV{PATH} = '/usr/bin:/bin';
  $0 = 'perl';
  @ARGV = ();
  binmode STDIN;
  $_->autoflush(1) for *STDOUT{IO}, *STDERR{IO};
  $SIG{__DIE__} = \&Dormouse::Errors::note_trace;
  *main::display = \&Dormouse::Display::display;
  *main::chart = \&Dormouse::Chart::chart;
  push @INC, '/workspace/lib', '/workspace';
  Dormouse::Lexicals::check_layout();
  Dormouse::Lexicals::watch_warnings();
  Dormouse::Lexicals::forget();
  warm_up();
  return;
}

# Runs a few cells unheard, so that the memory that they need is in the image.
sub warm_up {
  local $Dormouse::Host::mute = 1;
  for my $code ('my $x = 1;', '$x + 1', 'my %h = (a => [1, 2.5, "b"]); \%h', 'sub f { die "no" } f()', '}') {
    $request = Dormouse::JSON::encode({code => $code, filename => 'cell-0'});
    run();
  }
  Dormouse::Lexicals::forget();
  undef &main::f;
  delete $main::{f};
  return;
}

# Fresh randomness, unless user code has chosen a seed.
sub reseed {
  CORE::srand() unless $Dormouse::Builtins::seeded;
  return;
}

sub run {
  my $cell = Dormouse::JSON::decode($request);
  $request = undef;
  my $restore = prepare($cell);
  return if !$restore;
  ($result, $finished, $error, $exit_code, $at_once) = (undef, 0, undef, undef, 0);
  Dormouse::Errors::begin();
  $0 = $cell->{filename};
  Dormouse::Builtins::prepare_open($cell->{code});
  execute(Dormouse::Lexicals::prepare_cell($cell->{code}, $cell->{filename}));
  run_end_blocks();
  report($cell);
  ($result, $error, $@) = (undef, undef, '');
  $restore->();
  return;
}

sub execute {
  my ($code) = @_;
  my $ended = attempt(sub { local $@ = ''; $result = [&$code()]; $finished = !(ref $@ || length $@); $error = $@ });
  $error = $@ if !$ended;
  # The block is a loop, too.
  $error //= qq{Can't "last" or "next" outside a loop block\n} if !$finished && !defined $exit_code;
  return;
}

# Runs user code; returns whether it came to its end, else $@ says why. A stop dies only while the host is armed, wherever that
# is. `exit` leaves the labelled block.
sub attempt {
  my ($code) = @_;
  my $ended = eval {
    DORMOUSE_CELL: {
      Dormouse::Host::arm(1);
      $code->();
      Dormouse::Host::arm(0);
    }
    Dormouse::Host::arm(0);
    1;
  };
  Dormouse::Host::arm(0);
  return $ended;
}

# Runs the END blocks of the cell and of the text that it evaluated, the last one first; those of modules wait for an end that
# only a program comes to. A cell that was stopped runs none. Whether the exit code counts is as with a program's: see README.md.
sub run_end_blocks {
  my ($blocks, @files) = @{Dormouse::Host::end_blocks()};
  my @places = grep {$is_program || $files[$_] !~ m{/}} 0 .. $#files;
  my @own = map {\$blocks->[$_]} @places;
  splice @$blocks, $_, 1 for reverse @places;
  my $exited = defined $exit_code;
  return if !@own || $at_once || !$finished && !$exited && !ref $error && $error =~ /\Ainterrupted/;
  local $? = $exit_code // ($finished ? 0 : 255);
  for my $block (@own) {
    $exit_code = undef;
    if (!attempt(sub { local $@ = ''; &$block() })) {
      ($error, $finished, $exited) = ($@, 0, 0) if $finished || $exited;
      last;
    }
    $? = $exit_code if defined $exit_code;
  }
  # Test runners exit with 0 from there: that is a normal end.
  $exit_code = $exited || $finished && $? != 0 ? $? & 0xFF : undef;
  return;
}

sub report {
  my ($cell) = @_;
  # The handles that user code has put in place of the standard ones; the host's function flushes the first ones.
  eval { $_->flush for grep { defined fileno $_ } *STDOUT{IO}, *STDERR{IO}; 1 } or $@ = '';
  if (defined $exit_code) {
    emit(3, {code => $exit_code});
  } elsif (!$finished) {
    emit(2, Dormouse::Errors::describe($error, $cell));
  } else {
    my @values = Dormouse::Display::shown($cell->{code}, $result);
    show($cell, @values) if @values;
  }
  Dormouse::Host::flush();
  return;
}

# The values' own methods may run here, and be stopped.
sub show {
  my ($cell, @values) = @_;
  my $bundle = eval {
    Dormouse::Host::arm(1);
    my $made = Dormouse::Display::bundle(@values);
    Dormouse::Host::arm(0);
    $made;
  };
  my $failure = $@;
  Dormouse::Host::arm(0);
  if (!$bundle && $failure =~ /\Ainterrupted/) {
    emit(2, Dormouse::Errors::describe($failure, $cell));
    return;
  }
  $bundle //= {'text/plain' => 'the result cannot be shown: ' . ($failure =~ s/ at .*//sr)};
  emit(1, {data => $bundle, metadata => Dormouse::Display::metadata(@values), isResult => Dormouse::JSON::TRUE()});
  return;
}

sub emit {
  my ($kind, $object) = @_;
  Dormouse::Host::emit($kind, Dormouse::JSON::encode($object)) if !$Dormouse::Host::mute;
  return;
}

# Sets up environment and directory. Returns what puts them back.
sub prepare {
  my ($cell) = @_;
  my $set = sub {
    my ($name, $value) = @_;
    utf8::encode($name);
    utf8::encode($value);
    $ENV{$name} = $value;
  };
  my $keep = $cell->{contextEnv} // {};
  $set->($_, $keep->{$_}) for keys %$keep;
  chdir_or_warn($cell->{contextCwd}) if length($cell->{contextCwd} // '');
  my ($once, $directory) = ($cell->{env} // {}, $cell->{cwd});
  my %before = map { $_ => $ENV{$_} } map { my $name = $_; utf8::encode($name); $name } keys %$once;
  $set->($_, $once->{$_}) for keys %$once;
  my $back;
  if (length($directory // '')) {
    $back = Cwd::getcwd();
    utf8::encode($directory);
    if (!chdir $directory) {
      emit(2, {name => 'Error', message => "cwd: cannot change to $directory: $!", traceback => []});
      return;
    }
  }
  return sub {
    for my $name (keys %before) {
      if (defined $before{$name}) { $ENV{$name} = $before{$name} } else { delete $ENV{$name} }
    }
    chdir $back if defined $back;
    # Input that nobody read is not for the next run, and what is in the handle's buffer was read already.
    if ((fileno(STDIN) // -1) == 0) {
      no warnings;
      1 while read STDIN, my $unread, 65536;
      STDIN->clearerr;  # it was the end for this run only
    }
    return;
  };
}

sub chdir_or_warn {
  my ($directory) = @_;
  utf8::encode($directory);
  chdir $directory or print STDERR "cannot change to $directory: $!\n";
  return;
}

package Dormouse::Host;

our $mute = 0;

1;
