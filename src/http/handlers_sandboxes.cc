// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "http/body_reader.h"
#include "http/handlers.h"
#include "http/json.h"

namespace dormouse::http {
namespace {

// Far beyond any real lifetime, and still exact in every client's number type.
constexpr std::int64_t kMaxTtlMs = 9'007'199'254'740'991;

Result<std::int64_t> ParseTtl(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  const std::int64_t ttl_ms = body.RequiredInteger("ttlMs", 1, kMaxTtlMs);
  DORMOUSE_TRY(body.Finish());
  return ttl_ms;
}

Result<service::CreateSandbox> ParseCreateSandbox(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::CreateSandbox request;
  request.caller = call.caller;
  request.template_slug = body.Name("template");
  request.template_version_id = body.Name("templateVersionId");
  request.ttl_ms = body.Integer("ttlMs", 1, kMaxTtlMs);
  request.metadata = body.Strings("metadata");
  request.project_id = body.Name("projectId");
  DORMOUSE_TRY(body.Finish());
  return request;
}

Result<service::ListSandboxes> ParseListSandboxes(const Call& call) {
  constexpr std::string_view kMetadata = "metadata.";
  DORMOUSE_TRY(call.query.RefuseOthers({"limit", "cursor", "projectId", "include"}, kMetadata));
  service::ListSandboxes request;
  DORMOUSE_ASSIGN(request.page, call.query.GetPage());
  DORMOUSE_ASSIGN(request.metadata, call.query.WithPrefix(kMetadata));
  DORMOUSE_ASSIGN(const auto project_id, call.query.Get("projectId"));
  request.project_id = project_id.value_or("");
  DORMOUSE_ASSIGN(request.historical, call.query.IncludesHistorical());
  request.caller = call.caller;
  return request;
}

}  // namespace

HandlerResult CreateSandbox(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseCreateSandbox(call));
  const auto render = [](const service::Sandbox& sandbox) {
    return ThingResponse(201, "sandbox", sandbox);
  };
  request.answer = AnswererFor<service::Sandbox>(call, render);
  DORMOUSE_CO_ASSIGN(const auto sandbox, co_await call.service.Create(std::move(request)));
  co_return render(sandbox);
}

HandlerResult ListSandboxes(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseListSandboxes(call));
  DORMOUSE_CO_ASSIGN(const auto page, co_await call.service.List(std::move(request)));
  co_return PageResponse(page);
}

HandlerResult GetSandbox(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto sandbox, co_await call.service.GetSandbox(call.path[0]));
  co_return ThingResponse(200, "sandbox", sandbox);
}

HandlerResult DeleteSandbox(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto sandbox, co_await call.service.DestroySandbox(call.path[0]));
  co_return ThingResponse(200, "sandbox", sandbox);
}

HandlerResult SetTtl(const Call& call) {
  DORMOUSE_CO_ASSIGN(const std::int64_t ttl_ms, ParseTtl(call));
  DORMOUSE_CO_ASSIGN(const auto sandbox, co_await call.service.SetTtl(call.path[0], ttl_ms));
  co_return ThingResponse(200, "sandbox", sandbox);
}

HandlerResult ExtendTtl(const Call& call) {
  auto response = co_await SetTtl(call);
  if (response.ok()) {
    // RFC 9745 (the day from which the alias is deprecated), RFC 8594 and the route to use.
    response->headers.emplace_back("deprecation", "@1782864000");
    response->headers.emplace_back("sunset", "Thu, 01 Jul 2027 00:00:00 GMT");
    response->headers.emplace_back(
        "link", "</v1/sandboxes/" + call.path[0] + "/ttl>; rel=\"successor-version\"");
  }
  co_return response;
}

HandlerResult SandboxInfo(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto info, co_await call.service.Info(call.path[0]));
  co_return ThingResponse(200, "info", info);
}

}  // namespace dormouse::http
