# SPDX-License-Identifier: Apache-2.0
# Storable without its C part, which the interpreter was linked without: deep copies, and files and strings in a format
# of their own (Perl text), which nothing but this module reads.
package Storable;
use strict;
use warnings;
use Data::Dumper ();
use Exporter 'import';
use Scalar::Util qw(blessed refaddr reftype);

our $VERSION = '3.37';
our @EXPORT = qw(store retrieve);
our @EXPORT_OK = qw(nstore store_fd nstore_fd fd_retrieve freeze nfreeze thaw dclone lock_store lock_nstore lock_retrieve);
our ($Deparse, $Eval, $canonical);

use constant MAGIC => "dormouse-storable-1\n";

sub dclone {
  my ($value) = @_;
  return copy($value, {});
}

sub copy {
  my ($value, $seen) = @_;
  return $value if !ref $value;
  my $address = refaddr $value;
  return $seen->{$address} if exists $seen->{$address};
  my $type = reftype $value;
  my $copy;
  if ($type eq 'HASH') {
    $copy = $seen->{$address} = {};
    $copy->{$_} = copy($value->{$_}, $seen) for keys %$value;
  } elsif ($type eq 'ARRAY') {
    $copy = $seen->{$address} = [];
    push @$copy, copy($_, $seen) for @$value;
  } elsif ($type eq 'SCALAR' || $type eq 'REF' || $type eq 'LVALUE' || $type eq 'VSTRING') {
    my $target;
    $copy = $seen->{$address} = \$target;
    $target = copy($$value, $seen);
  } elsif ($type eq 'REGEXP') {
    return $value;
  } else {
    my (undef, $file, $line) = caller(1);
    die "Can't store $type items at $file line $line.\n";
  }
  bless $copy, blessed $value if defined blessed $value;
  return $copy;
}

sub freeze {
  my ($value) = @_;
  local $Data::Dumper::Indent = 0;
  local $Data::Dumper::Purity = 1;
  local $Data::Dumper::Useqq = 1;
  local $Data::Dumper::Sortkeys = 1;
  local $Data::Dumper::Terse = 0;
  dclone($value);  # refuses what cannot be stored
  return MAGIC . Data::Dumper->new([$value], ['frozen'])->Dump;
}

sub thaw {
  my ($text) = @_;
  my $magic = MAGIC;
  $text =~ s/\A\Q$magic\E// or die "Storable: this is not in the format of this module\n";
  my $frozen;
  eval "no strict; $text; 1" or die "Storable: $@";
  return $frozen;
}

sub store {
  my ($value, $path) = @_;
  open my $file, '>:raw', $path or die "can't create $path: $!\n";
  print $file freeze($value);
  close $file or die "can't write $path: $!\n";
  return 1;
}

sub retrieve {
  my ($path) = @_;
  open my $file, '<:raw', $path or die "can't open $path: $!\n";
  return fd_retrieve($file);
}

sub store_fd {
  my ($value, $file) = @_;
  return print {$file} freeze($value);
}

sub fd_retrieve {
  my ($file) = @_;
  local $/;
  return thaw(scalar <$file>);
}

BEGIN {
  no strict 'refs';
  *nfreeze = \&freeze;
  *nstore = *lock_store = *lock_nstore = \&store;
  *nstore_fd = \&store_fd;
  *lock_retrieve = \&retrieve;
}

1;
