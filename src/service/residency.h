// SPDX-License-Identifier: Apache-2.0
// Residency: which contexts have a worker, how much memory these use, and in which order they may lose it.
//
// It only counts and orders. Who evicts asks for candidates, tries each (a busy context or one whose memory could not be
// saved is passed over), and stops when enough is gone. If all are busy the budget is exceeded for as long as they are.
//
// Threads: all calls from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dormouse::service {

struct ContextState;

class Residency {
 public:
  using Clock = std::chrono::steady_clock;

  // The context has a worker that uses `bytes`, and was used now.
  void Use(const std::shared_ptr<ContextState>& context, std::uint64_t bytes, Clock::time_point now);
  void Remove(const ContextState* context);

  std::size_t count() const;
  std::uint64_t bytes() const;

  // Least recently used first. `idle`: only those not used since then.
  std::vector<std::shared_ptr<ContextState>> Oldest() const;
  std::vector<std::shared_ptr<ContextState>> IdleSince(Clock::time_point then) const;

 private:
  struct Entry {
    std::shared_ptr<ContextState> context;
    std::uint64_t bytes = 0;
    Clock::time_point used;
  };
  std::vector<Entry> Sorted() const;

  mutable std::mutex mutex_;
  std::unordered_map<const ContextState*, Entry> entries_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dormouse::service
