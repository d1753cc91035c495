// SPDX-License-Identifier: Apache-2.0
#include "service/async.h"

#include <algorithm>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace dormouse::service {

namespace asio = boost::asio;

namespace {

// Wraps a completion handler so that it can be kept and called once, on its own executor, from any thread.
template <typename Handler>
std::function<void()> ResumeLater(Handler handler) {
  auto shared = std::make_shared<Handler>(std::move(handler));
  return [shared] {
    const auto executor = asio::get_associated_executor(*shared);
    asio::post(executor, [shared] { std::move (*shared)(); });
  };
}

}  // namespace

void Event::Set() {
  std::vector<std::function<void()>> waiters;
  {
    const std::lock_guard lock(mutex_);
    set_ = true;
    waiters.swap(waiters_);
  }
  for (const auto& waiter : waiters) waiter();
}

bool Event::IsSet() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

asio::awaitable<void> Event::Wait() {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
      [this](auto handler) {
        std::function<void()> resume = ResumeLater(std::move(handler));
        {
          const std::lock_guard lock(mutex_);
          if (!set_) {
            waiters_.push_back(std::move(resume));
            return;
          }
        }
        resume();
      },
      asio::use_awaitable);
}

FifoMutex::Ticket FifoMutex::Enqueue() {
  auto turn = std::make_shared<Event>();
  const std::lock_guard lock(mutex_);
  if (locked_) {
    waiting_.push_back(turn);
  } else {
    locked_ = true;
    turn->Set();
  }
  return Ticket(this, std::move(turn));
}

asio::awaitable<FifoMutex::Guard> FifoMutex::Ticket::Wait() {
  // The fast path saves a trip through the executor.
  if (!turn_->IsSet()) co_await turn_->Wait();
  turn_.reset();
  co_return Guard(mutex_);
}

FifoMutex::Ticket::~Ticket() {
  if (turn_) mutex_->Abandon(turn_);
}

void FifoMutex::Abandon(const std::shared_ptr<Event>& turn) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = std::find(waiting_.begin(), waiting_.end(), turn);
    if (it != waiting_.end()) {
      waiting_.erase(it);
      return;
    }
  }
  Unlock();
}

asio::awaitable<FifoMutex::Guard> FifoMutex::Lock() {
  Ticket ticket = Enqueue();
  co_return co_await ticket.Wait();
}

std::optional<FifoMutex::Guard> FifoMutex::TryLock() {
  const std::lock_guard lock(mutex_);
  if (locked_) return std::nullopt;
  locked_ = true;
  return Guard(this);
}

std::size_t FifoMutex::Length() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + (locked_ ? 1 : 0);
}

void FifoMutex::Unlock() {
  std::shared_ptr<Event> next;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      locked_ = false;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next->Set();
}

asio::awaitable<void> Sleep(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> RunOnPool(asio::thread_pool& pool, std::function<void()> work) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
      [&pool](auto handler, std::function<void()> moved) {
        asio::post(pool, [work = std::move(moved), resume = ResumeLater(std::move(handler))] {
          work();
          resume();
        });
      },
      asio::use_awaitable, std::move(work));
}

void Signal::Notify() {
  std::vector<std::weak_ptr<Event>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners.swap(listeners_);
  }
  for (const std::weak_ptr<Event>& listener : listeners) {
    if (const std::shared_ptr<Event> event = listener.lock()) event->Set();
  }
}

Signal::Listener Signal::Listen() {
  auto event = std::make_shared<Event>();
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const std::weak_ptr<Event>& other) { return other.expired(); });
  listeners_.push_back(event);
  return Listener(std::move(event));
}

asio::awaitable<void> Signal::Listener::WaitFor(std::chrono::milliseconds patience) {
  // On a strand of its own: the timer is cancelled from wherever this coroutine goes on.
  const auto strand = asio::make_strand(co_await asio::this_coro::executor);
  auto timer = std::make_shared<asio::steady_timer>(strand, patience);
  timer->async_wait([event = event_, timer](const boost::system::error_code&) { event->Set(); });
  co_await event_->Wait();
  asio::post(strand, [timer] { timer->cancel(); });
}

}  // namespace dormouse::service
