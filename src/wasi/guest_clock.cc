// SPDX-License-Identifier: Apache-2.0
#include "wasi/guest_clock.h"

#include <algorithm>

namespace dormouse::wasi {

GuestClock::GuestClock(TimeSource& time, std::int64_t monotonic_start_ns)
    : time_(time),
      monotonic_offset_ns_(monotonic_start_ns - time.MonotonicNs()),
      cpu_offset_ns_(-time.ThreadCpuNs()) {}

GuestClock::Saved GuestClock::Save() {
  return {.realtime_ns = RealtimeNs(), .monotonic_ns = MonotonicNs(), .cpu_ns = CpuNs()};
}

void GuestClock::Restore(const Saved& saved) {
  const std::int64_t asleep = std::max<std::int64_t>(RealtimeNs() - saved.realtime_ns, 0);
  monotonic_offset_ns_ = saved.monotonic_ns + asleep - time_.MonotonicNs();
  cpu_offset_ns_ = saved.cpu_ns - time_.ThreadCpuNs();
}

}  // namespace dormouse::wasi
