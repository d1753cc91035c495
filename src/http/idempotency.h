// SPDX-License-Identifier: Apache-2.0
// IdempotencyStore: answers already given, under the keys with which clients repeat a request.
//
// Kept in memory for 24 hours, at most 64 MiB and 100,000 answers; beyond that the oldest go first.
// Only successes are kept: after a failure the same key may try again.
//
// Threads: every call may be made from any thread. Owner: a shared_ptr; tickets share it, since
// runs outlive the requests that began them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

#include "common/result.h"
#include "common/sha256.h"
#include "http/message.h"

namespace dormouse::http {

class IdempotencyStore : public std::enable_shared_from_this<IdempotencyStore> {
 public:
  struct Answer {
    int status = 200;
    std::string content_type;
    HeaderList headers;
    std::string body;
  };
  using Clock = std::chrono::steady_clock;

  // The right to be the first with a key. Dropped without an answer, it makes the key new again.
  class Ticket {
   public:
    Ticket(std::shared_ptr<IdempotencyStore> store, std::string scope)
        : store_(std::move(store)), scope_(std::move(scope)) {}
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    // At most once.
    void Complete(Answer answer);

   private:
    const std::shared_ptr<IdempotencyStore> store_;
    const std::string scope_;
    bool completed_ = false;
  };

  // `scope` is everything in which two requests must agree to be the same key; `fingerprint`
  // everything in which they must agree to be the same request. Gives a ticket to the first, the
  // answer to those who repeat it.
  Result<std::variant<std::shared_ptr<Ticket>, Answer>> Begin(const std::string& scope,
                                                              const Sha256Digest& fingerprint,
                                                              Clock::time_point now = Clock::now());

 private:
  struct Record {
    Sha256Digest fingerprint;
    std::optional<Answer> answer;  // none: in progress
    std::uint64_t serial = 0;      // tells the record from a later one of the same scope
  };
  struct Age {
    Clock::time_point completed;
    std::string scope;
    std::uint64_t serial;
    std::size_t bytes;
  };

  void Store(const std::string& scope, Answer answer);
  void Forget(const std::string& scope);
  // Drops the answers that are too old or too many. Requires mutex_.
  void Trim(Clock::time_point now);

  std::mutex mutex_;  // guards all below
  std::unordered_map<std::string, Record> records_;
  std::deque<Age> ages_;  // answers, oldest first
  std::size_t bytes_ = 0;
  std::uint64_t next_serial_ = 1;
};

}  // namespace dormouse::http
