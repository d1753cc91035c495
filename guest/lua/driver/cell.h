// SPDX-License-Identifier: Apache-2.0
// What the compiler is to know of the cell that it compiles, if it compiles one: the variables that earlier cells have
// declared (../patches/0003-cell-variables.patch). Names lie in strings that their owner keeps.
#pragma once

struct DriverCell {
  int on;
  int count;
  const char* names[200];
  unsigned char kinds[200];
};
extern struct DriverCell driver_cell;
