// SPDX-License-Identifier: Apache-2.0
#include "http/body_reader.h"
#include "http/download_url.h"
#include "http/handlers.h"
#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

Result<service::CreateArtifact> ParseCreateArtifact(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::CreateArtifact request;
  request.sandbox_id = call.path[0];
  request.path = body.RequiredString("path");
  request.name = body.Name("name");
  DORMOUSE_TRY(body.Finish());
  return request;
}

Result<service::ListArtifacts> ParseListArtifacts(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"limit", "cursor", "include"}));
  service::ListArtifacts request;
  request.sandbox_id = call.path[0];
  DORMOUSE_ASSIGN(request.page, call.query.GetPage());
  DORMOUSE_ASSIGN(request.historical, call.query.IncludesHistorical());
  return request;
}

}  // namespace

HandlerResult CreateArtifact(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseCreateArtifact(call));
  const auto render = [](const service::Artifact& artifact) {
    return ThingResponse(201, "artifact", artifact);
  };
  request.answer = AnswererFor<service::Artifact>(call, render);
  DORMOUSE_CO_ASSIGN(const auto artifact, co_await call.service.Create(std::move(request)));
  co_return render(artifact);
}

HandlerResult ListArtifacts(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseListArtifacts(call));
  DORMOUSE_CO_ASSIGN(const auto page, co_await call.service.List(std::move(request)));
  co_return PageResponse(page);
}

HandlerResult GetArtifact(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto artifact, co_await call.service.GetArtifact(call.path[0]));
  co_return ThingResponse(200, "artifact", artifact);
}

HandlerResult DeleteArtifact(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto artifact, co_await call.service.DeleteArtifact(call.path[0]));
  co_return ThingResponse(200, "artifact", artifact);
}

HandlerResult ArtifactDownloadUrl(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  DORMOUSE_CO_TRY(body.Finish());
  // Opened, not only looked at: a link to what cannot be downloaded helps nobody.
  DORMOUSE_CO_ASSIGN(const auto opened, co_await call.service.OpenArtifact(call.path[0]));
  co_return DownloadUrlResponse(call.request, "/v1/artifacts/" + opened.artifact.id + "/download");
}

}  // namespace dormouse::http
