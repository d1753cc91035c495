// SPDX-License-Identifier: Apache-2.0
// GuestClock: the guest's clocks. They survive a restore on another machine.
//
// CLOCK_REALTIME is the host's. CLOCK_MONOTONIC never goes back: after a restore it goes on from
// what it showed, plus the wall time that passed meanwhile (none, if the wall clock was set back).
// CPU time goes on from what it showed.
#pragma once

#include <cstdint>

#include "wasi/host_interfaces.h"

namespace dormouse::wasi {

class GuestClock {
 public:
  struct Saved {
    std::int64_t realtime_ns = 0;
    std::int64_t monotonic_ns = 0;
    std::int64_t cpu_ns = 0;
  };

  GuestClock(TimeSource& time, std::int64_t monotonic_start_ns);

  std::int64_t RealtimeNs() { return time_.RealtimeNs(); }
  std::int64_t MonotonicNs() { return time_.MonotonicNs() + monotonic_offset_ns_; }
  std::int64_t CpuNs() { return time_.ThreadCpuNs() + cpu_offset_ns_; }

  Saved Save();
  void Restore(const Saved& saved);

 private:
  TimeSource& time_;
  std::int64_t monotonic_offset_ns_;
  std::int64_t cpu_offset_ns_;
};

}  // namespace dormouse::wasi
