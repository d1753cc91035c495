// SPDX-License-Identifier: Apache-2.0
// The functions of which runtime/ is made, and those of Lua's library that are other here.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cell.h"
#include "driver.h"
#include "lobject.h"

__attribute__((import_module("dormouse"), import_name("emit"))) void dormouse_emit(int kind, const char* json,
                                                                                   size_t length);

void driver_emit(int kind, const char* json, size_t length) {
  fflush(stdout);
  fflush(stderr);
  dormouse_emit(kind, json, length);
}

// ── cells

struct DriverCell driver_cell;

static const char* ReadOnce(lua_State* L, void* data, size_t* size) {
  (void)L;
  size_t* length = data;
  const char* text = *length == 0 ? NULL : lua_tostring(L, 1);
  *size = *length;
  *length = 0;
  return text;
}

// compile(text, name, variables): like load, for a cell; `variables` is a list of names and kinds in turn.
static int Compile(lua_State* L) {
  const int most = (int)(sizeof driver_cell.names / sizeof driver_cell.names[0]);
  size_t length;
  luaL_checklstring(L, 1, &length);
  const char* name = luaL_checkstring(L, 2);
  const int count = (int)luaL_len(L, 3) / 2;
  if (count > most) return luaL_error(L, "the cell uses more than %d variables of others", most);
  luaL_checkstack(L, count, NULL);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, 3, 2 * i + 1);
    driver_cell.names[i] = luaL_checkstring(L, -1);  // the list keeps it
    lua_rawgeti(L, 3, 2 * i + 2);
    driver_cell.kinds[i] = (unsigned char)lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
  driver_cell.count = count;
  driver_cell.on = 1;
  const int status = lua_load(L, ReadOnce, &length, name, "t");
  driver_cell.on = 0;
  if (status == LUA_OK) return 1;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

// kind(function, n): of its upvalue; a variable may be constant.
static int Kind(lua_State* L) {
  const LClosure* function = lua_topointer(L, 1);
  lua_pushinteger(L, function->p->upvalues[luaL_checkinteger(L, 2) - 1].kind);
  return 1;
}

// ── JSON

// The length of the character at `text`, or 0 if it is not one of UTF-8.
static size_t CharacterAt(const unsigned char* text, size_t left) {
  const unsigned char first = text[0];
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > left) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = text[1];
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool impossible = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || impossible ? 0 : length;
}

static void AddEscaped(luaL_Buffer* buffer, unsigned char c) {
  char escaped[8];
  if (c == '"' || c == '\\') {
    snprintf(escaped, sizeof escaped, "\\%c", c);
  } else if (c == '\n') {
    strcpy(escaped, "\\n");
  } else {
    snprintf(escaped, sizeof escaped, "\\u%04x", c);
  }
  luaL_addstring(buffer, escaped);
}

void driver_add_quoted(luaL_Buffer* buffer, const char* text, size_t length) {
  size_t plain = 0;  // from here to `at` nothing has to be changed
  luaL_addchar(buffer, '"');
  for (size_t at = 0; at < length;) {
    const unsigned char c = (unsigned char)text[at];
    const size_t size = CharacterAt((const unsigned char*)text + at, length - at);
    if (size == 0 || c < 0x20 || c == '"' || c == '\\') {
      luaL_addlstring(buffer, text + plain, at - plain);
      if (size == 0) {
        luaL_addstring(buffer, "\xef\xbf\xbd");
      } else {
        AddEscaped(buffer, c);
      }
      plain = at + 1;
    }
    at += size == 0 ? 1 : size;
  }
  luaL_addlstring(buffer, text + plain, length - plain);
  luaL_addchar(buffer, '"');
}

static int Quote(lua_State* L) {
  size_t length;
  const char* text = luaL_checklstring(L, 1, &length);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  driver_add_quoted(&buffer, text, length);
  luaL_pushresult(&buffer);
  return 1;
}

static int Emit(lua_State* L) {
  size_t length;
  const char* json = luaL_checklstring(L, 2, &length);
  driver_emit((int)luaL_checkinteger(L, 1), json, length);
  return 0;
}

// ── the process that there is not

// setenv(name, value or nil) returns the value before.
static int SetEnvironment(lua_State* L) {
  const char* name = luaL_checkstring(L, 1);
  const char* value = luaL_optstring(L, 2, NULL);
  lua_pushstring(L, getenv(name));
  if (value == NULL) {
    unsetenv(name);
  } else if (setenv(name, value, 1) != 0) {
    return luaL_error(L, "not enough memory");
  }
  return 1;
}

static int SetDirectory(lua_State* L) {
  lua_pushboolean(L, chdir(luaL_checkstring(L, 1)) == 0);
  return 1;
}

static int GetDirectory(lua_State* L) {
  char path[4096];
  lua_pushstring(L, getcwd(path, sizeof path) != NULL ? path : "/workspace");
  return 1;
}

static int Exit(lua_State* L) {
  driver.exit_code = lua_isboolean(L, 1) ? !lua_toboolean(L, 1) : (int)luaL_optinteger(L, 1, 0);
  driver.exiting = true;
  dormouse_stop = 1;
  return luaL_error(L, "exit");
}

// ── random numbers

static void PushEntropy(lua_State* L) {
  int64_t seed[2] = {0, 0};
  getentropy(seed, sizeof seed);
  lua_pushinteger(L, seed[0]);
  lua_pushinteger(L, seed[1]);
}

// math.randomseed: remembers whether the user chose the seed. The upvalue is Lua's own function.
static int RandomSeed(lua_State* L) {
  driver.seeded = lua_gettop(L) > 0;
  if (!driver.seeded) PushEntropy(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

int driver_open_native(lua_State* L) {
  static const luaL_Reg kFunctions[] = {
      {"compile", Compile},     {"kind", Kind},           {"quote", Quote},         {"emit", Emit},           {"setenv", SetEnvironment},
      {"chdir", SetDirectory},  {"getcwd", GetDirectory}, {NULL, NULL},
  };
  lua_getglobal(L, "os");
  lua_pushcfunction(L, Exit);
  lua_setfield(L, -2, "exit");
  lua_getglobal(L, "math");
  lua_getfield(L, -1, "randomseed");
  // Lua has taken the time for a first seed; every boot is to be like the last one.
  lua_pushvalue(L, -1);
  lua_pushinteger(L, 0);
  lua_call(L, 1, 0);
  lua_pushcclosure(L, RandomSeed, 1);
  lua_setfield(L, -2, "randomseed");
  lua_settop(L, 0);
  luaL_newlib(L, kFunctions);
  return 1;
}
