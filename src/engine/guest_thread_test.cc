// SPDX-License-Identifier: Apache-2.0
#include "engine/guest_thread.h"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <thread>

#include "engine/host_call.h"
#include "engine/test_guest.h"

namespace dormouse::engine {
namespace {

constexpr std::uint32_t kStackBytes = 4 << 20;

struct Host {
  std::function<std::uint32_t(std::uint32_t)> answer;
};
std::uint32_t Ask(Host& host, std::uint32_t question) { return host.answer(question); }

struct CountsDestruction {
  int& count;
  ~CountsDestruction() { ++count; }
};

// Repeats a request until the run is over, as the owner of a run must.
class Stopper {
 public:
  Stopper(const GuestThread& guest, std::uint64_t token, StopMode mode)
      : thread_([this, &guest, token, mode] {
          while (!done_) {
            guest.RequestStop(token, mode);
            std::this_thread::yield();
          }
        }) {}
  ~Stopper() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class GuestThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    auto module = EngineModule::FromTable(engine_);
    ASSERT_TRUE(module.ok());
    module_.emplace(std::move(module).value());
    auto memory = LinearMemory::Reserve(test_guest::kBase, &test_guest::pages);
    ASSERT_TRUE(memory.ok()) << memory.error().message;
    memory_.emplace(std::move(memory).value());
    ASSERT_TRUE(memory_->MapImage(-1, 0, 1).ok());
    const HostFunction functions[] = {MakeHostFunction<&Ask>("test", "ask")};
    ASSERT_TRUE(module_->BindImports(functions, &host_).ok());
    auto guest = GuestThread::Create(*module_, *memory_, {.stack_bytes = kStackBytes});
    ASSERT_TRUE(guest.ok()) << guest.error().message;
    guest_ = std::move(guest).value();
  }

