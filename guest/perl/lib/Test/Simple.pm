# SPDX-License-Identifier: Apache-2.0
package Test::Simple;
use strict;
use warnings;
use Test::More ();

sub import {
  my ($class, @plan) = @_;
  Test::More::plan(@plan) if @plan;
  no strict 'refs';
  *{caller() . '::ok'} = \&Test::More::ok;
  return;
}

1;
