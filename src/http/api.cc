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

Response Replay(IdempotencyStore::Answer answer) {
  Response response;
  response.status = answer.status;
  response.content_type = std::move(answer.content_type);
  response.headers = std::move(answer.headers);
  response.headers.emplace_back("idempotency-replayed", "true");
  response.body = std::move(answer.body);
  return response;
}

// Handlers that answer with a stream complete their tickets themselves.
void Remember(IdempotencyStore::Ticket& ticket, const Response& response) {
  const auto* const body = std::get_if<std::string>(&response.body);
  if (body == nullptr || response.status > 299) return;
  ticket.Complete({response.status, response.content_type, response.headers, *body});
}

}  // namespace

Result<Admission> Api::Admit(const Request& head, Trust trust) const {
  DORMOUSE_ASSIGN(const auto parts, SplitTarget(head.target));
  Admission admission;
  auto match = FindRoute(head.method, parts.first);
  // Without a key nobody learns which paths exist below /v1.
  const bool needs_key = match.ok() ? match->route->access == Access::kKey
                                    : parts.first.starts_with("/v1/") || parts.first == "/v1";
  if (trust == Trust::kChecked && needs_key) {
    DORMOUSE_ASSIGN(const std::string_view secret, BearerSecret(head));
    DORMOUSE_ASSIGN(admission.caller, service_.Authenticate(secret));
  }
  if (!match.ok()) return std::move(match).error();
  admission.match = std::move(match).value();
  DORMOUSE_ASSIGN(admission.query, Query::Parse(parts.second));
  admission.body_limit = BodyLimit(admission.match.route->body, config_);
  return admission;
}

Result<Api::Repetition> Api::FindRepetition(const Request& request,
                                            const Admission& admission) const {
  const auto key = request.Header("idempotency-key");
  if (!key || admission.match.route->repeat == Repeat::kPlain) return Repetition();
  if (key->empty() || key->size() > kMaxIdempotencyKey) {
    return Error(ErrorCode::kInvalidRequest, "idempotency-key must have 1 to 255 characters",
                 {{"field", "idempotency-key"}});
  }
  // NUL separates: it occurs in none of the parts.
  std::string scope = admission.caller.key_id;
  scope.push_back('\0');
  scope.append(admission.match.route->method).append(admission.match.route->pattern);
  for (const std::string& segment : admission.match.path) scope.append(1, '\0').append(segment);
  scope.append(1, '\0').append(*key);
  DORMOUSE_ASSIGN(auto outcome, answers_->Begin(scope, Sha256(request.body)));
  if (auto* const answer = std::get_if<IdempotencyStore::Answer>(&outcome)) {
    return Repetition{nullptr, std::move(*answer)};
  }
  return Repetition{std::get<std::shared_ptr<IdempotencyStore::Ticket>>(outcome), std::nullopt};
}

boost::asio::awaitable<Result<service::Service::Upload>> Api::BeginUpload(
    const Request& head, const Admission& admission) const {
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
    auto repetition = FindRepetition(request, admission);
    if (!repetition.ok()) co_return ErrorResponse(repetition.error(), request.id);
    if (repetition->answer) co_return Replay(*std::move(repetition->answer));
    const Call call{service_,        config_,           executor_, request, admission.match.path,
                    admission.query, repetition->ticket};
    Result<Response> result = co_await admission.match.route->handler(call);
    if (result.ok()) {
      if (repetition->ticket) Remember(*repetition->ticket, *result);
      co_return std::move(result).value();
    }
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
