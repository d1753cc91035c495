// SPDX-License-Identifier: Apache-2.0
// The few words that guest code, host-call wrappers and signal handlers share. Internal to this
// folder.
//
// There is one instance per process, as there is one guest. All fields are written by the guest
// thread and its signal handlers only, except `request`.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "engine/engine_abi.h"

namespace dormouse::engine {

// An import needs at most this much stack. Checked at its entry, so that it never overflows the
// guest stack itself.
inline constexpr std::size_t kHostStackBytes = std::size_t{512} << 10;

struct GuestState {
  // 1 while a fault or a hard stop may drop the frames on top of the guest stack: in guest code,
  // not in host imports.
  volatile std::sig_atomic_t in_guest = 0;
  // The trap with which the current host import's wrapper leaves the guest, or 0.
  volatile std::sig_atomic_t pending_escape = 0;
  // The strongest StopMode that the armed run was asked for, or 0.
  volatile std::sig_atomic_t stop_requested = 0;
  // Below this stack address no import is entered.
  std::uintptr_t host_call_stack_limit = 0;
  // The host's stack pointer at the entry into the guest, below which its saved registers lie.
  void* host_stack_pointer = nullptr;

  std::atomic<std::uint64_t> last_token{0};
  std::atomic<std::uint64_t> armed_token{0};  // 0: none
  // Token * 4 + mode. Only ever grows, so that neither an older run's request nor a weaker mode
  // replaces one that the handler has not seen yet.
  std::atomic<std::uint64_t> request{0};
};

extern GuestState guest_state;

// Leaves the guest: drops all frames on the guest stack and makes GuestThread::Run return `kind`.
// For the wrappers and the trap slot; host imports call EscapeAfterHostCall.
[[noreturn]] void EscapeGuest(DormouseTrap kind);

}  // namespace dormouse::engine
