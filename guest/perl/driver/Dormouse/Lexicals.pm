# SPDX-License-Identifier: Apache-2.0
# Keeps what a cell declares with `my` and `our` at its outermost level, and its pragmas, for the cells after it.
#
# A cell is evaluated inside a sub that binds the lexicals of earlier cells to their variables (reference aliasing), so
# that everything compiled in the cell - named subs as well - captures those very variables. What the cell declares is
# read from its pad, by the host's function `pad`, in a UNITCHECK block: after the compilation and before the run, so
# that it is known also when the run dies. Its pragmas are read when its outermost scope ends, which destroys the
# object that was put into %^H. Nothing can be appended to a cell: its last statement would no longer be the last.
package Dormouse::Lexicals;
use strict;
use warnings;
use feature 'evalbytes';

our $source;     # the cell to be evaluated, bytes
our %variables;  # name with sigil, characters -> reference

my %packages;  # name with sigil -> the package of an `our` variable
our $pragmas;  # {hints, warnings, hash}: in force after the last cell
our $bare;     # those of the sub that binds variables; cells may have emptied @INC
my $ending;    # the same of a cell that is being compiled
my $binder;    # the sub that evaluates $source with everything bound; undef when that has changed
my ($warnings, $chosen);  # at the outermost level of that, and whether it changed them itself
my $outermost = 0;  # address of %^H of the outermost scope of what is being compiled

use constant {
  HINT_LOCALIZE_HH => 0x00020000, HINT_UTF8 => 0x00800000, HINT_NEW_CONSTANTS => 0x0001F000,
  HINT_FEATURES => 0x3C000000, HINT_FIRST_FEATURE => 0x04000000, BUNDLE_535 => 6, BUNDLE_CUSTOM => 15,
};

# What a first cell begins with: what a program begins with, and the features that only add keywords, of those that no
# module defines as subs of its own (as modules do with `try`). Not `no strict` and `no warnings`: these would count as
# the cell's own wish, against which `use v5.36` and `$^W` change nothing.
sub default_pragmas {
  return pragmas_after('BEGIN { $^H = 0x100; ${^WARNING_BITS} = undef } use feature qw(say state fc current_sub isa evalbytes);');
}

sub pragmas_after {
  my ($text) = @_;
  my $set = {};
  CORE::evalbytes("$text BEGIN { \$set->{hints} = \$^H; \$set->{warnings} = \${^WARNING_BITS}; \$set->{hash} = {%^H} } 1") or die $@;
  return $set;
}

sub forget {
  (%variables, %packages) = ();
  $binder = undef;
  $pragmas = default_pragmas();
  $bare = pragmas_after('no strict; no warnings; use utf8; use feature "refaliasing";');
  return;
}

# The sub that runs a cell; it wants no arguments and leaves $@ as the cell did.
sub prepare_cell {
  my ($code, $filename) = @_;
  utf8::encode($code) if utf8::is_utf8($code);
  $code =~ s/\A\xEF\xBB\xBF//;
  open_data($1) if $code =~ /^__(?:DATA|END)__[ \t]*\r?\n(.*)\z/ms;
  $source = 'BEGIN { Dormouse::Lexicals::begin() } my $dormouse_; UNITCHECK { Dormouse::Lexicals::keep(sub {}) } '
      . "package main;\n#line 1 \"$filename\"\n$code";
  return $binder //= make_binder();
}

# What follows a cell's __DATA__; evaluated text has no such handle by itself.
sub open_data {
  my ($text) = @_;
  no warnings 'once';
  open *main::DATA, '<', \$text or die "DATA: $!";
  return;
}

sub make_binder {
  # Not an anonymous sub: of a variable that such a one holds, only the first sub in a cell would get hold.
  delete $Dormouse::Cell::{bound};
  my @lines = ('package Dormouse::Cell; BEGIN { Dormouse::Lexicals::apply($Dormouse::Lexicals::bare) }', 'sub bound {');
  for my $name (sort keys %variables) {
    push @lines, $name =~ /\A&(.*)/s
        ? "my sub $1; \\&$1 = \$Dormouse::Lexicals::variables{'$name'};"
        : "\\my $name = \$Dormouse::Lexicals::variables{'$name'};";
  }
  push @lines, map {"package $packages{$_}; our $_;"} sort keys %packages;
  push @lines, 'package Dormouse::Cell;', 'BEGIN { Dormouse::Lexicals::apply($Dormouse::Lexicals::pragmas) }',
      'CORE::evalbytes($Dormouse::Lexicals::source) } \\&bound';
  my $text = join "\n", @lines;
  utf8::encode($text);
  return CORE::evalbytes($text) // die "the variables cannot be bound: $@";
}

# ── called while code is compiled

sub apply {
  my ($set) = @_;
  $^H = $set->{hints} | HINT_LOCALIZE_HH;
  ${^WARNING_BITS} = $set->{warnings};
  %^H = %{$set->{hash}};
  return;
}

