// SPDX-License-Identifier: Apache-2.0
// RunControl: the worker's control thread. Reads the channel, flushes output, and holds runs to their limits.
//
// A run is stopped at its deadline, at its CPU budget, or on request: softly first (the interpreter's own flag, repeated until
// it reacts), and after the grace time, CPU time of the guest, hard (the guest is left where it stands). A guest that uses
// no CPU time is left alone for kMostGrace times that.
//
// Threads: Begin, End and stop_reason on the guest thread; the rest is the control thread's own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <latch>
#include <mutex>
#include <optional>

#include "common/file_descriptor.h"
#include "engine/guest_thread.h"
#include "wasi/wasi.h"
#include "worker/output_buffer.h"
#include "worker/server_link.h"

namespace dormouse::worker {

// As scheduler::StopReason; on the wire in protocol::Interrupt.
enum class StopReason : std::uint8_t { kNone = 0, kInterrupt = 1, kTimeout = 2, kFuel = 3 };

class RunControl {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::chrono::microseconds timeout{};
    std::chrono::microseconds fuel{};  // zero: none
    std::chrono::milliseconds grace{};
  };

  // Borrows all; call on the guest thread. Start() makes the thread, which never ends before the process does.
  RunControl(ServerLink& link, OutputBuffer& output);
  Result<void> Start();

  // The run with this token begins now.
  void Begin(engine::GuestThread& thread, wasi::Wasi& wasi, std::uint64_t token, const Limits& limits);
  // It has ended; no stop is sent from here on. Returns why it was asked to stop, if it was.
  StopReason End();
  // CPU time that the guest thread used since Begin.
  std::chrono::microseconds CpuSinceBegin() const;

 private:
  struct Run {
    engine::GuestThread* thread;
    wasi::Wasi* wasi;
    std::uint64_t token;
    Limits limits;
    Clock::time_point deadline;
    std::chrono::nanoseconds cpu_start;
    StopReason reason = StopReason::kNone;
    Clock::time_point stop_at{};    // when the first stop was sent
    std::chrono::nanoseconds cpu_at_stop{};
    Clock::time_point next_signal{};
  };

  void Loop();
  std::chrono::nanoseconds GuestCpu() const;
  // Looks at the limits, sends what stops are due, and says when to look again.
  Clock::time_point Supervise(Clock::time_point now);
  void Stop(Run& run, StopReason reason, Clock::time_point now);
  void Wake();

  ServerLink& link_;
  OutputBuffer& output_;
  FileDescriptor wake_;  // eventfd
  std::latch running_{1};
  clockid_t guest_cpu_clock_ = 0;
  std::mutex mutex_;
  std::optional<Run> run_;  // guarded by mutex_
  std::chrono::nanoseconds cpu_start_{};  // guest thread
};

}  // namespace dormouse::worker
