// SPDX-License-Identifier: Apache-2.0
#include "cli/backend.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/event_parser.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

// JSON answers are listings at most; more than this is no answer of ours.
constexpr std::size_t kMaxJsonBytes = 256u << 20;

ErrorCode CodeOf(std::string_view api_name, int status) {
  ErrorCode by_name = ErrorCode::kInternal;
  for (std::uint16_t value = 1; value < 100; ++value) {
    const auto code = static_cast<ErrorCode>(value);
    const ErrorInfo& info = InfoOf(code);
    if (info.code != code || info.api_name != api_name) continue;
    if (info.http_status == status) return code;
    by_name = code;
  }
  return by_name;
}

Error NotOurs(std::string_view what) {
  return Error(ErrorCode::kUnavailable,
               "the server's answer is not what this command expects: " + std::string(what));
}

}  // namespace

Error ErrorOfResponse(int status, std::string_view body) {
  json::error_code failure;
  const json::value value = json::parse(body, failure);
  const json::object* const envelope = failure ? nullptr : value.if_object();
  const json::value* const inner = envelope ? envelope->if_contains("error") : nullptr;
  const json::object* const error = inner ? inner->if_object() : nullptr;
  const json::value* const code = error ? error->if_contains("code") : nullptr;
  const json::value* const message = error ? error->if_contains("message") : nullptr;
  if (code == nullptr || !code->is_string() || message == nullptr || !message->is_string()) {
    return NotOurs("HTTP status " + std::to_string(status));
  }
  Error result(CodeOf(code->get_string(), status), std::string(message->get_string()));
  if (const json::value* const details = error->if_contains("details");
      details != nullptr && details->is_object()) {
    for (const auto& [name, detail] : details->get_object()) {
      result.details.emplace_back(
          name, detail.is_string() ? std::string(detail.get_string()) : json::serialize(detail));
    }
  }
  if (const json::value* const id = error->if_contains("requestId");
      id != nullptr && id->is_string()) {
    result.details.emplace_back("requestId", std::string(id->get_string()));
  }
  return result;
}

Result<std::string> CallText(Backend& backend, const ApiRequest& request) {
  std::string body;
  DORMOUSE_TRY(backend.Send(request, [&body](std::string_view bytes) {
    body.append(bytes);
    return body.size() <= kMaxJsonBytes;
  }));
  return body;
}

Result<json::value> ParseAnswer(std::string_view text) {
  json::error_code failure;
  json::value value = json::parse(text, failure);
  if (failure) return NotOurs(failure.message());
  if (!value.is_object()) return NotOurs("no JSON object");
  return value;
}

Result<json::value> CallJson(Backend& backend, const ApiRequest& request) {
  DORMOUSE_ASSIGN(const std::string text, CallText(backend, request));
  return ParseAnswer(text);
}

Result<void> CallEvents(Backend& backend, const ApiRequest& request,
                        const std::function<void(const json::object& event)>& on_event) {
  EventParser parser;
  std::optional<Error> fault;
  DORMOUSE_TRY(backend.Send(request, [&](std::string_view bytes) {
    parser.Append(bytes);
    while (auto data = parser.Next()) {
      json::error_code failure;
      const json::value value = json::parse(*data, failure);
      if (failure || !value.is_object()) {
        fault = NotOurs("an event that is no JSON object");
        return false;
      }
      on_event(value.get_object());
    }
    return true;
  }));
  if (fault) return *fault;
  return {};
}

}  // namespace dormouse::cli