sub begin {
  $ending = undef;
  $^H |= HINT_LOCALIZE_HH | ($pragmas->{hints} & HINT_UTF8);  # evalbytes has dropped the latter
  $^H{dormouse} = bless [], 'Dormouse::Lexicals::ScopeEnd';
  $outermost = 0 + \%^H;
  note_warnings();
  $chosen = 0;
  return;
}

sub Dormouse::Lexicals::ScopeEnd::DESTROY {
  my (undef, undef, undef, undef, undef, undef, undef, undef, $hints, undef, $hash) = CORE::caller(0);
  $hash = {%{$hash // {}}};
  delete $hash->{dormouse};
  # Constants that a pragma makes objects of (bigint) call subs, and of those %^H only tells a text later.
  delete @{$hash}{qw(integer float binary q qr bigint bignum bigfloat bigrat)};
  $hints &= ~HINT_NEW_CONSTANTS;
  $ending = {hints => $hints, hash => $hash};
  return;
}

# Warnings have been put back by then: they are noted when they change.
sub note_warnings {
  ($warnings, $chosen) = (${^WARNING_BITS}, 1) if $outermost == 0 + \%^H;
  return;
}

# Whether these are the features of `use v5.36` or later, which turns all warnings on and tells nobody.
sub implies_warnings {
  my ($set) = @_;
  my $bundle = ($set->{hints} & HINT_FEATURES) / HINT_FIRST_FEATURE;
  return $bundle >= BUNDLE_535 if $bundle < BUNDLE_CUSTOM;
  return exists $set->{hash}{feature_signatures} && !exists $set->{hash}{feature_indirect};
}

sub watch_warnings {
  no strict 'refs';
  no warnings 'redefine';
  for my $name (qw(import unimport)) {
    my $original = \&{"warnings::$name"};
    *{"warnings::$name"} = sub {
      # Complaints about unknown categories name the caller, two frames up.
      local $Carp::CarpLevel = 1;
      &$original;
      note_warnings();
    };
  }
  return;
}

# After the compilation, before the run.
sub keep {
  my ($closure) = @_;
  $outermost = 0;
  my $pad = Dormouse::Host::pad($closure);
  while (my ($name, $stash, $reference) = splice @$pad, 0, 3) {
    utf8::decode($name);
    # Parameters without a name are in the pad as a mere sigil.
    next if $name eq '$dormouse_' || $name !~ /\A.\w/s;
    if ($stash) {
      my $package = package_at($stash) // next;
      delete $variables{$name};
      $packages{$name} = $package;
    } else {
      delete $packages{$name};
      $variables{$name} = $name =~ /\A&/ && ref $reference eq 'REF' ? $$reference : $reference;
    }
    $binder = undef;
  }
  if ($ending) {
    my $implied = !$chosen && implies_warnings($ending) && !implies_warnings($pragmas);
    $ending->{warnings} = $implied ? warnings::bits('all') : $warnings;
    $binder = undef if !same($ending, $pragmas);
    $pragmas = $ending;
    $ending = undef;
  }
  return;
}

sub same {
  my ($left, $right) = map {
    my $set = $_;
    join "\0", $set->{hints} & ~HINT_LOCALIZE_HH, $set->{warnings} // '?', map {"$_=" . ($set->{hash}{$_} // '')}
        sort keys %{$set->{hash}};
  } @_;
  return $left eq $right;
}

# The name of the package whose stash is at an address.
sub package_at {
  my ($address) = @_;
  my @todo = 'main::';
  my %seen;
  while (defined(my $name = shift @todo)) {
    no strict 'refs';
    my $stash = \%{$name};
    return $name =~ s/::\z//r =~ s/\Amain::(?=.)//r if 0 + $stash == $address;
    next if $seen{0 + $stash}++;
    push @todo, map {"$name$_"} grep {/::\z/ && $_ ne 'main::'} keys %$stash;
  }
  return;
}

# Dies unless the host reads pads as this interpreter writes them.
sub check_layout {
  my $check = sub {
    my ($code) = @_;
    CORE::evalbytes('my $dormouse_; UNITCHECK { $Dormouse::Lexicals::found = Dormouse::Host::pad(sub {}) } ' . $code);
    die "the pad of the interpreter cannot be read: $@" if length $@;
    return join ' ', map {defined $_ ? ref($_) || $_ : 'undef'} @{$Dormouse::Lexicals::found};
  };
  my $main = 0 + \%main::;
  my $wanted = '$dormouse_ 0 SCALAR $x 0 SCALAR @y 0 ARRAY %z 0 HASH';
  my $found = $check->('my $x = 5; my @y; for my $inner (1) { my $deep; } my (%z); sub f_ { my $other }');
  die "the pad of the interpreter is not as expected: $found\n" if $found ne $wanted;
  $found = $check->('package main; { my $inner } our $q;');
  die "the pad of the interpreter is not as expected: $found\n" if $found ne "\$dormouse_ 0 SCALAR \$q $main undef";
  undef $Dormouse::Lexicals::found;
  undef &f_;
  return;
}

1;
