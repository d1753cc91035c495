// SPDX-License-Identifier: Apache-2.0
#include "worker/run_control.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace dormouse::worker {
namespace {

constexpr std::chrono::milliseconds kRepeatStop{10};
constexpr int kMostGrace = 5;
constexpr std::chrono::hours kLongAway{24};

}  // namespace

RunControl::RunControl(ServerLink& link, OutputBuffer& output)
    : link_(link), output_(output), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ::pthread_getcpuclockid(::pthread_self(), &guest_cpu_clock_);
}

Result<void> RunControl::Start() {
  if (!wake_.valid()) return SystemError("eventfd", errno);
  // Signals are the guest thread's: a new thread inherits the mask under which it is made.
  sigset_t all, previous;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  std::thread([this] {
    running_.count_down();
    Loop();
  }).detach();
  // A thread that begins makes system calls that the filter, which comes next, does not allow.
  running_.wait();
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return {};
}

std::chrono::nanoseconds RunControl::GuestCpu() const {
  timespec time{};
  ::clock_gettime(guest_cpu_clock_, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::microseconds RunControl::CpuSinceBegin() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(GuestCpu() - cpu_start_);
}

void RunControl::Begin(engine::GuestThread& thread, wasi::Wasi& wasi, std::uint64_t token,
                       const Limits& limits) {
  cpu_start_ = GuestCpu();
  {
    const std::lock_guard lock(mutex_);
    run_ = Run{.thread = &thread,
               .wasi = &wasi,
               .token = token,
               .limits = limits,
               .deadline = Clock::now() + limits.timeout,
               .cpu_start = cpu_start_};
  }
  Wake();
}

StopReason RunControl::End() {
  const std::lock_guard lock(mutex_);
  const StopReason reason = run_ ? run_->reason : StopReason::kNone;
  run_.reset();
  return reason;
}

void RunControl::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void RunControl::Stop(Run& run, StopReason reason, Clock::time_point now) {
  if (run.reason != StopReason::kNone) return;
  run.reason = reason;
  run.stop_at = now;
  run.cpu_at_stop = GuestCpu();
  run.next_signal = now;
}

RunControl::Clock::time_point RunControl::Supervise(Clock::time_point now) {
  Clock::time_point next = now + kLongAway;
  if (output_.pending()) next = now + OutputBuffer::kFlushAfter;
  const std::lock_guard lock(mutex_);
  if (!run_) return next;
  Run& run = *run_;
  if (run.reason == StopReason::kNone) {
    if (now >= run.deadline) Stop(run, StopReason::kTimeout, now);
    next = std::min(next, run.deadline);
    if (run.limits.fuel.count() > 0) {
      const std::chrono::nanoseconds left = run.limits.fuel - (GuestCpu() - run.cpu_start);
      if (left.count() <= 0) Stop(run, StopReason::kFuel, now);
      // CPU time passes no faster than time.
      next = std::min(next, now + left);
    }
    // While something runs, output that comes later is looked for as well.
    next = std::min(next, now + 2 * OutputBuffer::kFlushAfter);
  }
  if (run.reason != StopReason::kNone) {
    if (now >= run.next_signal) {
      // The grace is meant for the guest's own use: on a machine that has no time for it, it counts slower.
      const bool hard = GuestCpu() - run.cpu_at_stop >= run.limits.grace ||
                        now - run.stop_at >= kMostGrace * run.limits.grace;
      run.wasi->Interrupt();
      run.thread->RequestStop(run.token, hard ? engine::StopMode::kHard : engine::StopMode::kSoft);
      run.next_signal = now + kRepeatStop;
    }
    next = std::min(next, run.next_signal);
  }
  return next;
}

void RunControl::Loop() {
  while (true) {
    output_.FlushIfDue();
    const Clock::time_point now = Clock::now();
    const std::chrono::nanoseconds wait = std::max(Supervise(now) - now, Clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (wait - seconds).count()};
    pollfd events[] = {{link_.socket(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::ppoll(events, 2, &timeout, nullptr);
    if (events[1].revents != 0) {
      std::uint64_t ignored;
      [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &ignored, sizeof ignored);
    }
    if (events[0].revents == 0) continue;
    for (const protocol::Interrupt& interrupt : link_.ReadAvailable()) {
      const std::lock_guard lock(mutex_);
      if (run_) Stop(*run_, static_cast<StopReason>(interrupt.reason), Clock::now());
    }
  }
}

}  // namespace dormouse::worker
