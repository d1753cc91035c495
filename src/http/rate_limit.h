// SPDX-License-Identifier: Apache-2.0
// RateLimiter: how many requests each API key may send. Every key has a bucket that holds the requests of one minute and
// fills evenly, so a quiet key may send a minute's worth at once.
//
// Threads: every call may be made from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace dormouse::http {

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: no limit.
  explicit RateLimiter(std::uint32_t requests_per_minute) : limit_(requests_per_minute) {}

  struct Verdict {
    bool allowed = true;
    std::uint32_t limit = 0;
    std::uint32_t remaining = 0;
    std::int64_t reset_ms = 0;  // until the bucket is full
    std::int64_t retry_ms = 0;  // until the next request would be allowed
  };
  // Counts a request of that key.
  Verdict Count(const std::string& key_id, Clock::time_point now = Clock::now());

  bool enabled() const { return limit_ > 0; }

 private:
  struct Bucket {
    double requests = 0;  // that it holds
    Clock::time_point filled;
  };

  const std::uint32_t limit_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;  // of keys that exist or existed: few
};

}  // namespace dormouse::http
