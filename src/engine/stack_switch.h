// SPDX-License-Identifier: Apache-2.0
// The two steps between the host's stack and the guest's, in assembly (x86-64, System V). Internal.
#pragma once

#include <cstddef>

namespace dormouse::engine {

extern "C" {

// Saves the callee-saved registers and the stack pointer (into *host_stack_pointer), calls
// `function(argument)` on the stack that ends at `stack_top` (aligned to 16), and returns 0, or the
// number given to DormouseLeaveGuestStack.
int DormouseEnterGuestStack(void (*function)(void*), void* argument, void* stack_top,
                            void** host_stack_pointer);

// Makes the DormouseEnterGuestStack that saved `host_stack_pointer` return `result`. Frames above
// are dropped as they are. A signal handler may also make the interrupted code continue here, with
// the arguments in rdi and rsi, whatever its stack.
[[noreturn]] void DormouseLeaveGuestStack(int result, void* host_stack_pointer);

}  // extern "C"

}  // namespace dormouse::engine
