// SPDX-License-Identifier: Apache-2.0
// poll_oneoff: the one place where a guest waits.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>

#include "wasi/wasi_support.h"

namespace dormouse::wasi {
namespace {

struct RawSubscription {
  u64 userdata;
  std::uint8_t tag;
  std::uint8_t padding[7];
  u32 clock_or_fd;
  u32 padding_2;
  u64 timeout;
  u64 precision;
  std::uint16_t flags;
  std::uint8_t padding_3[6];
};
static_assert(sizeof(RawSubscription) == 48);

struct RawEvent {
  u64 userdata;
  std::uint16_t error;
  std::uint8_t type;
  std::uint8_t padding[5];
  u64 bytes;
  std::uint16_t flags;
  std::uint8_t padding_2[6];
};
static_assert(sizeof(RawEvent) == 32);

constexpr std::uint8_t kClock = 0;
constexpr std::uint8_t kFdWrite = 2;
constexpr std::uint16_t kAbsolute = 1;
constexpr std::uint16_t kHangup = 1;
// Subscriptions per call; a guest has no more descriptors and timers than that to wait for.
constexpr u32 kMaxSubscriptions = 4096;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// When a clock subscription is due, on the guest's monotonic clock. False: no such clock.
bool DeadlineOf(Wasi& wasi, const RawSubscription& subscription, std::int64_t now,
                std::int64_t& deadline) {
  if (subscription.clock_or_fd != clock_ids::kRealtime && subscription.clock_or_fd != clock_ids::kMonotonic) return false;
  const auto timeout =
      static_cast<std::int64_t>(std::min<u64>(subscription.timeout, static_cast<u64>(kNever)));
  std::int64_t wait = timeout;
  if ((subscription.flags & kAbsolute) != 0) {
    wait = timeout - (subscription.clock_or_fd == clock_ids::kRealtime ? wasi.clock().RealtimeNs() : now);
  }
  deadline = wait <= 0 ? now : wait > kNever - now ? kNever : now + wait;
  return true;
}

// Files are always ready, streams too: input is all there, output is taken at once.
RawEvent FdEvent(Wasi& wasi, const RawSubscription& subscription) {
  RawEvent event{};
  event.userdata = subscription.userdata;
  event.type = subscription.tag;
  OpenFile* file;
  const Errno error = GetFile(wasi, subscription.clock_or_fd, file);
  event.error = static_cast<std::uint16_t>(error);
  if (error != Errno::kSuccess) return event;
  if (subscription.tag == kFdWrite) {
    event.bytes = 65536;
    return event;
  }
  const Inode& inode = *file->inode;
  if (inode.type == FileType::kRegular) {
    const u64 size = inode.size();
    event.bytes = size > file->offset ? size - file->offset : 0;
  } else if (inode.type == FileType::kDevice && inode.device == Device::kStdin) {
    event.bytes = wasi.streams().stdin_remaining();
    if (event.bytes == 0) event.flags = kHangup;
  } else {
    event.bytes = 1;
  }
  return event;
}

// Until the deadline or an interrupt.
Errno WaitUntil(Wasi& wasi, std::int64_t deadline) {
  std::atomic<std::uint32_t>& word = wasi.interrupt_word();
  while (true) {
    if (word.exchange(0, std::memory_order_acquire) != 0) return Errno::kInterrupted;
    const std::int64_t now = wasi.clock().MonotonicNs();
    if (now >= deadline) return Errno::kSuccess;
    const std::int64_t wait = deadline - now;
    const timespec timeout{.tv_sec = wait / 1'000'000'000, .tv_nsec = wait % 1'000'000'000};
    const long result = ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, nullptr, 0);
    // A signal of the host: the worker sends one to the guest's thread to stop it.
    if (result != 0 && errno == EINTR) {
      word.store(0, std::memory_order_relaxed);
      return Errno::kInterrupted;
    }
  }
}

// What is known before waiting: how many events are there already, and the next deadline.
struct Pending {
  u32 ready = 0;
  std::int64_t deadline = kNever;
};

Errno Survey(Wasi& wasi, const std::byte* subscriptions, u32 count, std::int64_t now,
             Pending& pending) {
  for (u32 i = 0; i < count; ++i) {
    RawSubscription subscription;
    std::memcpy(&subscription, subscriptions + i * sizeof subscription, sizeof subscription);
    if (subscription.tag > kFdWrite) return Errno::kInvalid;
    if (subscription.tag != kClock) {
      ++pending.ready;
      continue;
    }
    std::int64_t deadline;
    if (!DeadlineOf(wasi, subscription, now, deadline)) {
      ++pending.ready;
    } else {
      pending.deadline = std::min(pending.deadline, deadline);
    }
  }
  return Errno::kSuccess;
}

}  // namespace

u32 PollOneoff(Wasi& wasi, u32 subscriptions, u32 events, u32 count, u32 event_count) {
  if (count == 0 || count > kMaxSubscriptions) return Raw(Errno::kInvalid);
  const std::byte* const in = wasi.memory().At(subscriptions, u64{count} * sizeof(RawSubscription));
  std::byte* const out = wasi.memory().At(events, u64{count} * sizeof(RawEvent));
  if (in == nullptr || out == nullptr || wasi.memory().At(event_count, sizeof(u32)) == nullptr) {
    return Raw(Errno::kFault);
  }
  // Relative timeouts count from here, also in the second look.
  const std::int64_t start = wasi.clock().MonotonicNs();
  Pending pending;
  Errno error = Survey(wasi, in, count, start, pending);
  if (error != Errno::kSuccess) return Raw(error);
  if (pending.ready == 0) {
    error = WaitUntil(wasi, pending.deadline);
    if (error != Errno::kSuccess) return Raw(error);
  }
  const std::int64_t now =
      std::max(wasi.clock().MonotonicNs(), pending.ready == 0 ? pending.deadline : start);
  u32 written = 0;
  for (u32 i = 0; i < count; ++i) {
    RawSubscription subscription;
    std::memcpy(&subscription, in + i * sizeof subscription, sizeof subscription);
    RawEvent event{};
    event.userdata = subscription.userdata;
    if (subscription.tag != kClock) {
      event = FdEvent(wasi, subscription);
    } else {
      std::int64_t deadline;
      if (!DeadlineOf(wasi, subscription, start, deadline)) {
        event.error = static_cast<std::uint16_t>(Errno::kInvalid);
      } else if (deadline > now) {
        continue;
      }
    }
    std::memcpy(out + written * sizeof event, &event, sizeof event);
    ++written;
  }
  (void)wasi.memory().Write(event_count, written);
  return 0;
}

}  // namespace dormouse::wasi
