// SPDX-License-Identifier: Apache-2.0
// GuestThread: runs guest code on its own stack, turns faults into traps, and stops a running guest
// from outside.
//
// A call enters the guest stack by a plain stack switch; every way out but returning restores the
// stack pointer saved at the entry and forgets the guest's frames. No destructor runs for them, so
// nothing with a destructor may live there: guest frames have none, host imports are left only by
// returning (see host_call.h), and the function given to Run must do no more than call an export.
//
// What ends a guest, and the kind that Run returns:
//   OUT_OF_BOUNDS     SIGSEGV or SIGBUS at an address in the linear memory's reservation
//   STACK_OVERFLOW    SIGSEGV in the guard below the guest stack, or an import called with less
//   than
//                     kHostStackBytes of guest stack left
//   UNREACHABLE       SIGILL (ud2)
//   DIVIDE_BY_ZERO    SIGFPE
//   STOPPED           RequestStop(…, kHard)
//   any               the engine's trap slot; an import that called EscapeAfterHostCall, when it
//                     returns
// A fault while a host import runs, or at any other address, is a bug of the host: the previous
// disposition of the signal is put back and the instruction runs again, so that the process dies
// with a truthful core. After any end but returning, the guest's memory may be in the middle of
// anything.
//
// Stopping. The owner calls Arm() before a run and hands the token to whoever may stop it; that
// thread calls RequestStop(token, mode), which sends a real-time signal to the guest thread. The
// handler drops requests whose token is not the armed one, so a late signal never hits the next
// run. Then
//   * kSoft: it applies the interrupt table to linear memory, wherever the thread is, and
//     StopRequested() becomes true. A blocking system call of a host import returns EINTR (no
//     SA_RESTART). A signal that arrives just before such a call is lost to it: repeat the request,
//     say every 10 ms, until the run has ended.
//   * kHard: if the thread is in guest code, it leaves that at once; if it is in a host import, the
//     import runs to its end and its wrapper leaves then; if it is armed but not yet in Run, Run
//     leaves before the guest's first instruction.
//
// Threads: RequestStop from any thread, all else from the thread that called Create. One object per
// process at a time (signal handlers and host-call state are global); Create fails if there is one
// already. After fork, the child must destroy an inherited object before it makes its own.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "common/result.h"
#include "engine/engine_module.h"
#include "engine/guarded_stack.h"
#include "engine/guest_state.h"
#include "engine/interrupt_table.h"
#include "engine/linear_memory.h"

namespace dormouse::engine {

struct Trap {
  DormouseTrap kind = DORMOUSE_TRAP_NONE;
  // DORMOUSE_TRAP_OUT_OF_BOUNDS by a fault: the offset from the memory's base. Else 0.
  std::uint64_t memory_offset = 0;

  explicit operator bool() const { return kind != DORMOUSE_TRAP_NONE; }
};

// A short name for messages: "out of bounds memory access".
const char* TrapName(DormouseTrap kind);

enum class StopMode : std::uint32_t { kSoft = 1, kHard = 2 };

class GuestThread {
 public:
  struct Options {
    std::size_t stack_bytes = std::size_t{256}
                              << 20;  // address space; memory as far as it was used
    int stop_signal_offset = 3;       // the signal is SIGRTMIN + this
  };

  // Maps the stacks and installs the handlers for the calling thread, and binds the engine's trap
  // slot. Borrows both; they must outlive the object.
  static Result<std::unique_ptr<GuestThread>> Create(const EngineModule& module,
                                                     const LinearMemory& memory,
                                                     const Options& options);
  static Result<std::unique_ptr<GuestThread>> Create(const EngineModule& module,
                                                     const LinearMemory& memory) {
    return Create(module, memory, Options());
  }
  // Puts the previous signal dispositions back.
  ~GuestThread();
  GuestThread(const GuestThread&) = delete;
  GuestThread& operator=(const GuestThread&) = delete;

  // Calls `function()` on the guest stack. Not re-entrant: must not be called from a host import.
  template <typename F>
  Trap Run(F&& function) {
    return RunErased([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, &function);
  }
  // Calls one export; `result` is written only when the guest returned.
  template <typename R, typename... P>
  Trap Call(R (*function)(P...), std::type_identity_t<R>* result,
            std::type_identity_t<P>... arguments) {
    return Run([&] { *result = function(arguments...); });
  }
  template <typename... P>
  Trap Call(void (*function)(P...), std::type_identity_t<P>... arguments) {
    return Run([&] { function(arguments...); });
  }

  // What a soft stop writes. Replaces the previous entries; call it while no request can arrive.
  void SetInterruptTable(std::vector<InterruptEntry> entries);

  // Begins a run that may be stopped: forgets earlier requests and returns a token never used
  // before.
  std::uint64_t Arm();
  // No request is honoured from here on. Run itself does not disarm: a run may consist of several
  // calls.
  void Disarm();
  // Async-signal-safe. Returns whether the signal was sent; a token that is no longer armed is not
  // an error.
  bool RequestStop(std::uint64_t token, StopMode mode) const;
  // Whether the armed run was asked to stop, in either mode. For blocking host imports, before they
  // wait and after EINTR. Also in signal handlers.
  bool StopRequested() const;

  // Gives stack pages below the topmost `keep_bytes` back to the kernel. Between runs only.
  void TrimStack(std::size_t keep_bytes);

 private:
  GuestThread(const EngineModule& module, const LinearMemory& memory)
      : module_(module), memory_(memory) {}
  Trap RunErased(void (*function)(void*), void* argument);
  Result<void> SetUpStacks(const Options& options);
  Result<void> InstallHandlers(const Options& options);
  static void OnFault(int signal_number, siginfo_t* info, void* context);
  static void OnStop(int signal_number, siginfo_t* info, void* context);
  // The trap that a fault means, or DORMOUSE_TRAP_NONE for one that is a bug of the host.
  DormouseTrap Classify(int signal_number, const siginfo_t& info, const void* context);
  void HandOn(int signal_number, const siginfo_t& info);

  static constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  const EngineModule& module_;
  const LinearMemory& memory_;
  std::vector<InterruptEntry> interrupts_;
  GuardedStack stack_;
  GuardedStack signal_stack_;
  stack_t previous_signal_stack_{};
  struct sigaction previous_actions_[5]{};  // kFaultSignals, then the stop signal
  int handlers_installed_ = 0;
  bool signal_stack_installed_ = false;
  int stop_signal_ = 0;
  int process_id_ = 0;
  int thread_id_ = 0;
  bool running_ = false;
  std::uint64_t fault_offset_ = 0;
};

}  // namespace dormouse::engine
