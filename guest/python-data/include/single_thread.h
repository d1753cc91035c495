// SPDX-License-Identifier: Apache-2.0
// What libc++ leaves out of the standard library where there are no threads, for code that can do without them and names
// them all the same. Nobody else is there, so every lock is free; and no thread can be started.
#pragma once
#include <mutex>
#include <system_error>
#include <thread>

namespace std {

class mutex {
 public:
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};

class recursive_mutex : public mutex {};

template <class Mutex>
class unique_lock {
 public:
  explicit unique_lock(Mutex&) {}
  unique_lock(const unique_lock&) = delete;
  unique_lock& operator=(const unique_lock&) = delete;
};

// Whoever waits is the last one that was waited for.
class condition_variable {
 public:
  void notify_all() {}
  void wait(unique_lock<mutex>&) {}
};

class thread {
 public:
  static unsigned hardware_concurrency() { return 1; }
  thread() = default;
  template <class Function, class... Arguments>
  explicit thread(Function&&, Arguments&&...) {
    throw system_error(make_error_code(errc::operation_not_supported));
  }
  void join() {}
};

}  // namespace std
