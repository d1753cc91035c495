// SPDX-License-Identifier: Apache-2.0
// HostCall: makes the C function that an import slot wants from an ordinary C++ function.
//
//   std::uint32_t FdClose(WasiHost& host, std::uint32_t fd);
//   const HostFunction kFunctions[] = {MakeHostFunction<&FdClose>("wasi_snapshot_preview1",
//   "fd_close"), …};
//
// The wrapper marks the thread as being in the host, calls the function with all its locals and
// destructors in peace, and only afterwards leaves the guest if the function asked for it or a hard
// stop arrived meanwhile. The function runs on the guest stack with at least kHostStackBytes left;
// exceptions end the process.
#pragma once

#include <string_view>
#include <type_traits>

#include "engine/engine_module.h"
#include "engine/guest_state.h"
#include "engine/signature.h"

namespace dormouse::engine {

// Called by a host import (proc_exit, say): when it returns, the guest is left with `kind` and its
// result is dropped. The function should return at once. A later call in the same import replaces
// the kind.
inline void EscapeAfterHostCall(DormouseTrap kind) { guest_state.pending_escape = kind; }

template <auto function>
struct HostCall;

template <typename Host, typename R, typename... P, R (*function)(Host&, P...)>
struct HostCall<function> {
  using Signature = SignatureOf<R(P...)>;

  static R Entry(void* host, P... arguments) noexcept {
    if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) <
        guest_state.host_call_stack_limit) [[unlikely]] {
      EscapeGuest(DORMOUSE_TRAP_STACK_OVERFLOW);
    }
    // The flag is volatile and the call opaque enough: a signal handler of this thread sees them in
    // this order.
    guest_state.in_guest = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if constexpr (std::is_void_v<R>) {
      function(*static_cast<Host*>(host), arguments...);
      Leave();
    } else {
      const R result = function(*static_cast<Host*>(host), arguments...);
      Leave();
      return result;
    }
  }

 private:
  static void Leave() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // In this order: a hard stop before the store leaves a pending escape for the check, one after
    // it escapes by itself.
    guest_state.in_guest = 1;
    if (guest_state.pending_escape != DORMOUSE_TRAP_NONE) [[unlikely]] {
      EscapeGuest(static_cast<DormouseTrap>(guest_state.pending_escape));
    }
  }
};

template <auto function>
HostFunction MakeHostFunction(std::string_view module, std::string_view name) {
  return {module, name, HostCall<function>::Signature::kView,
          reinterpret_cast<void*>(&HostCall<function>::Entry)};
}

}  // namespace dormouse::engine
