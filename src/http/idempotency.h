// SPDX-License-Identifier: Apache-2.0
// RequestsInProgress: which repeatable requests go on right now. What was answered before is the service's to know
// (Service::FindAnswer); together they decide whether a request is the first of its key.
//
// Nothing durable marks a request as in progress, because nothing has to: an operation commits its effects and its
// answer in one transaction, so after a crash either both are there or neither, and whoever repeats the request gets
// the answer or the first execution.
//
// Threads: every call may be made from any thread. Owner: a shared_ptr; tickets share it, since runs outlive the
// requests that began them.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "common/sha256.h"
#include "http/message.h"
#include "service/types.h"

namespace dormouse::http {

class RequestsInProgress : public std::enable_shared_from_this<RequestsInProgress> {
 public:
  // The right to be the first with a key, until it is released.
  class Ticket {
   public:
    Ticket(std::shared_ptr<RequestsInProgress> owner, const Sha256Digest& scope,
           const Sha256Digest& fingerprint)
        : owner_(std::move(owner)), scope_(scope), fingerprint_(fingerprint) {}
    ~Ticket() { Release(); }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    // From now on others may be the first. The answer must be stored by then, if there is to be one.
    void Release();

    // The answer to store under this key. `response` must not be a stream or a file.
    service::StoredAnswer AnswerOf(const Response& response) const;

    // Said by handlers whose operation stores the answer together with its effects.
    void AnswerIsStoredByOperation() { stored_by_operation_ = true; }
    bool answer_is_stored_by_operation() const { return stored_by_operation_; }
    // Said by handlers whose operation goes on after the response has begun; whoever ends it releases the ticket.
    void GoesOn() { goes_on_ = true; }
    bool goes_on() const { return goes_on_; }

   private:
    const std::shared_ptr<RequestsInProgress> owner_;
    const Sha256Digest scope_;
    const Sha256Digest fingerprint_;
    // Touched by the coroutine that handles the request only.
    bool stored_by_operation_ = false;
    bool goes_on_ = false;
    std::once_flag released_;
  };

  // `scope` stands for everything in which two requests must agree to be the same key, `fingerprint` for everything in
  // which they must agree to be the same request.
  Result<std::shared_ptr<Ticket>> Begin(const Sha256Digest& scope, const Sha256Digest& fingerprint);

 private:
  std::mutex mutex_;
  std::unordered_map<Sha256Digest, Sha256Digest, Sha256Hash> fingerprints_;  // by scope
};

// The digest of a request's scope: the key that was used, method, route, the path's values and the header's.
Sha256Digest ScopeOf(std::string_view key_id, std::string_view method, std::string_view pattern,
                     const std::vector<std::string>& path, std::string_view idempotency_key);

// What a stored answer says to a request with that fingerprint: the same again, or why not.
Result<Response> Replay(service::StoredAnswer answer, const Sha256Digest& fingerprint);

}  // namespace dormouse::http
