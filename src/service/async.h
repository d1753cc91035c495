// SPDX-License-Identifier: Apache-2.0
// Small pieces that coroutines wait on: a one-time event, a lock that is granted in order of arrival, work on a pool.
//
// None of them reacts to cancellation: what the service has begun it ends, whoever still waits for it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace dormouse::service {

// An event that happens once. Waiting after it returns at once.
//
// Threads: all calls from any thread. Owner: must outlive its waiters.
class Event {
 public:
  void Set();
  bool IsSet() const;
  boost::asio::awaitable<void> Wait();

 private:
  mutable std::mutex mutex_;
  bool set_ = false;
  std::vector<std::function<void()>> waiters_;
};

// Something that happens now and then: whoever waits is woken, and looks for himself what happened.
//
// Threads: all calls from any thread. Owner: must outlive its waiters.
class Signal {
 public:
  void Notify();
  // Takes part from here on: a Notify before the wait is not missed.
  class Listener {
   public:
    // Waits for a Notify since the listener was made, at most `patience`. Once.
    boost::asio::awaitable<void> WaitFor(std::chrono::milliseconds patience);

   private:
    friend class Signal;
    explicit Listener(std::shared_ptr<Event> event) : event_(std::move(event)) {}
    std::shared_ptr<Event> event_;
  };
  Listener Listen();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Event>> listeners_;
};

// A lock whose holders are served in the order in which they queued.
//
// Threads: all calls from any thread; a Guard may be released on another thread than it was granted on.
class FifoMutex {
 public:
  class Guard {
   public:
    Guard() = default;
    explicit Guard(FifoMutex* mutex) : mutex_(mutex) {}
    ~Guard() { Release(); }
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    Guard& operator=(Guard&& other) noexcept {
      if (this != &other) {
        Release();
        mutex_ = std::exchange(other.mutex_, nullptr);
      }
      return *this;
    }
    void Release() {
      if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->Unlock();
    }

   private:
    FifoMutex* mutex_ = nullptr;
  };

  // A place in the queue. Giving it up is passing it on.
  class Ticket {
   public:
    Ticket(Ticket&&) = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket();
    // Waits for the turn. Once.
    boost::asio::awaitable<Guard> Wait();

   private:
    friend class FifoMutex;
    Ticket(FifoMutex* mutex, std::shared_ptr<Event> turn) : mutex_(mutex), turn_(std::move(turn)) {}
    FifoMutex* mutex_;
    std::shared_ptr<Event> turn_;  // nothing once used
  };

  Ticket Enqueue();
  boost::asio::awaitable<Guard> Lock();
  // Only if nobody holds it or waits for it.
  std::optional<Guard> TryLock();
  // Holders and waiters.
  std::size_t Length() const;

 private:
  void Unlock();
  void Abandon(const std::shared_ptr<Event>& turn);

  mutable std::mutex mutex_;
  bool locked_ = false;
  std::deque<std::shared_ptr<Event>> waiting_;
};

// Waits without holding anything up.
boost::asio::awaitable<void> Sleep(std::chrono::milliseconds time);

// Runs `work` on `pool` and goes on where the coroutine was. What `work` refers to may live in the coroutine.
boost::asio::awaitable<void> RunOnPool(boost::asio::thread_pool& pool, std::function<void()> work);

// The same for work that has a value. For what blocks on disks or takes long.
template <typename Work>
boost::asio::awaitable<std::invoke_result_t<Work>> OnPool(boost::asio::thread_pool& pool, Work work) {
  std::optional<std::invoke_result_t<Work>> value;
  co_await RunOnPool(pool, [&value, &work] { value.emplace(work()); });
  co_return std::move(*value);
}

}  // namespace dormouse::service
