// SPDX-License-Identifier: Apache-2.0
// What the parts of the Lua driver share. One state, one thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lauxlib.h"
#include "lua.h"

typedef struct Driver {
  lua_State* state;
  // While code of the user runs: the only time at which a stop may raise an error.
  bool user;
  bool exiting;  // os.exit was called
  int exit_code;
  bool seeded;  // by math.randomseed with a number
} Driver;

extern Driver driver;

// The host writes to it to stop a run; os.exit does, too (docs/engine-abi.md, section 4).
extern volatile int dormouse_stop;

enum { kOutput = 1, kError = 2, kExit = 3 };

// Writes out both streams, then emits the JSON.
void driver_emit(int kind, const char* json, size_t length);

// Adds bytes as one JSON string. What is not UTF-8 becomes U+FFFD.
void driver_add_quoted(luaL_Buffer* buffer, const char* text, size_t length);

// Adds `display`, changes `os` and `math`, and gives the table of functions that runtime/ is written with.
int driver_open_native(lua_State* L);
