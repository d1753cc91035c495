// SPDX-License-Identifier: Apache-2.0
#include "http/api.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "http/handlers.h"
#include "http/text.h"
#include "http/upload.h"

namespace dormouse::http {
namespace {

constexpr std::size_t kMaxIdempotencyKey = 255;

Result<std::string_view> BearerSecret(const Request& head) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto header = head.Header("authorization");
  if (!header) return Error(ErrorCode::kUnauthorized, "an API key is required");
  if (header->size() <= kScheme.size() ||
      !EqualsIgnoringCase(header->substr(0, kScheme.size()), kScheme)) {
    return Error(ErrorCode::kUnauthorized, "the authorization header must be `Bearer <key>`");
  }
  return TrimSpaces(header->substr(kScheme.size()));
}

// Path and query of a target in origin form or absolute form.
Result<std::pair<std::string_view, std::string_view>> SplitTarget(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (target.size() > kScheme.size() &&
      EqualsIgnoringCase(target.substr(0, kScheme.size()), kScheme)) {
    const std::size_t slash = target.find('/', kScheme.size());
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  if (!target.starts_with('/') || target.find('#') != std::string_view::npos) {
    return Error(ErrorCode::kInvalidRequest, "the request target is malformed");
  }
  const std::size_t end = std::min(target.find('?'), target.size());
  return std::pair(target.substr(0, end), target.substr(std::min(end + 1, target.size())));
}

Error MissingScope(std::string_view scope) {
  return Error(ErrorCode::kForbidden, "this API key lacks the scope " + std::string(scope),
               {{"scope", std::string(scope)}});
}

}  // namespace

Result<service::Caller> Api::Identify(const Request& head, HeaderList& headers) const {
  DORMOUSE_ASSIGN(const std::string_view secret, BearerSecret(head));
  DORMOUSE_ASSIGN(service::Caller caller, service_.Authenticate(secret));
  if (!limiter_.enabled()) return caller;
  const RateLimiter::Verdict verdict = limiter_.Count(caller.key_id);
  headers.emplace_back("x-ratelimit-limit", std::to_string(verdict.limit));
  headers.emplace_back("x-ratelimit-remaining", std::to_string(verdict.remaining));
  headers.emplace_back("x-ratelimit-reset", std::to_string((verdict.reset_ms + 999) / 1000));
  if (verdict.allowed) return caller;
  return Error(ErrorCode::kRateLimited,
               "this API key may send " + std::to_string(verdict.limit) + " requests per minute",
               {{"limit", std::to_string(verdict.limit)},
                {"retryAfterMs", std::to_string(verdict.retry_ms)}});
}

Result<Admission> Api::Admit(const Request& head, Trust trust, HeaderList& headers) const {
  DORMOUSE_ASSIGN(const auto parts, SplitTarget(head.target));
  Admission admission;
  auto match = FindRoute(head.method, parts.first);
  // Without a key nobody learns which paths exist below /v1.
  const bool needs_key = match.ok() ? match->route->access == Access::kKey
                                    : parts.first.starts_with("/v1/") || parts.first == "/v1";
  if (trust == Trust::kChecked && needs_key) {
    DORMOUSE_ASSIGN(admission.caller, Identify(head, headers));
  }
  if (!match.ok()) return std::move(match).error();
  admission.match = std::move(match).value();
  const Route& route = *admission.match.route;
  for (const std::string_view scope : {route.scope, route.also_scope}) {
    if (!scope.empty() && !admission.caller.Has(scope)) return MissingScope(scope);
  }
  DORMOUSE_ASSIGN(admission.query, Query::Parse(parts.second));
  admission.body_limit = BodyLimit(route.body, config_);
  return admission;
}

boost::asio::awaitable<Result<Api::Repetition>> Api::FindRepetition(
    const Request& request, const Admission& admission) const {
  const auto key = request.Header("idempotency-key");
  const Route& route = *admission.match.route;
  if (!key || route.repeat == Repeat::kPlain) co_return Repetition();
  if (key->empty() || key->size() > kMaxIdempotencyKey) {
    co_return Error(ErrorCode::kInvalidRequest, "idempotency-key must have 1 to 255 characters",
                    {{"field", "idempotency-key"}});
  }
  const Sha256Digest scope = ScopeOf(admission.caller.key_id, route.method, route.pattern,
                                     admission.match.path, *key);
  const Sha256Digest fingerprint = Sha256(request.body);
  // In this order: whoever leaves the first has stored what the second then finds.
  DORMOUSE_CO_ASSIGN(auto ticket, in_progress_->Begin(scope, fingerprint));
  DORMOUSE_CO_ASSIGN(auto stored, co_await service_.FindAnswer(scope));
  if (!stored) co_return Repetition{std::move(ticket), std::nullopt};
  DORMOUSE_CO_ASSIGN(Response again, Replay(*std::move(stored), fingerprint));
  co_return Repetition{nullptr, std::move(again)};
}

boost::asio::awaitable<void> Api::Remember(RequestsInProgress::Ticket& ticket,
                                           const Result<Response>& result) const {
  if (ticket.goes_on()) co_return;
  const bool success = result.ok() && result->status < 300;
  if (success && !ticket.answer_is_stored_by_operation() &&
      std::holds_alternative<std::string>(result->body)) {
    const Result<void> stored = co_await service_.StoreAnswer(ticket.AnswerOf(*result));
    if (!stored.ok()) spdlog::warn("an answer could not be stored: {}", stored.error().message);
  }
  ticket.Release();
}

boost::asio::awaitable<Result<void>> Api::CheckAccess(const Admission& admission) const {
  const Route& route = *admission.match.route;
  if (NamesSandbox(route)) {
    co_return co_await service_.CheckAccess(admission.caller, admission.match.path[0]);
  }
  if (NamesArtifact(route)) {
    co_return co_await service_.CheckArtifactAccess(admission.caller, admission.match.path[0]);
  }
  if (NamesWorkspaceRun(route)) {
    co_return co_await service_.workspace_runs().CheckAccess(admission.caller,
                                                             admission.match.path[0]);
  }
  co_return Result<void>();
}

boost::asio::awaitable<Result<Response>> Api::Answer(const Request& request,
                                                     const Admission& admission) const {
  const Route& route = *admission.match.route;
  DORMOUSE_CO_TRY(co_await CheckAccess(admission));
  DORMOUSE_CO_ASSIGN(Repetition repetition, co_await FindRepetition(request, admission));
  if (repetition.answer) co_return *std::move(repetition.answer);
  const Call call{service_,        config_,           executor_,         request, admission.match.path,
                  admission.query, admission.caller, repetition.ticket};
  Result<Response> result = co_await route.handler(call);
  if (repetition.ticket) co_await Remember(*repetition.ticket, result);
  co_return result;
}

boost::asio::awaitable<Result<service::Service::Upload>> Api::BeginUpload(
    const Request& head, const Admission& admission) const {
  DORMOUSE_CO_TRY(co_await CheckAccess(admission));
  if (admission.match.route->handler == UploadToTransfer) {
    DORMOUSE_CO_TRY(admission.query.RefuseOthers({}));
    DORMOUSE_CO_ASSIGN(auto transfer, co_await service_.workspace_runs().BeginTransfer(
                                          admission.match.path[0], admission.match.path[1]));
    co_return service::Service::Upload{std::move(transfer.file), transfer.limit_bytes,
                                       ErrorCode::kUploadSizeMismatch};
  }
  DORMOUSE_CO_ASSIGN(auto target, ParseUpload(head, admission.query, admission.match.path[0]));
  co_return co_await service_.BeginUpload(std::move(target));
}

boost::asio::awaitable<Response> Api::Handle(Request request, Admission admission) const {
  Error failure;
  try {
    Result<Response> result = co_await Answer(request, admission);
    if (result.ok()) co_return std::move(result).value();
    failure = std::move(result).error();
  } catch (const std::exception& exception) {
    spdlog::error("{} {} ({}): {}", request.method, admission.match.route->pattern, request.id,
                  exception.what());
    failure = Error(ErrorCode::kInternal, "the server met an unexpected condition");
  }
  if (InfoOf(failure.code).http_status >= 500) {
    spdlog::warn("{} {} ({}): {}", request.method, admission.match.route->pattern, request.id,
                 failure.message);
  }
  co_return ErrorResponse(failure, request.id);
}

}  // namespace dormouse::http
