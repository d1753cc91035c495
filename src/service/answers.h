// SPDX-License-Identifier: Apache-2.0
// Answers: which requests have a stored answer, and which of these must go. The answers themselves are in the store.
//
// Threads: all calls from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "service/types.h"
#include "store/store.h"

namespace dormouse::service {

inline constexpr std::int64_t kAnswerLifetimeMs = 24ll * 3600 * 1000;
// Larger bodies are not kept.
inline constexpr std::size_t kMaxAnswerBody = 1u << 20;

class Answers {
 public:
  // `max_bytes` bounds all answers together; over it the oldest go first.
  Answers(std::uint64_t max_bytes, const std::vector<store::AnswerInfo>& stored);

  // False: there certainly is none. True: the store may have one.
  bool MayHave(const Sha256Digest& scope) const;
  // Makes `answer` part of `transaction`, and with it the removal of what it displaces.
  void AddTo(store::Transaction& transaction, StoredAnswer answer, std::int64_t now_ms);
  // Up to `limit` that are too old, for a transaction that drops them.
  std::vector<Sha256Digest> TakeExpired(std::int64_t now_ms, std::size_t limit);

 private:
  struct Record {
    Sha256Digest scope;
    std::uint64_t bytes = 0;
    std::int64_t completed_ms = 0;
    std::uint64_t serial = 0;
  };
  // Both require mutex_.
  void Remember(const Sha256Digest& scope, std::uint64_t bytes, std::int64_t completed_ms);
  // Removes the oldest; true if it was still the answer of its scope.
  bool PopOldest();

  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::deque<Record> records_;                                       // oldest first
  std::unordered_map<Sha256Digest, std::uint64_t, Sha256Hash> newest_;  // the serial of each scope's record
  std::uint64_t bytes_ = 0;
  std::uint64_t next_serial_ = 1;
};

}  // namespace dormouse::service