  const DormouseEngine engine_ = test_guest::MakeEngine();
  std::optional<EngineModule> module_;
  std::optional<LinearMemory> memory_;
  Host host_{[](std::uint32_t question) { return question; }};
  std::unique_ptr<GuestThread> guest_;
};

TEST_F(GuestThreadTest, ReturnsTheResult) {
  std::uint32_t sum = 0;
  EXPECT_FALSE(guest_->Call(&test_guest::Add, &sum, 2u, 3u));
  EXPECT_EQ(sum, 5u);
}

TEST_F(GuestThreadTest, RunsOnAStackOfItsOwn) {
  std::uintptr_t inside = 0;
  EXPECT_FALSE(
      guest_->Run([&] { inside = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }));
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  EXPECT_GT(inside > here ? inside - here : here - inside, std::uintptr_t{1} << 20);
}

TEST_F(GuestThreadTest, StrayAccessesTrapWithTheirOffset) {
  std::uint32_t value = 77;
  Trap trap = guest_->Call(&test_guest::Load, &value, 65536u);
  EXPECT_EQ(trap.kind, DORMOUSE_TRAP_OUT_OF_BOUNDS);
  EXPECT_EQ(trap.memory_offset, 65536u);
  EXPECT_EQ(value, 77u);
  trap = guest_->Call(&test_guest::Store, UINT32_MAX, 1u);
  EXPECT_EQ(trap.kind, DORMOUSE_TRAP_OUT_OF_BOUNDS);
  EXPECT_EQ(trap.memory_offset, UINT32_MAX);
}

TEST_F(GuestThreadTest, GoesOnWorkingAfterATrap) {
  for (int i = 0; i < 1000; ++i) {
    std::uint32_t value = 0;
    ASSERT_TRUE(guest_->Call(&test_guest::Load, &value, 65536u));
    ASSERT_FALSE(guest_->Call(&test_guest::Load, &value, 65532u));
  }
}

TEST_F(GuestThreadTest, InstructionsThatTrapAreToldApart) {
  EXPECT_EQ(guest_->Call(&test_guest::Ud2).kind, DORMOUSE_TRAP_UNREACHABLE);
  EXPECT_EQ(guest_->Call(&test_guest::Ud1OfOverflow).kind, DORMOUSE_TRAP_INTEGER_OVERFLOW);
  EXPECT_EQ(guest_->Call(&test_guest::TrapSlot).kind, DORMOUSE_TRAP_OUT_OF_FUEL);
  std::uint32_t quotient = 0;
  EXPECT_EQ(guest_->Call(&test_guest::HardwareDivide, &quotient, 1u, 0u).kind,
            DORMOUSE_TRAP_DIVIDE_BY_ZERO);
}

TEST_F(GuestThreadTest, EndlessRecursionIsAStackOverflow) {
  std::uint32_t value = 0;
  EXPECT_EQ(guest_->Call(&test_guest::Recurse, &value, 1u << 20).kind,
            DORMOUSE_TRAP_STACK_OVERFLOW);
  EXPECT_FALSE(guest_->Call(&test_guest::Recurse, &value, 100u));
}

TEST_F(GuestThreadTest, ImportsAreNotEnteredWithoutStackForThem) {
  int entered = 0;
  host_.answer = [&](std::uint32_t) { return static_cast<std::uint32_t>(++entered); };
  std::uint32_t value = 0;
  constexpr std::uint32_t kUsable = kStackBytes - kHostStackBytes;
  EXPECT_FALSE(guest_->Call(&test_guest::AskFromDeep, &value, kUsable - 8192));
  EXPECT_EQ(entered, 1);
  EXPECT_EQ(guest_->Call(&test_guest::AskFromDeep, &value, kUsable).kind,
            DORMOUSE_TRAP_STACK_OVERFLOW);
  EXPECT_EQ(entered, 1);
}

TEST_F(GuestThreadTest, AnImportLeavesAfterItsDestructorsHaveRun) {
  int destroyed = 0;
  host_.answer = [&](std::uint32_t) {
    const CountsDestruction local{destroyed};
    EscapeAfterHostCall(DORMOUSE_TRAP_EXIT);
    return 5u;
  };
  std::uint32_t value = 77;
  EXPECT_EQ(guest_->Call(&test_guest::Ask, &value, 1u).kind, DORMOUSE_TRAP_EXIT);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(value, 77u);
  host_.answer = [](std::uint32_t question) { return question + 1; };
  EXPECT_FALSE(guest_->Call(&test_guest::Ask, &value, 1u));
  EXPECT_EQ(value, 2u);
}

TEST_F(GuestThreadTest, OnlyOneMayExist) {
  EXPECT_FALSE(GuestThread::Create(*module_, *memory_).ok());
  guest_.reset();
  EXPECT_TRUE(GuestThread::Create(*module_, *memory_).ok());
}

TEST_F(GuestThreadTest, SignalDispositionsArePutBack) {
  struct sigaction action{};
  sigaction(SIGSEGV, nullptr, &action);
  EXPECT_NE(action.sa_sigaction, nullptr);
  guest_.reset();
  sigaction(SIGSEGV, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

using GuestThreadDeathTest = GuestThreadTest;

TEST_F(GuestThreadDeathTest, FaultsOfTheHostAreNotTraps) {
  host_.answer = [](std::uint32_t) { return *test_guest::Word(65536); };
  std::uint32_t value = 0;
  EXPECT_EXIT((void)guest_->Call(&test_guest::Ask, &value, 1u), testing::KilledBySignal(SIGSEGV),
              "");
  EXPECT_EXIT((void)test_guest::Load(65536), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(GuestThreadDeathTest, FaultsElsewhereAndUnknownInstructionsAreNotTraps) {
  EXPECT_EXIT((void)guest_->Run([] { *reinterpret_cast<volatile int*>(16) = 1; }),
              testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT((void)guest_->Call(&test_guest::Ud1OfNothing), testing::KilledBySignal(SIGILL), "");
}

TEST_F(GuestThreadDeathTest, SentFaultSignalsKill) {
  EXPECT_EXIT((void)guest_->Run([] { raise(SIGSEGV); }), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(GuestThreadDeathTest, NestedRunsAbort) {
  host_.answer = [&](std::uint32_t) {
    std::uint32_t sum = 0;
    (void)guest_->Call(&test_guest::Add, &sum, 1u, 1u);
    return sum;
  };
  std::uint32_t value = 0;
  EXPECT_EXIT((void)guest_->Call(&test_guest::Ask, &value, 1u), testing::KilledBySignal(SIGABRT),
              "");
}

TEST_F(GuestThreadTest, ASoftStopWritesTheInterruptTable) {
  guest_->SetInterruptTable({{128, 4, InterruptOperation::kStore, 9}});
  const std::uint64_t token = guest_->Arm();
  EXPECT_FALSE(guest_->StopRequested());
  const Stopper stopper(*guest_, token, StopMode::kSoft);
  std::uint32_t value = 0;
  EXPECT_FALSE(guest_->Call(&test_guest::SpinWhileZero, &value, 128u));
  EXPECT_EQ(value, 9u);
  EXPECT_TRUE(guest_->StopRequested());
}

TEST_F(GuestThreadTest, AHardStopLeavesGuestCodeAtOnce) {
  const std::uint64_t token = guest_->Arm();
  const Stopper stopper(*guest_, token, StopMode::kHard);
  std::uint32_t value = 0;
  EXPECT_EQ(guest_->Call(&test_guest::SpinWhileZero, &value, 128u).kind, DORMOUSE_TRAP_STOPPED);
}

TEST_F(GuestThreadTest, AHardStopWaitsForTheImportToEnd) {
  const std::uint64_t token = guest_->Arm();
  int destroyed = 0;
  host_.answer = [&](std::uint32_t) {
    const CountsDestruction local{destroyed};
    guest_->RequestStop(token, StopMode::kHard);  // to this very thread
    return 1u;
  };
  std::uint32_t value = 77;
  EXPECT_EQ(guest_->Call(&test_guest::Ask, &value, 1u).kind, DORMOUSE_TRAP_STOPPED);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(value, 77u);
}

TEST_F(GuestThreadTest, AHardStopBeforeTheGuestRunsLeavesAtItsFirstInstruction) {
  const std::uint64_t token = guest_->Arm();
  EXPECT_TRUE(guest_->RequestStop(token, StopMode::kHard));
  std::uint32_t value = 77;
  EXPECT_EQ(guest_->Call(&test_guest::Add, &value, 1u, 2u).kind, DORMOUSE_TRAP_STOPPED);
  EXPECT_EQ(value, 77u);
}

TEST_F(GuestThreadTest, ALateStopDoesNotHitTheNextRun) {
  const std::uint64_t old_token = guest_->Arm();
  guest_->Disarm();
  EXPECT_TRUE(guest_->RequestStop(old_token, StopMode::kHard));
  std::uint32_t value = 0;
  EXPECT_FALSE(guest_->Call(&test_guest::Add, &value, 1u, 2u));
  const std::uint64_t token = guest_->Arm();
  EXPECT_NE(token, old_token);
  EXPECT_TRUE(guest_->RequestStop(old_token, StopMode::kHard));
  EXPECT_FALSE(guest_->Call(&test_guest::Add, &value, 1u, 2u));
  EXPECT_FALSE(guest_->StopRequested());
}

TEST_F(GuestThreadTest, ASoftRequestDoesNotReplaceAHardOne) {
  const std::uint64_t token = guest_->Arm();
  guest_->RequestStop(token, StopMode::kHard);
  guest_->RequestStop(token, StopMode::kSoft);
  std::uint32_t value = 0;
  EXPECT_EQ(guest_->Call(&test_guest::Add, &value, 1u, 2u).kind, DORMOUSE_TRAP_STOPPED);
}

TEST_F(GuestThreadTest, BlockingCallsOfImportsAreInterrupted) {
  const std::uint64_t token = guest_->Arm();
  int seen_errno = 0;
  host_.answer = [&](std::uint32_t) {
    const timespec long_time{3600, 0};
    if (nanosleep(&long_time, nullptr) != 0) seen_errno = errno;
    return 3u;
  };
  const Stopper stopper(*guest_, token, StopMode::kSoft);
  std::uint32_t value = 0;
  EXPECT_FALSE(guest_->Call(&test_guest::Ask, &value, 1u));
  EXPECT_EQ(seen_errno, EINTR);
  EXPECT_EQ(value, 3u);
}

// Hammers the borders between guest and host from another thread: each run must end as one of the
// two, with the import either not entered or run to its end.
TEST_F(GuestThreadTest, StopsAtAnyMomentEndInOneOfTwoWays) {
  int started = 0;
  int destroyed = 0;
  host_.answer = [&](std::uint32_t question) {
    ++started;
    const CountsDestruction local{destroyed};
    return question;
  };
  int stopped = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t token = guest_->Arm();
    std::atomic<bool> go{false};
    std::thread stopper([&] {
      while (!go) {
      }
      guest_->RequestStop(token, StopMode::kHard);
    });
    const Trap trap = guest_->Run([&] {
      go = true;
      for (;;) test_guest::Ask(1);
    });
    stopper.join();
    ASSERT_EQ(trap.kind, DORMOUSE_TRAP_STOPPED);
    ++stopped;
    ASSERT_EQ(started, destroyed);
    guest_->Disarm();
  }
  EXPECT_EQ(stopped, 200);
}

TEST_F(GuestThreadTest, ATrimmedStackIsUsableAgain) {
  std::uint32_t value = 0;
  EXPECT_FALSE(guest_->Call(&test_guest::Recurse, &value, 500u));
  guest_->TrimStack(64 << 10);
  EXPECT_FALSE(guest_->Call(&test_guest::Recurse, &value, 500u));
}

}  // namespace
}  // namespace dormouse::engine
