// SPDX-License-Identifier: Apache-2.0
// Api: from a request to its response. Knows no sockets; the server and the command line's embedded
// mode both use it.
//
// Threads: every call may be made from any thread; Handle() must be awaited on a strand (or a
// single thread), which is also the strand on which the response's body stream must be read.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "http/message.h"
#include "http/rate_limit.h"
#include "http/router.h"
#include "service/config.h"
#include "service/service.h"

namespace dormouse::http {

// What a request's head settles, before a byte of its body is read.
struct Admission {
  RouteMatch match;
  Query query;
  service::Caller caller;
  std::uint64_t body_limit = 0;
};

class Api {
 public:
  // Borrows `service`. Api and service must outlive every run that goes on. `executor` is where
  // such runs go on.
  Api(service::Service& service, service::Config config, boost::asio::any_io_executor executor)
      : service_(service),
        config_(std::move(config)),
        executor_(std::move(executor)),
        limiter_(config_.requests_per_minute) {}

  // kTrusted: the caller is this process itself and needs no key.
  enum class Trust { kChecked, kTrusted };
  // `headers` gets what belongs on the response whatever becomes of the request.
  Result<Admission> Admit(const Request& head, Trust trust, HeaderList& headers) const;

  // For a route whose body is a file: where to write it, before a byte of it is read. The file goes back in
  // `Request::upload`.
  boost::asio::awaitable<Result<service::Service::Upload>> BeginUpload(
      const Request& head, const Admission& admission) const;

  // Always answers: failures become error responses. `request.body` must keep to
  // `admission.body_limit`.
  boost::asio::awaitable<Response> Handle(Request request, Admission admission) const;

 private:
  // The answer that was given before, a ticket to give the first one, or neither for what cannot be
  // repeated by key.
  struct Repetition {
    std::shared_ptr<RequestsInProgress::Ticket> ticket;
    std::optional<Response> answer;
  };
  boost::asio::awaitable<Result<Repetition>> FindRepetition(const Request& request,
                                                            const Admission& admission) const;
  // What the path names must be in the caller's projects.
  boost::asio::awaitable<Result<void>> CheckAccess(const Admission& admission) const;
  boost::asio::awaitable<Result<Response>> Answer(const Request& request,
                                                  const Admission& admission) const;
  // Stores the answer of a first request, unless its operation has done so, and lets others be first.
  boost::asio::awaitable<void> Remember(RequestsInProgress::Ticket& ticket,
                                        const Result<Response>& result) const;
  // Whose request it is, counted against the key's limit.
  Result<service::Caller> Identify(const Request& head, HeaderList& headers) const;

  service::Service& service_;
  const service::Config config_;
  const boost::asio::any_io_executor executor_;
  // Both synchronise themselves; the second is shared with runs that go on.
  mutable RateLimiter limiter_;
  const std::shared_ptr<RequestsInProgress> in_progress_ = std::make_shared<RequestsInProgress>();
};

}  // namespace dormouse::http
