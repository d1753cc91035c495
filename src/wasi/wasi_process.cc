// SPDX-License-Identifier: Apache-2.0
// Arguments, environment, clocks, entropy, the end of the program, and sockets (there are none).
#include <xmmintrin.h>

#include "wasi/wasi_support.h"

namespace dormouse::wasi {
namespace {

constexpr u32 kProcessCpu = 2;
constexpr u32 kThreadCpu = 3;
constexpr u32 kMaxSignal = 30;

// All but that of denormal operands: the guest's numbers of the flags are those of MXCSR.
constexpr u32 kFloatFlags = _MM_EXCEPT_INVALID | _MM_EXCEPT_DIV_ZERO | _MM_EXCEPT_OVERFLOW |
                            _MM_EXCEPT_UNDERFLOW | _MM_EXCEPT_INEXACT;

Errno PutTwoZeros(Wasi& wasi, u32 first, u32 second) {
  const u32 zero = 0;
  return wasi.memory().Write(first, zero) && wasi.memory().Write(second, zero) ? Errno::kSuccess
                                                                               : Errno::kFault;
}

u32 NotSocket(Wasi& wasi, u32 fd) {
  return Raw(wasi.descriptors().Get(fd) == nullptr ? Errno::kBadFile : Errno::kNotSocket);
}

// SIGCHLD, SIGCONT, SIGURG, SIGWINCH in WASI's numbers.
bool IgnoredByDefault(u32 signal) {
  return signal == 16 || signal == 17 || signal == 22 || signal == 27;
}

}  // namespace

// There are none of either: nothing to write.
u32 ArgsGet(Wasi&, u32, u32) { return 0; }
u32 EnvironGet(Wasi&, u32, u32) { return 0; }
u32 ArgsSizesGet(Wasi& wasi, u32 count, u32 bytes) { return Raw(PutTwoZeros(wasi, count, bytes)); }
u32 EnvironSizesGet(Wasi& wasi, u32 count, u32 bytes) {
  return Raw(PutTwoZeros(wasi, count, bytes));
}

u32 ClockResGet(Wasi& wasi, u32 clock, u32 resolution) {
  if (clock > kThreadCpu) return Raw(Errno::kInvalid);
  return Raw(wasi.memory().Write(resolution, u64{1}) ? Errno::kSuccess : Errno::kFault);
}

u32 ClockTimeGet(Wasi& wasi, u32 clock, u64, u32 time) {
  std::int64_t now = 0;
  switch (clock) {
    case clock_ids::kRealtime:
      now = wasi.clock().RealtimeNs();
      break;
    case clock_ids::kMonotonic:
      now = wasi.clock().MonotonicNs();
      break;
    case kProcessCpu:
    case kThreadCpu:
      now = wasi.clock().CpuNs();
      break;
    default:
      return Raw(Errno::kInvalid);
  }
  return Raw(wasi.memory().Write(time, now) ? Errno::kSuccess : Errno::kFault);
}

u32 RandomGet(Wasi& wasi, u32 buffer, u32 length) {
  std::byte* const bytes = wasi.memory().At(buffer, length);
  if (bytes == nullptr) return Raw(Errno::kFault);
  return Raw(wasi.entropy().Fill({bytes, length}) ? Errno::kSuccess : Errno::kIo);
}

u32 SchedYield(Wasi&) { return 0; }

void ProcExit(Wasi& wasi, u32 code) {
  wasi.RecordExit(code);
  wasi.LeaveGuest();
}

// Without handlers in the host, a signal does what it does by default: nothing, or end the program.
u32 ProcRaise(Wasi& wasi, u32 signal) {
  if (signal > kMaxSignal) return Raw(Errno::kInvalid);
  if (signal == 0 || IgnoredByDefault(signal)) return 0;
  wasi.RecordExit(128 + signal);
  wasi.LeaveGuest();
  return 0;
}

// Guest code computes with SSE, so that its exceptions leave their flags in the thread's MXCSR.
// Those that the host's own arithmetic leaves there do no harm: who wants to know takes the flags
// down before the computation.
u32 FloatFlags(Wasi&, u32 clear, u32 raise) {
  const u32 state = _mm_getcsr();
  const u32 wanted = (state & ~(clear & kFloatFlags)) | (raise & kFloatFlags);
  if (wanted != state) _mm_setcsr(wanted);
  return state & kFloatFlags;
}

u32 SockAccept(Wasi& wasi, u32 fd, u32, u32) { return NotSocket(wasi, fd); }
u32 SockRecv(Wasi& wasi, u32 fd, u32, u32, u32, u32, u32) { return NotSocket(wasi, fd); }
u32 SockSend(Wasi& wasi, u32 fd, u32, u32, u32, u32) { return NotSocket(wasi, fd); }
u32 SockShutdown(Wasi& wasi, u32 fd, u32) { return NotSocket(wasi, fd); }

}  // namespace dormouse::wasi
