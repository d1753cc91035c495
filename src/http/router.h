// SPDX-License-Identifier: Apache-2.0
// Router: the one table of what the API answers, and how a request finds its row.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "http/idempotency.h"
#include "http/message.h"
#include "http/query.h"
#include "service/config.h"
#include "service/service.h"

namespace dormouse::http {

// What a handler is given. Everything outlives the handler's coroutine.
struct Call {
  service::Service& service;
  const service::Config& config;
  // Runs what must go on when the request's own connection is gone.
  boost::asio::any_io_executor executor;
  const Request& request;
  const std::vector<std::string>& path;  // values of the pattern's {…}, in order
  const Query& query;
  const service::Caller& caller;
  // Set for a repeatable request that is the first of its key. See AnswererFor.
  std::shared_ptr<RequestsInProgress::Ticket> ticket;
};

// For operations that store their answer themselves, in one transaction with their effects: makes it with `render`,
// which gives the Response for the operation's result. Nothing when the request carries no key.
template <typename T, typename Render>
service::Answerer<T> AnswererFor(const Call& call, Render render) {
  if (!call.ticket) return nullptr;
  call.ticket->AnswerIsStoredByOperation();
  return [ticket = call.ticket, render](const T& thing) { return ticket->AnswerOf(render(thing)); };
}

using Handler = boost::asio::awaitable<Result<Response>> (*)(const Call& call);

enum class Access { kKey, kAnyone };

// How large a request body may be; the numbers are in BodyLimit().
enum class BodySize {
  kSmall,  // a few fields
  kRun,    // code and standard input
  kFile,   // a file in JSON, all of it escaped
  kArchive,  // an archive in one request
  kUpload,  // a file as it is: goes to disk as it comes in, see Api::BeginUpload
};

// Whether an Idempotency-Key makes the request safe to repeat.
enum class Repeat { kPlain, kKeyed };

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/sandboxes/{id}"; a {…} matches one non-empty segment
  Handler handler;
  std::string_view scope;  // that the key must have; empty: any key will do
  Access access = Access::kKey;
  BodySize body = BodySize::kSmall;
  Repeat repeat = Repeat::kPlain;
  std::string_view also_scope = {};  // besides `scope`
};

std::span<const Route> Routes();

// Whether the first value of the path is a sandbox, an artifact or a workspace run, to which the caller must have access.
bool NamesSandbox(const Route& route);
bool NamesArtifact(const Route& route);
bool NamesWorkspaceRun(const Route& route);

std::uint64_t BodyLimit(BodySize size, const service::Config& config);

struct RouteMatch {
  const Route* route = nullptr;
  std::vector<std::string> path;
};

// kNotFound for an unknown path; kMethodNotAllowed, with the detail `allow`, for a known path that
// has no such method. HEAD is answered by the row for GET.
Result<RouteMatch> FindRoute(std::string_view method, std::string_view raw_path);

}  // namespace dormouse::http
