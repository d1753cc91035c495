// SPDX-License-Identifier: Apache-2.0
// Lua's jumps out of protected calls, in native code; see src/aot/adapter.h and driver/lua_config.h. Everything else is
// the module's own.
//
// A protected call is over before dormouse_run returns, and what a coroutine was doing when it yielded is in its Lua stack,
// not in one of C: no frame that a jump could lead to is older than the run, and a snapshot lacks nothing. The C stack in
// linear memory needs no care: luaD_rawrunprotected, which calls `try`, has a frame there and puts the pointer back
// when it returns.
#include "engine_adapter.h"

typedef struct Call {
  struct Call* outer;
  u32 mark;
  void* jump[5];
} Call;

// The innermost call; null between runs.
static Call* innermost;

void import_adapter_try(u32 function, u32 state, u32 data, u32 mark) {
  Call call;
  call.outer = innermost;
  call.mark = call.outer == 0 ? 1 : call.outer->mark + 1;
  innermost = &call;
  DM_AT(u32, mark, 0u) = call.mark;
  if (__builtin_setjmp(call.jump) == 0) module_driver_call(function, state, data);
  innermost = call.outer;
}

// The mark is a number in linear memory, where user code could have put another: it must be one of a call under way.
void import_adapter_throw(u32 mark) {
  Call* call = innermost;
  while (call != 0 && call->mark > mark) call = call->outer;
  if (call == 0 || call->mark != mark) DM_TRAP(DORMOUSE_TRAP_UNREACHABLE);
  innermost = call;
  __builtin_longjmp(call->jump, 1);
}

// ── exports that are the module's own

u32 dormouse_boot(void) { return module_dormouse_boot(); }
u32 dormouse_alloc(u32 size) { return module_dormouse_alloc(size); }
void dormouse_reseed(void) { module_dormouse_reseed(); }
u32 dormouse_interrupt_table(void) { return module_dormouse_interrupt_table(); }

u32 dormouse_run(u32 address, u32 length) {
  innermost = 0;
  return module_dormouse_run(address, length);
}
