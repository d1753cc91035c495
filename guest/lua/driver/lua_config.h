// SPDX-License-Identifier: Apache-2.0
// How Lua is configured; included in front of each of its sources.
#pragma once

#include <locale.h>
#include <stdio.h>

#include "cell.h"

struct lua_State;

// Errors. Lua leaves a protected call by a jump; WebAssembly has none, native code has. `adapter_try` calls
// `function(state, data)` and returns when it has, or when `adapter_throw` was called with the mark that it
// has written to `mark`; ../adapter.c. Used in luaD_rawrunprotected and luaD_throw alone.
__attribute__((import_module("adapter"), import_name("try"))) void adapter_try(
    void (*function)(struct lua_State*, void*), struct lua_State* state, void* data, int* mark);
__attribute__((import_module("adapter"), import_name("throw"), noreturn)) void adapter_throw(int mark);
#define luai_jmpbuf int
#define LUAI_TRY(L, c, a) adapter_try(f, L, ud, &(c)->b)
#define LUAI_THROW(L, c) adapter_throw((c)->b)

// Stopping: the host sets the flag, and the interpreter then calls dormouse_poll, which may raise an error
// (../patches/0001-poll-a-flag.patch).
extern volatile int dormouse_stop;
void dormouse_poll(struct lua_State* state);

// What Lua asks the system for.
int driver_system(const char* command);
int driver_temporary_name(char* buffer);
char* driver_setlocale(int category, const char* name);
FILE* driver_open(const char* name, const char* mode);
#define setlocale(category, name) driver_setlocale(category, name)
#define fopen(name, mode) driver_open(name, mode)
#define l_signalT int
#define l_system(command) driver_system(command)
#define LUA_TMPNAMBUFSIZE 32
#define lua_tmpnam(buffer, error) ((error) = driver_temporary_name(buffer) != 0)
#define l_seeknum long long
#define l_fseek(file, offset, whence) fseeko(file, offset, whence)
#define l_ftell(file) ftello(file)

// Every boot is like the last one. Random numbers get their seed in dormouse_reseed.
#define luai_makeseed(L) 0x646f726du

#define LUA_COMPAT_5_3
#define LUA_PATH_DEFAULT \
  "./?.lua;./?/init.lua;/workspace/?.lua;/workspace/?/init.lua;/workspace/lib/?.lua;/workspace/lib/?/init.lua"
#define LUA_CPATH_DEFAULT "./?.so"
