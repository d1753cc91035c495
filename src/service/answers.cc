// SPDX-License-Identifier: Apache-2.0
#include "service/answers.h"

#include <algorithm>

namespace dormouse::service {
namespace {

// What a record is counted with at least: its row, and its place in memory.
constexpr std::uint64_t kMinRecordBytes = 1024;

}  // namespace

Answers::Answers(std::uint64_t max_bytes, const std::vector<store::AnswerInfo>& stored)
    : max_bytes_(max_bytes) {
  for (const store::AnswerInfo& info : stored) Remember(info.scope, info.bytes, info.completed_ms);
}

bool Answers::MayHave(const Sha256Digest& scope) const {
  const std::lock_guard lock(mutex_);
  return newest_.contains(scope);
}

void Answers::AddTo(store::Transaction& transaction, StoredAnswer answer, std::int64_t now_ms) {
  if (answer.body.size() > kMaxAnswerBody) {
    answer.body.clear();
    answer.body_kept = false;
  }
  answer.completed_ms = now_ms;
  std::uint64_t bytes = answer.body.size();
  for (const auto& [name, value] : answer.headers) bytes += name.size() + value.size();
  const std::lock_guard lock(mutex_);
  Remember(answer.scope, bytes, now_ms);
  while (bytes_ > max_bytes_ && records_.size() > 1) {
    const Sha256Digest scope = records_.front().scope;
    if (PopOldest()) transaction.dropped_answers.push_back(scope);
  }
  transaction.answers.push_back(std::move(answer));
}

std::vector<Sha256Digest> Answers::TakeExpired(std::int64_t now_ms, std::size_t limit) {
  std::vector<Sha256Digest> expired;
  const std::lock_guard lock(mutex_);
  while (!records_.empty() && expired.size() < limit) {
    const Record& oldest = records_.front();
    if (now_ms - oldest.completed_ms < kAnswerLifetimeMs && bytes_ <= max_bytes_) break;
    const Sha256Digest scope = oldest.scope;
    if (PopOldest()) expired.push_back(scope);
  }
  return expired;
}

void Answers::Remember(const Sha256Digest& scope, std::uint64_t bytes, std::int64_t completed_ms) {
  const std::uint64_t counted = std::max(bytes, kMinRecordBytes);
  const std::uint64_t serial = next_serial_++;
  newest_[scope] = serial;
  records_.push_back({scope, counted, completed_ms, serial});
  bytes_ += counted;
}

bool Answers::PopOldest() {
  const Record oldest = records_.front();
  records_.pop_front();
  bytes_ -= oldest.bytes;
  const auto it = newest_.find(oldest.scope);
  if (it == newest_.end() || it->second != oldest.serial) return false;
  newest_.erase(it);
  return true;
}

}  // namespace dormouse::service
