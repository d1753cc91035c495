// SPDX-License-Identifier: Apache-2.0
#include "http/idempotency.h"

namespace dormouse::http {
namespace {

Error KeyReused() {
  return Error(ErrorCode::kIdempotencyKeyReused,
               "this idempotency key was used for another request");
}

}  // namespace

void RequestsInProgress::Ticket::Release() {
  std::call_once(released_, [this] {
    const std::lock_guard lock(owner_->mutex_);
    owner_->fingerprints_.erase(scope_);
  });
}

service::StoredAnswer RequestsInProgress::Ticket::AnswerOf(const Response& response) const {
  service::StoredAnswer answer;
  answer.scope = scope_;
  answer.fingerprint = fingerprint_;
  answer.status = response.status;
  answer.content_type = response.content_type;
  answer.headers = response.headers;
  answer.body = std::get<std::string>(response.body);
  return answer;
}

Result<std::shared_ptr<RequestsInProgress::Ticket>> RequestsInProgress::Begin(
    const Sha256Digest& scope, const Sha256Digest& fingerprint) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = fingerprints_.try_emplace(scope, fingerprint);
  if (is_new) return std::make_shared<Ticket>(shared_from_this(), scope, fingerprint);
  if (place->second != fingerprint) return KeyReused();
  return Error(ErrorCode::kIdempotencyRequestInProgress,
               "the first request with this idempotency key has not ended");
}

Sha256Digest ScopeOf(std::string_view key_id, std::string_view method, std::string_view pattern,
                     const std::vector<std::string>& path, std::string_view idempotency_key) {
  // NUL separates: it occurs in none of the parts.
  std::string scope(key_id);
  scope.append(1, '\0').append(method).append(1, '\0').append(pattern);
  for (const std::string& segment : path) scope.append(1, '\0').append(segment);
  scope.append(1, '\0').append(idempotency_key);
  return Sha256(scope);
}

Result<Response> Replay(service::StoredAnswer answer, const Sha256Digest& fingerprint) {
  if (answer.fingerprint != fingerprint) return KeyReused();
  if (!answer.body_kept) {
    Error gone(ErrorCode::kConflict,
               "the request with this idempotency key succeeded, but its answer was too large to be "
               "kept; it is not executed again");
    for (const auto& [name, value] : answer.headers) {
      if (name == "x-dormouse-run-id") gone.details.emplace_back("runId", value);
    }
    return gone;
  }
  Response response;
  response.status = answer.status;
  response.content_type = std::move(answer.content_type);
  response.headers = std::move(answer.headers);
  response.headers.emplace_back("idempotency-replayed", "true");
  response.body = std::move(answer.body);
  return response;
}

}  // namespace dormouse::http
