# SPDX-License-Identifier: Apache-2.0
# The interpreter was linked without the C part of mro: the functions here are those that need none. Method resolution is
# depth first; C3 is not there.
package mro;
use strict;
use warnings;

our $VERSION = '1.29';

sub import {
  my ($class, $order) = @_;
  set_mro(scalar(caller), $order // 'dfs');
  return;
}

sub set_mro {
  my ($class, $order) = @_;
  die "mro: '$order' is not possible here, only dfs\n" if $order ne 'dfs';
  return;
}

sub get_mro { return 'dfs' }

sub get_linear_isa {
  my ($class) = @_;
  no strict 'refs';
  my (@found, %seen);
  my $visit;
  $visit = sub {
    my ($name, $depth) = @_;
    die "Recursive inheritance detected in package '$class'\n" if $depth > 100;
    return if $seen{$name}++;
    push @found, $name;
    $visit->($_, $depth + 1) for @{"${name}::ISA"};
  };
  $visit->($class, 0);
  undef $visit;
  return \@found;
}

sub is_universal { return $_[0] eq 'UNIVERSAL' }
sub invalidate_all_method_caches { return }
sub get_pkg_gen { return 0 }

1;
