// SPDX-License-Identifier: Apache-2.0
#include "engine/guest_thread.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "engine/exception_abi.h"
#include "engine/stack_switch.h"

namespace dormouse::engine {

GuestState guest_state;

namespace {

// Larger than any frame: wasm functions have at most 50,000 locals and clang's frames for them stay
// within a few hundred KiB, so that no frame can step over the guard.
constexpr std::size_t kGuardBytes = std::size_t{16} << 20;
constexpr std::size_t kSignalStackBytes = std::size_t{128} << 10;

// The object whose handlers are installed. Written while they are not.
GuestThread* active_thread = nullptr;

constexpr std::uint64_t kModeBits = 2;

struct Invocation {
  void (*function)(void*);
  void* argument;
};

void EscapeIfHardStopped() {
  if (guest_state.stop_requested == static_cast<int>(StopMode::kHard)) {
    EscapeGuest(DORMOUSE_TRAP_STOPPED);
  }
}

// The first function on the guest stack.
void RunOnGuestStack(void* invocation) {
  const Invocation call = *static_cast<const Invocation*>(invocation);
  // In this order: a hard stop that came earlier is seen by the check, a later one by its handler.
  guest_state.in_guest = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  EscapeIfHardStopped();
  call.function(call.argument);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guest_state.in_guest = 0;
}

// Makes the code that the signal interrupted continue by leaving the guest. Returning from the
// handler restores the signal mask and the alternate stack.
void RedirectToEscape(void* context, DormouseTrap kind) {
  // SAFETY: only called while in_guest, so that everything above host_stack_pointer is the guest's.
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  constexpr greg_t kDirectionFlag = 0x400;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&DormouseLeaveGuestStack);
  registers[REG_RDI] = kind;
  registers[REG_RSI] = reinterpret_cast<greg_t>(guest_state.host_stack_pointer);
  registers[REG_EFL] &= ~kDirectionFlag;
  guest_state.in_guest = 0;
}

// Generated code traps by `ud1l KIND(%eax), %eax`, or by ud2 for unreachable.
DormouseTrap TrapOfUndefinedInstruction(const void* context) {
  // SAFETY: the CPU has just fetched these bytes; the last is the end of a 5-byte instruction.
  const auto* const code = reinterpret_cast<const std::uint8_t*>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  constexpr std::uint8_t kUd2[] = {0x0f, 0x0b};
  constexpr std::uint8_t kUd1[] = {0x67, 0x0f, 0xb9, 0x40};
  if (std::equal(std::begin(kUd2), std::end(kUd2), code)) return DORMOUSE_TRAP_UNREACHABLE;
  if (!std::equal(std::begin(kUd1), std::end(kUd1), code)) return DORMOUSE_TRAP_NONE;
  const std::uint8_t kind = code[std::size(kUd1)];
  return kind >= DORMOUSE_TRAP_UNREACHABLE && kind <= DORMOUSE_TRAP_OUT_OF_FUEL
             ? static_cast<DormouseTrap>(kind)
             : DORMOUSE_TRAP_NONE;
}

}  // namespace

void EscapeGuest(DormouseTrap kind) {
  // From here on a hard stop changes nothing.
  guest_state.in_guest = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guest_state.pending_escape = DORMOUSE_TRAP_NONE;
  DormouseLeaveGuestStack(kind, guest_state.host_stack_pointer);
}

const char* TrapName(DormouseTrap kind) {
  if (kind == DORMOUSE_TRAP_EXCEPTION) return "uncaught exception";
  switch (kind) {
    case DORMOUSE_TRAP_NONE:
      return "no trap";
    case DORMOUSE_TRAP_UNREACHABLE:
      return "unreachable code reached";
    case DORMOUSE_TRAP_OUT_OF_BOUNDS:
      return "out of bounds memory access";
    case DORMOUSE_TRAP_DIVIDE_BY_ZERO:
      return "integer divide by zero";
    case DORMOUSE_TRAP_INTEGER_OVERFLOW:
      return "integer overflow";
    case DORMOUSE_TRAP_INVALID_CONVERSION:
      return "invalid conversion to integer";
    case DORMOUSE_TRAP_INDIRECT_CALL:
      return "indirect call of a wrong function";
    case DORMOUSE_TRAP_STACK_OVERFLOW:
      return "call stack exhausted";
    case DORMOUSE_TRAP_OUT_OF_FUEL:
      return "out of fuel";
    case DORMOUSE_TRAP_EXIT:
      return "exit";
    case DORMOUSE_TRAP_STOPPED:
      return "stopped";
  }
  return "unknown trap";
}

