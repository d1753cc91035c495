// SPDX-License-Identifier: Apache-2.0
// RunRegistry: runs by id while they go on, and their results for ten minutes after, within bounds of count and bytes.
//
// Threads: all calls from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/result.h"
#include "service/types.h"

namespace dormouse::service {

class RunRegistry {
 public:
  using Clock = std::chrono::steady_clock;

  // `owner_id` is the sandbox of the run, or the project of a stateless one.
  void Begin(const std::string& run_id, const std::string& owner_id);
  void End(const std::string& run_id, std::shared_ptr<const Result<RunResult>> result,
           Clock::time_point now);
  // The result, or kNotFound; kConflict while the run goes on.
  Result<RunResult> Find(const std::string& run_id, const std::string& owner_id) const;
  // Empty when the run is not known (any more).
  std::string OwnerOf(const std::string& run_id) const;
  // Forgets results that are too old.
  void Expire(Clock::time_point now);

 private:
  struct Record {
    std::string owner_id;
    std::shared_ptr<const Result<RunResult>> result;  // nothing while it goes on
    std::uint64_t bytes = 0;
  };
  void ForgetOldest();

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Record> records_;
  std::deque<std::pair<Clock::time_point, std::string>> ended_;  // oldest first
  std::uint64_t bytes_ = 0;
};

}  // namespace dormouse::service
