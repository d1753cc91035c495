// SPDX-License-Identifier: Apache-2.0
#include "http/body_reader.h"
#include "http/handlers.h"
#include "http/json.h"

namespace dormouse::http {
namespace {

constexpr std::size_t kMaxNames = 100;

Result<std::string> ParseProject(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  std::string name = body.RequiredString("name");
  DORMOUSE_TRY(body.Finish());
  if (call.caller.IsRestricted()) {
    return Error(ErrorCode::kForbidden,
                 "this API key is restricted to projects that exist; it would not see the new one");
  }
  return name;
}

Result<service::CreateApiKey> ParseApiKey(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::CreateApiKey request;
  request.caller = call.caller;
  request.name = body.RequiredString("name");
  if (!body.Has("scopes")) body.Fail("scopes", "scopes is required");
  request.scopes = body.StringList("scopes", kMaxNames);
  const bool has_projects = body.Has("projectIds");
  request.project_ids = body.StringList("projectIds", kMaxNames);
  // An empty list must not come to mean "all projects".
  if (has_projects && request.project_ids.empty()) {
    body.Fail("projectIds", "projectIds must name at least one project, or be absent for all");
  }
  DORMOUSE_TRY(body.Finish());
  return request;
}

}  // namespace

HandlerResult ListProjects(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({"limit", "cursor"}));
  DORMOUSE_CO_ASSIGN(auto page, call.query.GetPage());
  DORMOUSE_CO_ASSIGN(const auto projects,
                     co_await call.service.ListProjects(call.caller, std::move(page)));
  co_return PageResponse(projects);
}

HandlerResult CreateProject(const Call& call) {
  DORMOUSE_CO_ASSIGN(std::string name, ParseProject(call));
  const auto render = [](const service::Project& project) {
    return ThingResponse(201, "project", project);
  };
  DORMOUSE_CO_ASSIGN(const auto project,
                     co_await call.service.CreateProject(
                         std::move(name), AnswererFor<service::Project>(call, render)));
  co_return render(project);
}

HandlerResult ListApiKeys(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({"limit", "cursor"}));
  DORMOUSE_CO_ASSIGN(auto page, call.query.GetPage());
  DORMOUSE_CO_ASSIGN(const auto keys,
                     co_await call.service.ListApiKeys(call.caller, std::move(page)));
  co_return PageResponse(keys);
}

HandlerResult CreateApiKey(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseApiKey(call));
  DORMOUSE_CO_ASSIGN(const auto made, co_await call.service.Create(std::move(request)));
  JsonWriter json;
  json.BeginObject().Key("apiKey");
  Write(json, made.key);
  json.Field("secret", made.secret).EndObject();
  co_return JsonResponse(201, json.Take());
}

HandlerResult GetApiKey(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto key, co_await call.service.GetApiKey(call.caller, call.path[0]));
  co_return ThingResponse(200, "apiKey", key);
}

HandlerResult RevokeApiKey(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto key,
                     co_await call.service.RevokeApiKey(call.caller, call.path[0]));
  co_return ThingResponse(200, "apiKey", key);
}

HandlerResult GetUsage(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto usage, co_await call.service.GetUsage(call.caller));
  JsonWriter json;
  Write(json, usage);
  co_return JsonResponse(200, json.Take());
}

}  // namespace dormouse::http