Result<std::unique_ptr<GuestThread>> GuestThread::Create(const EngineModule& module,
                                                         const LinearMemory& memory,
                                                         const Options& options) {
  if (active_thread != nullptr) {
    return Error(ErrorCode::kInternal, "there is a guest thread in this process already");
  }
  std::unique_ptr<GuestThread> thread(new GuestThread(module, memory));
  DORMOUSE_TRY(thread->SetUpStacks(options));
  active_thread = thread.get();
  DORMOUSE_TRY(thread->InstallHandlers(options));
  *module.abi().trap = &EscapeGuest;
  return thread;
}

GuestThread::~GuestThread() {
  Disarm();
  for (int i = 0; i < handlers_installed_; ++i) {
    const bool fault = i < static_cast<int>(std::size(kFaultSignals));
    sigaction(fault ? kFaultSignals[i] : stop_signal_, &previous_actions_[i], nullptr);
  }
  if (signal_stack_installed_) sigaltstack(&previous_signal_stack_, nullptr);
  if (active_thread == this) {
    active_thread = nullptr;
    *module_.abi().trap = nullptr;
  }
}

Result<void> GuestThread::SetUpStacks(const Options& options) {
  if (options.stack_bytes < 2 * kHostStackBytes) {
    return Error(ErrorCode::kInvalidRequest, "the guest stack is too small for host calls");
  }
  DORMOUSE_ASSIGN(stack_, GuardedStack::Create(options.stack_bytes, kGuardBytes));
  const auto needed = static_cast<std::size_t>(std::max(0L, sysconf(_SC_SIGSTKSZ)));
  DORMOUSE_ASSIGN(signal_stack_, GuardedStack::Create(std::max(needed, kSignalStackBytes), 4096));
  guest_state.host_call_stack_limit =
      reinterpret_cast<std::uintptr_t>(stack_.lowest()) + kHostStackBytes;
  const stack_t signal_stack = {
      .ss_sp = signal_stack_.lowest(), .ss_flags = 0, .ss_size = signal_stack_.size_bytes()};
  if (sigaltstack(&signal_stack, &previous_signal_stack_) != 0) {
    return SystemError("sigaltstack", errno);
  }
  signal_stack_installed_ = true;
  return {};
}

Result<void> GuestThread::InstallHandlers(const Options& options) {
  process_id_ = getpid();
  thread_id_ = static_cast<int>(syscall(SYS_gettid));
  stop_signal_ = SIGRTMIN + options.stop_signal_offset;
  struct sigaction action{};
  // No SA_RESTART: a stop must end blocking system calls.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, stop_signal_);
  action.sa_sigaction = &GuestThread::OnFault;
  for (const int signal_number : kFaultSignals) {
    if (sigaction(signal_number, &action, &previous_actions_[handlers_installed_]) != 0) {
      return SystemError("sigaction", errno);
    }
    ++handlers_installed_;
  }
  action.sa_sigaction = &GuestThread::OnStop;
  if (sigaction(stop_signal_, &action, &previous_actions_[handlers_installed_]) != 0) {
    return SystemError("sigaction", errno);
  }
  ++handlers_installed_;
  return {};
}

