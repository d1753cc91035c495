// SPDX-License-Identifier: Apache-2.0
// FifoMutex: a lock for coroutines that serves waiters in order of arrival.
//
// Threads: all calls on one strand (the executor given at construction).
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <memory>
#include <utility>

namespace dormouse::scheduler {

class FifoMutex {
 public:
  explicit FifoMutex(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

  class Guard {
   public:
    explicit Guard(FifoMutex* mutex) : mutex_(mutex) {}
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() {
      if (mutex_ != nullptr) mutex_->Release();
    }

   private:
    FifoMutex* mutex_;
  };

  boost::asio::awaitable<Guard> Lock() {
    if (locked_) {
      auto turn = std::make_shared<boost::asio::steady_timer>(
          strand_, boost::asio::steady_timer::time_point::max());
      waiters_.push_back(turn);
      co_await turn->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    locked_ = true;  // on a hand-over it still is
    co_return Guard(this);
  }

 private:
  void Release() {
    if (waiters_.empty()) {
      locked_ = false;
      return;
    }
    waiters_.front()->cancel();
    waiters_.pop_front();
  }

  boost::asio::any_io_executor strand_;
  std::deque<std::shared_ptr<boost::asio::steady_timer>> waiters_;
  bool locked_ = false;
};

}  // namespace dormouse::scheduler
