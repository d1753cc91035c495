// SPDX-License-Identifier: Apache-2.0
#include "http/download_url.h"

#include <chrono>

#include "http/json_writer.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

// The link itself does not expire (it needs the key); this is how long a client may count on it.
constexpr std::chrono::hours kDownloadUrlLifetime{1};

// As the client itself reached this server; relative when it did not say how.
std::string OriginOf(const Request& request) {
  const auto host = request.Header("host");
  if (!host || host->empty()) return "";
  const auto scheme = request.Header("x-forwarded-proto");
  return (scheme == "https" ? "https://" : "http://") + std::string(*host);
}

}  // namespace

Response DownloadUrlResponse(const Request& request, std::string_view target) {
  JsonWriter json;
  json.BeginObject().Field("authMode", "api_key").Field("method", "GET");
  json.Field("url", OriginOf(request) + std::string(target));
  json.Key("headers").BeginObject().Field("x-content-type-options", "nosniff").EndObject();
  json.Field("expiresAt", FormatTimestamp(std::chrono::system_clock::now() + kDownloadUrlLifetime));
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace dormouse::http
