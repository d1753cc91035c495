// SPDX-License-Identifier: Apache-2.0
// The exports of docs/engine-abi.md. What a run does is told by runtime/cell.lua.
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "lualib.h"

#define EXPORT(name) __attribute__((export_name(#name), used))

int luaopen_lfs(lua_State* L);

Driver driver;
volatile int dormouse_stop;

// Where the functions of runtime/cell.lua are: a table in the registry.
static const char kCell[] = "dormouse.cell";

// The body of a protected call, for the adapter.
EXPORT(driver_call)
void driver_call(void (*function)(lua_State*, void*), lua_State* state, void* data) {
  function(state, data);
}

// Called by the interpreter as long as the flag is set. Code that catches the error is at the next poll again.
void dormouse_poll(lua_State* L) {
  if (!driver.user) return;
  lua_pushliteral(L, "interrupted");
  lua_error(L);
}

static int LoadRuntime(lua_State* L) {
  luaL_openlibs(L);
  luaL_requiref(L, "lfs", luaopen_lfs, 0);
  lua_settop(L, 0);
  driver_open_native(L);
  if (luaL_loadfile(L, "/usr/lib/dormouse/cell.lua") != LUA_OK) return lua_error(L);
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, kCell);
  return 0;
}

static void GetCell(lua_State* L, const char* name) {
  lua_getfield(L, LUA_REGISTRYINDEX, kCell);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

// ── a run

typedef struct Request {
  char* text;
  size_t length;
} Request;

// A message handler: the error and where it was, in a table.
static int NoteTraceback(lua_State* L) {
  lua_settop(L, 1);
  lua_createtable(L, 0, 2);
  luaL_traceback(L, L, NULL, 1);
  lua_setfield(L, -2, "traceback");
  lua_insert(L, 1);
  lua_setfield(L, 1, "value");
  return 1;
}

static int CallUser(lua_State* L, int arguments, int handler) {
  driver.user = true;
  const int status = lua_pcall(L, arguments, LUA_MULTRET, handler);
  driver.user = false;
  // One that fails would let no later cell begin.
  lua_sethook(L, NULL, 0, 0);
  return status;
}

static void EmitExit(void) {
  char json[32];
  driver_emit(kExit, json, (size_t)snprintf(json, sizeof json, "{\"code\":%d}", driver.exit_code));
}

static void EmitPlainError(const char* name, const char* message) {
  char json[160];
  driver_emit(kError, json,
              (size_t)snprintf(json, sizeof json, "{\"name\":\"%s\",\"message\":\"%s\",\"traceback\":[\"%s: %s\"]}", name,
                               message, name, message));
}

// Tells of the failure on top of the stack: what NoteTraceback made, or another value where there was no room for that.
static void Report(lua_State* L, int status) {
  if (driver.exiting) {
    EmitExit();
    return;
  }
  const bool stopped = dormouse_stop != 0;
  GetCell(L, "report");
  lua_insert(L, -2);
  lua_pushboolean(L, stopped);
  lua_pushboolean(L, status == LUA_ERRMEM);
  // What describes an error may be code of the user's, which may fail, run for ever, or exit.
  driver.user = !stopped;
  const int failed = lua_pcall(L, 3, 0, 0);
  driver.user = false;
  if (failed == LUA_OK) return;
  if (driver.exiting) {
    EmitExit();
  } else if (dormouse_stop != 0) {
    EmitPlainError("InterruptedError", "interrupted");
  } else if (status == LUA_ERRMEM || failed == LUA_ERRMEM) {
    EmitPlainError("MemoryError", "not enough memory");
  } else {
    EmitPlainError("Error", "an error whose description cannot be shown");
  }
}

// Compiles, calls, shows. Returns after the report of any failure.
static int RunCell(lua_State* L) {
  const Request* request = lua_touserdata(L, 1);
  lua_settop(L, 0);
  lua_pushcfunction(L, NoteTraceback);
  GetCell(L, "prepare");
  lua_pushlstring(L, request->text, request->length);
  free(request->text);
  const int prepared = lua_pcall(L, 1, 2, 0);
  if (prepared != LUA_OK || lua_isnil(L, 2)) {  // an error of the driver, or (nil, failure)
    Report(L, prepared);
    return 0;
  }
  lua_settop(L, 2);
  int status = CallUser(L, 0, 1);
  if (status == LUA_OK) {
    GetCell(L, "show");
    lua_insert(L, 2);
    status = CallUser(L, lua_gettop(L) - 2, 1);
  }
  if (status != LUA_OK) Report(L, status);
  return 0;
}

static void FinishRun(lua_State* L) {
  lua_settop(L, 0);
  GetCell(L, "finish");
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_settop(L, 0);
  fflush(NULL);
}

EXPORT(dormouse_run)
int dormouse_run(char* text, size_t length) {
  lua_State* L = driver.state;
  Request request = {text, length};
  dormouse_stop = 0;
  driver.exiting = false;
  clearerr(stdin);
  __fpurge(stdin);
  lua_settop(L, 0);
  lua_pushcfunction(L, RunCell);
  lua_pushlightuserdata(L, &request);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) EmitPlainError("MemoryError", "not enough memory");
  FinishRun(L);
  dormouse_stop = 0;
  return 0;
}

EXPORT(dormouse_boot)
int dormouse_boot(void) {
  lua_State* L = luaL_newstate();
  if (L == NULL) return 1;
  driver.state = L;
  setvbuf(stdout, NULL, _IOLBF, 1 << 16);
  setenv("HOME", "/workspace", 1);
  setenv("PATH", "/usr/bin:/bin", 1);
  lua_pushcfunction(L, LoadRuntime);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
    fprintf(stderr, "boot: %s\n", lua_tostring(L, -1));
    return 2;
  }
  lua_gc(L, LUA_GCCOLLECT);
  return 0;
}

EXPORT(dormouse_alloc)
void* dormouse_alloc(size_t size) { return malloc(size); }

EXPORT(dormouse_reseed)
void dormouse_reseed(void) {
  if (driver.seeded) return;
  lua_State* L = driver.state;
  lua_settop(L, 0);
  GetCell(L, "reseed");
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_settop(L, 0);
  driver.seeded = false;
}

EXPORT(dormouse_interrupt_table)
void* dormouse_interrupt_table(void) {
  static struct {
    uint32_t count, address, size, operation, value;
  } table;
  table.count = 1;
  table.address = (uint32_t)(uintptr_t)&dormouse_stop;
  table.size = sizeof dormouse_stop;
  table.operation = 0;
  table.value = 1;
  return &table;
}
