// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <algorithm>

#include "http/json_writer.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr std::string_view kRetryAfterMs = "retryAfterMs";

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Details travel as text inside the server; those whose name says that they count something are
// numbers outside.
bool IsNumericDetail(std::string_view name, std::string_view value) {
  const bool counts = name == "limit" || name == "actual" || name == "line" ||
                      EndsWith(name, "Ms") || EndsWith(name, "Bytes") || EndsWith(name, "Count");
  return counts && !value.empty() && value.size() <= 15 &&
         (value.size() == 1 || value.front() != '0') &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void WriteDetails(JsonWriter& json, const Error& error) {
  if (error.details.empty()) return;
  json.Key("details").BeginObject();
  for (const auto& [name, value] : error.details) {
    json.Key(name);
    if (IsNumericDetail(name, value)) {
      json.Raw(value);
    } else {
      json.Value(value);
    }
  }
  json.EndObject();
}

std::int64_t RetryAfterMs(const Error& error) {
  for (const auto& [name, value] : error.details) {
    if (name == kRetryAfterMs && IsNumericDetail(name, value)) return std::stoll(value);
  }
  return 1'000;
}

bool SaysWhen(int status) { return status == 429 || status == 503; }

struct Envelope {
  int status;
  std::string_view code;
  bool retryable;
};

Response Compose(const Envelope& envelope, const Error& error, std::string_view request_id) {
  JsonWriter json;
  json.BeginObject().Key("error").BeginObject();
  json.Field("code", envelope.code).Field("message", error.message);
  WriteDetails(json, error);
  json.Field("requestId", request_id).Field("retryable", envelope.retryable);
  if (envelope.retryable && SaysWhen(envelope.status)) {
    json.Field("retryAfterMs", RetryAfterMs(error));
  }
  json.EndObject().EndObject();
  Response response = JsonResponse(envelope.status, json.Take());
  if (envelope.status == 401) {
    response.headers.emplace_back("www-authenticate", "Bearer realm=\"dormouse\"");
  }
  for (const auto& [name, value] : error.details) {
    if (envelope.status == 405 && name == "allow") response.headers.emplace_back("allow", value);
  }
  if (SaysWhen(envelope.status)) {
    const std::int64_t seconds = (RetryAfterMs(error) + 999) / 1000;
    response.headers.emplace_back("retry-after", std::to_string(std::max<std::int64_t>(1, seconds)));
  }
  return response;
}

}  // namespace

std::optional<std::string_view> Request::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (EqualsIgnoringCase(header, name)) return value;
  }
  return std::nullopt;
}

Response JsonResponse(int status, std::string json) {
  Response response;
  response.status = status;
  response.headers.emplace_back("cache-control", "no-store");
  response.body = std::move(json);
  return response;
}

Response ErrorResponse(const Error& error, std::string_view request_id) {
  const ErrorInfo& info = InfoOf(error.code);
  return Compose({info.http_status, info.api_name, info.retryable}, error, request_id);
}

Response TransportErrorResponse(int status, std::string_view message, std::string_view request_id) {
  const Error error(ErrorCode::kInvalidRequest, std::string(message));
  return Compose({status, InfoOf(error.code).api_name, false}, error, request_id);
}

}  // namespace dormouse::http
