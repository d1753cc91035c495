// SPDX-License-Identifier: Apache-2.0
#include "http/idempotency.h"

namespace dormouse::http {
namespace {

constexpr std::chrono::hours kLifetime{24};
constexpr std::size_t kMaxBytes = 64u << 20;
constexpr std::size_t kMaxAnswers = 100'000;

}  // namespace

IdempotencyStore::Ticket::~Ticket() {
  if (!completed_) store_->Forget(scope_);
}

void IdempotencyStore::Ticket::Complete(Answer answer) {
  completed_ = true;
  store_->Store(scope_, std::move(answer));
}

Result<std::variant<std::shared_ptr<IdempotencyStore::Ticket>, IdempotencyStore::Answer>>
IdempotencyStore::Begin(const std::string& scope, const Sha256Digest& fingerprint,
                        Clock::time_point now) {
  using Outcome = std::variant<std::shared_ptr<Ticket>, Answer>;
  const std::lock_guard lock(mutex_);
  Trim(now);
  const auto [place, is_new] = records_.try_emplace(scope);
  Record& record = place->second;
  if (is_new) {
    record.fingerprint = fingerprint;
    record.serial = next_serial_++;
    return Outcome(std::make_shared<Ticket>(shared_from_this(), scope));
  }
  if (record.fingerprint != fingerprint) {
    return Error(ErrorCode::kIdempotencyKeyReused,
                 "this idempotency key was used for another request");
  }
  if (!record.answer) {
    return Error(ErrorCode::kIdempotencyRequestInProgress,
                 "the first request with this idempotency key has not ended");
  }
  return Outcome(*record.answer);
}

void IdempotencyStore::Store(const std::string& scope, Answer answer) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(scope);
  if (found == records_.end()) return;
  const std::size_t bytes = answer.body.size() + scope.size() + sizeof(Record) + sizeof(Age);
  found->second.answer = std::move(answer);
  ages_.push_back({Clock::now(), scope, found->second.serial, bytes});
  bytes_ += bytes;
  Trim(Clock::now());
}

void IdempotencyStore::Forget(const std::string& scope) {
  const std::lock_guard lock(mutex_);
  records_.erase(scope);
}

void IdempotencyStore::Trim(Clock::time_point now) {
  while (!ages_.empty()) {
    const Age& oldest = ages_.front();
    const bool expired = now - oldest.completed >= kLifetime;
    if (!expired && bytes_ <= kMaxBytes && ages_.size() <= kMaxAnswers) return;
    const auto found = records_.find(oldest.scope);
    if (found != records_.end() && found->second.serial == oldest.serial) records_.erase(found);
    bytes_ -= oldest.bytes;
    ages_.pop_front();
  }
}

}  // namespace dormouse::http
