// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>

#include "wasi/test_support.h"

namespace dormouse::wasi {
namespace {

constexpr u32 kIn = 1024;
constexpr u32 kOut = 4096;
constexpr u32 kCount = 64;

// A guest whose clocks are real, since it really waits.
class PollTest : public testing::Test {
 protected:
  PollTest() : memory_(65536) {
    WasiOptions options{.memory = GuestMemory(memory_.data(), &pages_)};
    options.output = &output_;
    options.on_exit = [](void*, std::uint32_t) {};
    wasi_.emplace(std::move(options));
  }

  void Clock(u32 index, u64 userdata, u32 clock, u64 timeout, std::uint16_t flags = 0) {
    Set(index, 0, userdata);
    Set(index, 8, std::uint8_t{0});
    Set(index, 16, clock);
    Set(index, 24, timeout);
    Set(index, 40, flags);
  }
  void Fd(u32 index, u64 userdata, std::uint8_t tag, u32 fd) {
    Set(index, 0, userdata);
    Set(index, 8, tag);
    Set(index, 16, fd);
  }
  template <typename T>
  void Set(u32 index, u32 offset, T value) {
    std::memcpy(memory_.data() + kIn + index * 48 + offset, &value, sizeof value);
  }
  template <typename T>
  T Event(u32 index, u32 offset) {
    T value;
    std::memcpy(&value, memory_.data() + kOut + index * 32 + offset, sizeof value);
    return value;
  }
  Errno Poll(u32 count) { return static_cast<Errno>(PollOneoff(*wasi_, kIn, kOut, count, kCount)); }
  u32 Events() {
    u32 count;
    std::memcpy(&count, memory_.data() + kCount, sizeof count);
    return count;
  }
  static double SecondsOf(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::uint32_t pages_ = 1;
  std::vector<std::byte> memory_;
  FakeOutput output_;
  std::optional<Wasi> wasi_;
};

constexpr u64 kMillisecond = 1'000'000;
constexpr u64 kHour = u64{3600} * 1000 * kMillisecond;

TEST_F(PollTest, ATimerRingsAfterItsTimeAndOnlyThatTimer) {
  Clock(0, 7, 1, kHour);
  Clock(1, 8, 1, 20 * kMillisecond);
  const double seconds = SecondsOf([&] { EXPECT_EQ(Poll(2), Errno::kSuccess); });
  EXPECT_GE(seconds, 0.02);
  EXPECT_LT(seconds, 5);
  ASSERT_EQ(Events(), 1u);
  EXPECT_EQ(Event<u64>(0, 0), 8u);
  EXPECT_EQ(Event<std::uint16_t>(0, 8), 0u);
}

TEST_F(PollTest, AbsoluteTimesCountOnTheGuestsClocks) {
  const auto monotonic = static_cast<u64>(wasi_->clock().MonotonicNs());
  const auto realtime = static_cast<u64>(wasi_->clock().RealtimeNs());
  for (const auto& [clock, now] : {std::pair{1u, monotonic}, {0u, realtime}}) {
    Clock(0, 1, clock, now + 20 * kMillisecond, 1);
    EXPECT_LT(SecondsOf([&] { EXPECT_EQ(Poll(1), Errno::kSuccess); }), 5);
    EXPECT_EQ(Events(), 1u);
    Clock(0, 1, clock, now - 500 * 1000 * kMillisecond, 1);
    EXPECT_LT(SecondsOf([&] { EXPECT_EQ(Poll(1), Errno::kSuccess); }), 1);
    EXPECT_EQ(Events(), 1u);
  }
}

TEST_F(PollTest, FilesAreReadyAtOnceAndTheTimerIsNotReported) {
  wasi_->BeginRun("hello");
  Clock(0, 1, 1, kHour);
  Fd(1, 2, 1, 0);
  Fd(2, 3, 2, 1);
  EXPECT_LT(SecondsOf([&] { EXPECT_EQ(Poll(3), Errno::kSuccess); }), 1);
  ASSERT_EQ(Events(), 2u);
  EXPECT_EQ(Event<u64>(0, 0), 2u);
  EXPECT_EQ(Event<u64>(0, 16), 5u);
  EXPECT_EQ(Event<std::uint16_t>(0, 24), 0u);
  EXPECT_EQ(Event<u64>(1, 0), 3u);
  wasi_->BeginRun("");
  Fd(0, 2, 1, 0);
  EXPECT_EQ(Poll(1), Errno::kSuccess);
  EXPECT_EQ(Event<std::uint16_t>(0, 24), 1u) << "hangup at the end of input";
}

TEST_F(PollTest, BadSubscriptionsAreReportedOneByOne) {
  Fd(0, 5, 1, 99);
  Clock(1, 6, 2, 10);
  ASSERT_EQ(Poll(2), Errno::kSuccess);
  ASSERT_EQ(Events(), 2u);
  EXPECT_EQ(Event<std::uint16_t>(0, 8), static_cast<u32>(Errno::kBadFile));
  EXPECT_EQ(Event<std::uint16_t>(1, 8), static_cast<u32>(Errno::kInvalid));
  EXPECT_EQ(Poll(0), Errno::kInvalid);
  Fd(0, 5, 9, 0);
  EXPECT_EQ(Poll(1), Errno::kInvalid);
  EXPECT_EQ(Poll(1400), Errno::kFault);
}

TEST_F(PollTest, AnInterruptFromAnotherThreadEndsTheWait) {
  Clock(0, 1, 1, kHour);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    wasi_->Interrupt();
  });
  EXPECT_LT(SecondsOf([&] { EXPECT_EQ(Poll(1), Errno::kInterrupted); }), 10);
  other.join();
  // It counts once.
  Clock(0, 1, 1, kMillisecond);
  EXPECT_EQ(Poll(1), Errno::kSuccess);
}

TEST_F(PollTest, AnInterruptBeforeTheWaitIsNotLost) {
  wasi_->Interrupt();
  Clock(0, 1, 1, kHour);
  EXPECT_LT(SecondsOf([&] { EXPECT_EQ(Poll(1), Errno::kInterrupted); }), 10);
  wasi_->Interrupt();
  wasi_->BeginRun("");
  Clock(0, 1, 1, kMillisecond);
  EXPECT_EQ(Poll(1), Errno::kSuccess) << "a new run forgets it";
}

Wasi* interrupted_by_signal = nullptr;

TEST_F(PollTest, AnInterruptFromASignalHandlerOnTheGuestsThreadEndsTheWait) {
  interrupted_by_signal = &*wasi_;
  struct sigaction action{};
  struct sigaction previous{};
  action.sa_handler = [](int) { interrupted_by_signal->Interrupt(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &previous), 0);
  const pthread_t self = ::pthread_self();
  std::thread other([self] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::pthread_kill(self, SIGUSR1);
  });
  Clock(0, 1, 1, kHour);
  EXPECT_LT(SecondsOf([&] { EXPECT_EQ(Poll(1), Errno::kInterrupted); }), 10);
  other.join();
  ::sigaction(SIGUSR1, &previous, nullptr);
}

TEST_F(PollTest, HugeTimeoutsDoNotOverflow) {
  wasi_->Interrupt();
  Clock(0, 1, 1, ~u64{0});
  EXPECT_EQ(Poll(1), Errno::kInterrupted);
  wasi_->Interrupt();
  Clock(0, 1, 0, ~u64{0}, 1);
  EXPECT_EQ(Poll(1), Errno::kInterrupted);
}

}  // namespace
}  // namespace dormouse::wasi
