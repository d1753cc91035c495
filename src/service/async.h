// SPDX-License-Identifier: Apache-2.0
// Small pieces that coroutines wait on: a one-time event, a lock that is granted in order of arrival, work on a pool.
//
// None of them reacts to cancellation: what the service has begun it ends, whoever still waits for it.
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
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

// Wraps a completion handler so that it can be kept and called once, on its own executor, from any thread.
template <typename... Values, typename Handler>
std::function<void(Values...)> ResumeLater(Handler handler) {
  auto shared = std::make_shared<Handler>(std::move(handler));
  return [shared](Values... values) {
    const auto executor = boost::asio::get_associated_executor(*shared);
    boost::asio::post(executor, [shared, ... values = std::move(values)]() mutable {
      std::move (*shared)(std::move(values)...);
    });
  };
}

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

// Runs `work` on `pool`, for what blocks on disks or takes long; the coroutine goes on where it was.
template <typename Work>
boost::asio::awaitable<std::invoke_result_t<Work>> OnPool(boost::asio::thread_pool& pool, Work work) {
  using Value = std::invoke_result_t<Work>;
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(Value)>(
      [&pool](auto handler, Work moved) {
        auto state = std::make_shared<std::pair<decltype(handler), Work>>(std::move(handler),
                                                                         std::move(moved));
        boost::asio::post(pool, [state] {
          auto value = std::make_shared<Value>(state->second());
          const auto executor = boost::asio::get_associated_executor(state->first);
          boost::asio::post(executor, [state, value]() mutable {
            std::move(state->first)(std::move(*value));
          });
        });
      },
      boost::asio::use_awaitable, std::move(work));
}

}  // namespace dormouse::service
