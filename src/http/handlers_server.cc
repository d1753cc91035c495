// SPDX-License-Identifier: Apache-2.0
#include "http/handlers.h"
#include "http/json.h"
#include "http/openapi.h"

namespace dormouse::http {

HandlerResult Healthz(const Call&) {
  JsonWriter json;
  json.BeginObject().Field("status", "ok").Field("version", DORMOUSE_VERSION).EndObject();
  co_return JsonResponse(200, json.Take());
}

HandlerResult Metrics(const Call& call) {
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.headers.emplace_back("cache-control", "no-store");
  response.body = call.service.Metrics();
  co_return response;
}

HandlerResult OpenApi(const Call&) {
  Response response;
  response.content_type = "application/vnd.oai.openapi+json; charset=utf-8";
  response.body = std::string(OpenApiDocument());
  co_return response;
}

HandlerResult ListBindings(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  co_return ListResponse(call.service.Bindings());
}

HandlerResult ListEngines(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto engines, co_await call.service.ListEngines(call.caller));
  co_return ListResponse(engines);
}

HandlerResult Capabilities(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  const service::Config& config = call.config;
  JsonWriter json;
  json.BeginObject().Key("capabilities").BeginObject();
  json.Field("server", "dormouse").Field("version", DORMOUSE_VERSION);
  json.Field("durability", config.durability == service::Durability::kPower ? "power" : "process");
  json.Key("bindings").BeginArray();
  for (const service::Binding& binding : call.service.Bindings()) Write(json, binding);
  json.EndArray();
  json.Key("features").BeginArray();
  for (const char* feature :
       {"streaming", "fork", "rollback", "interrupt", "evict", "stdin", "env", "artifacts",
        "uploads", "workspaceRuns", "statelessRuns"}) {
    json.Value(feature);
  }
  json.EndArray();
  json.Key("notEnabled").BeginArray().Value("commands").Value("previews").EndArray();
  json.Key("limits").BeginObject();
  json.Field("contextsPerSandbox", config.contexts_per_sandbox);
  json.Field("codeBytes", config.code_bytes).Field("stdinBytes", config.stdin_bytes);
  json.Field("requestBytes", config.request_bytes).Field("streamBytes", config.stream_bytes);
  json.Field("inlineOutputBytes", config.inline_output_bytes);
  json.Field("inlineRunBytes", config.inline_run_bytes);
  json.Field("outputsPerRun", config.outputs_per_run);
  json.Field("statelessRuns", config.stateless_runs);
  json.Field("directFileBytes", config.direct_file_bytes);
  json.Field("workspaceBytes", config.workspace_bytes);
  json.Field("workspaceFiles", config.workspace_files);
  json.Field("generationsKept", config.generations_kept);
  json.Field("artifactBytes", config.artifact_bytes);
  json.Field("artifactSandboxBytes", config.artifact_sandbox_bytes);
  json.Field("artifactRetentionMs", config.artifact_retention.count());
  json.Field("promotedOutputBytes", config.promoted_output_bytes);
  json.Field("promotedRunBytes", config.promoted_run_bytes);
  json.Field("capturedStreamBytes", config.captured_stream_bytes);
  json.Field("workspaceRunsAtOnce", config.workspace_runs_at_once);
  json.Field("workspaceRunOutputBytes", config.workspace_run_output_bytes);
  json.Field("directArchiveBytes", config.direct_archive_bytes);
  json.Field("stagedArchiveBytes", config.staged_archive_bytes);
  json.Field("defaultTimeoutMs", config.default_timeout.count());
  json.Field("maxTimeoutMs", config.max_timeout.count());
  json.EndObject().EndObject().EndObject();
  co_return JsonResponse(200, json.Take());
}

}  // namespace dormouse::http
