// SPDX-License-Identifier: Apache-2.0
#include "http/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace dormouse::http {
namespace {

constexpr double kMinuteMs = 60'000;

}  // namespace

RateLimiter::Verdict RateLimiter::Count(const std::string& key_id, Clock::time_point now) {
  Verdict verdict;
  verdict.limit = limit_;
  if (!enabled()) return verdict;
  const double limit = limit_;
  const double ms_per_request = kMinuteMs / limit;
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = buckets_.try_emplace(key_id, Bucket{limit, now});
  Bucket& bucket = place->second;
  const double passed_ms = std::chrono::duration<double, std::milli>(now - bucket.filled).count();
  bucket.requests = std::min(limit, bucket.requests + std::max(0.0, passed_ms) / ms_per_request);
  bucket.filled = std::max(bucket.filled, now);
  verdict.allowed = bucket.requests >= 1;
  if (verdict.allowed) bucket.requests -= 1;
  verdict.remaining = static_cast<std::uint32_t>(bucket.requests);
  verdict.reset_ms = std::llround(std::ceil((limit - bucket.requests) * ms_per_request));
  if (!verdict.allowed) {
    verdict.retry_ms = std::llround(std::ceil((1 - bucket.requests) * ms_per_request));
  }
  return verdict;
}

}  // namespace dormouse::http