Trap GuestThread::RunErased(void (*function)(void*), void* argument) {
  // SAFETY: a nested run would overwrite the frames of the outer one; no input can cause it.
  if (std::exchange(running_, true)) std::abort();
  guest_state.pending_escape = DORMOUSE_TRAP_NONE;
  fault_offset_ = 0;
  Invocation invocation{function, argument};
  const int kind = DormouseEnterGuestStack(&RunOnGuestStack, &invocation, stack_.top(),
                                           &guest_state.host_stack_pointer);
  running_ = false;
  return {static_cast<DormouseTrap>(kind), fault_offset_};
}

DormouseTrap GuestThread::Classify(int signal_number, const siginfo_t& info, const void* context) {
  const bool from_kernel = info.si_code > 0;
  if (!from_kernel || guest_state.in_guest == 0) return DORMOUSE_TRAP_NONE;
  if (signal_number == SIGFPE) return DORMOUSE_TRAP_DIVIDE_BY_ZERO;
  if (signal_number == SIGILL) return TrapOfUndefinedInstruction(context);
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  if (memory_.Covers(address)) {
    fault_offset_ = address - reinterpret_cast<std::uintptr_t>(memory_.base());
    return DORMOUSE_TRAP_OUT_OF_BOUNDS;
  }
  return stack_.GuardCovers(address) ? DORMOUSE_TRAP_STACK_OVERFLOW : DORMOUSE_TRAP_NONE;
}

void GuestThread::HandOn(int signal_number, const siginfo_t& info) {
  const auto* const found =
      std::find(std::begin(kFaultSignals), std::end(kFaultSignals), signal_number);
  sigaction(signal_number, &previous_actions_[found - std::begin(kFaultSignals)], nullptr);
  // A fault happens again as soon as the handler returns; a signal that was sent does not.
  if (info.si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal_number);
}

void GuestThread::OnFault(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const DormouseTrap kind = active_thread->Classify(signal_number, *info, context);
  if (kind != DORMOUSE_TRAP_NONE) {
    RedirectToEscape(context, kind);
  } else {
    active_thread->HandOn(signal_number, *info);
  }
  errno = saved_errno;
}

void GuestThread::OnStop(int, siginfo_t*, void* context) {
  const std::uint64_t request = guest_state.request.load(std::memory_order_acquire);
  const std::uint64_t token = request >> kModeBits;
  if (token == 0 || token != guest_state.armed_token.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  const auto mode = static_cast<StopMode>(request & ((1u << kModeBits) - 1));
  const int strongest = guest_state.stop_requested;
  guest_state.stop_requested = std::max(strongest, static_cast<int>(mode));
  if (mode == StopMode::kSoft) {
    ApplyInterrupts(active_thread->interrupts_, active_thread->memory_);
  } else if (guest_state.in_guest != 0) {
    RedirectToEscape(context, DORMOUSE_TRAP_STOPPED);
  } else {
    guest_state.pending_escape = DORMOUSE_TRAP_STOPPED;
  }
  errno = saved_errno;
}

void GuestThread::SetInterruptTable(std::vector<InterruptEntry> entries) {
  interrupts_ = std::move(entries);
}

std::uint64_t GuestThread::Arm() {
  guest_state.armed_token.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guest_state.stop_requested = 0;
  const std::uint64_t token = guest_state.last_token.fetch_add(1, std::memory_order_relaxed) + 1;
  guest_state.armed_token.store(token, std::memory_order_release);
  return token;
}

void GuestThread::Disarm() {
  guest_state.armed_token.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guest_state.stop_requested = 0;
}

bool GuestThread::RequestStop(std::uint64_t token, StopMode mode) const {
  const std::uint64_t wanted = token << kModeBits | static_cast<std::uint64_t>(mode);
  std::uint64_t current = guest_state.request.load(std::memory_order_relaxed);
  while (current < wanted &&
         !guest_state.request.compare_exchange_weak(current, wanted, std::memory_order_acq_rel)) {
  }
  return syscall(SYS_tgkill, process_id_, thread_id_, stop_signal_) == 0;
}

bool GuestThread::StopRequested() const { return guest_state.stop_requested != 0; }

void GuestThread::TrimStack(std::size_t keep_bytes) { stack_.Trim(keep_bytes); }

}  // namespace dormouse::engine
