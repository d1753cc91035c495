// SPDX-License-Identifier: Apache-2.0
// What the C code of modules with exceptions needs beside engine_runtime.h. dormouse-aot puts it
// behind that file, after a line that defines DM_EXCEPTION_VALUES, the most values that any
// exception of the module has; engine_table.c holds the definitions.
#pragma once

#include "exception_abi.h"

struct DormouseException {
  u32 tag;
  u64 values[DM_EXCEPTION_VALUES];
};

// Where an exception goes: back to where dormouse_try returned 0 with this.
struct DormouseHandler {
  u64 registers[8];                    // rbx, rbp, r12 to r15, rsp and rip
  struct DormouseException exception;  // while it is being handled, for rethrow
};

// The innermost handler; null where the host called.
extern DM_HIDDEN struct DormouseHandler* dormouse_handler;
// The exception on its way.
extern DM_HIDDEN struct DormouseException dormouse_thrown;

// Makes `handler` the innermost one and returns 0; then returns 1 when dormouse_thrown arrives.
DM_HIDDEN __attribute__((returns_twice)) u32 dormouse_try(struct DormouseHandler* handler);
// Sends dormouse_thrown to the innermost handler.
DM_HIDDEN __attribute__((noreturn, cold)) void dormouse_raise(void);
