// SPDX-License-Identifier: Apache-2.0
#include "http/rate_limit.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using std::chrono::milliseconds;

const RateLimiter::Clock::time_point kStart{std::chrono::hours(5)};

TEST(RateLimiter, AllowsAMinutesWorthAtOnceAndThenEvenly) {
  RateLimiter limiter(60);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const auto verdict = limiter.Count("key", kStart);
    EXPECT_TRUE(verdict.allowed);
    EXPECT_EQ(verdict.limit, 60u);
    EXPECT_EQ(verdict.remaining, 59 - i);
  }
  const auto refused = limiter.Count("key", kStart);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_ms, 1'000);
  EXPECT_EQ(refused.reset_ms, 60'000);
  EXPECT_FALSE(limiter.Count("key", kStart + milliseconds(999)).allowed);
  EXPECT_TRUE(limiter.Count("key", kStart + milliseconds(1'000)).allowed);
  EXPECT_FALSE(limiter.Count("key", kStart + milliseconds(1'001)).allowed);
}

TEST(RateLimiter, NeverHoldsMoreThanAMinutesWorth) {
  RateLimiter limiter(2);
  EXPECT_TRUE(limiter.Count("key", kStart).allowed);
  const auto later = kStart + std::chrono::hours(1);
  EXPECT_EQ(limiter.Count("key", later).remaining, 1u);
  EXPECT_EQ(limiter.Count("key", later).remaining, 0u);
  EXPECT_FALSE(limiter.Count("key", later).allowed);
}

TEST(RateLimiter, KeysDoNotTouchEachOther) {
  RateLimiter limiter(1);
  EXPECT_TRUE(limiter.Count("a", kStart).allowed);
  EXPECT_FALSE(limiter.Count("a", kStart).allowed);
  EXPECT_TRUE(limiter.Count("b", kStart).allowed);
}

TEST(RateLimiter, ZeroIsNoLimit) {
  RateLimiter limiter(0);
  EXPECT_FALSE(limiter.enabled());
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(limiter.Count("a", kStart).allowed);
}

}  // namespace
}  // namespace dormouse::http
