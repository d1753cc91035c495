// SPDX-License-Identifier: Apache-2.0
// What C++ code calls to throw. There is nothing that could unwind the stack, and libc++ for this target has none of
// it. The C++ of NumPy and pandas throws only when memory is exhausted, in two places that have checked for it before or
// ask for little; the run then ends as a crash of its context, which goes back to where it was.
#include <stddef.h>

void* __cxa_allocate_exception(size_t size) {
  (void)size;
  __builtin_trap();
}

void __cxa_free_exception(void* exception) { (void)exception; }

_Noreturn void __cxa_throw(void* exception, void* type, void* destroy) {
  (void)exception;
  (void)type;
  (void)destroy;
  __builtin_trap();
}

// Parts of catch blocks, which nothing reaches.
void* __cxa_begin_catch(void* exception) { return exception; }
void __cxa_end_catch(void) {}
_Noreturn void __cxa_rethrow(void) { __builtin_trap(); }
