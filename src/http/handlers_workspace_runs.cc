// SPDX-License-Identifier: Apache-2.0
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <limits>

#include "http/body_reader.h"
#include "common/ascii.h"
#include "http/handlers.h"
#include "http/json.h"
#include "http/text.h"
#include "http/workspace_run_stream.h"

namespace dormouse::http {
namespace {

constexpr std::string_view kMetadata = "metadata.";
constexpr std::int64_t kMaxEvents = 500;
constexpr std::int64_t kDefaultEvents = 100;

Error InvalidField(std::string_view field, std::string what) {
  return Error(ErrorCode::kInvalidRequest, std::string(field) + " " + std::move(what),
               {{"field", std::string(field)}});
}

void ParseArtifacts(BodyReader& body, std::vector<service::WantedArtifact>& artifacts) {
  const auto items = body.Array("artifacts");
  if (!items) return;
  for (const boost::json::value& item : *items) {
    service::WantedArtifact wanted;
    const boost::json::object* const object = item.if_object();
    for (const auto& [name, value] : object != nullptr ? *object : boost::json::object()) {
      const bool known = name == "path" || name == "name";
      if (!known || !value.is_string()) {
        return body.Fail("artifacts", "artifacts takes objects with the strings `path` and `name`");
      }
      (name == "path" ? wanted.path : wanted.name) = std::string(value.get_string());
    }
    if (wanted.path.empty()) return body.Fail("artifacts", "artifacts holds an item without a path");
    artifacts.push_back(std::move(wanted));
  }
}

Result<service::CreateWorkspaceRun> ParseCreateWorkspaceRun(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::CreateWorkspaceRun request;
  request.command = body.RequiredString("command");
  ParseArtifacts(body, request.artifacts);
  request.keep_sandbox = body.Boolean("keepSandbox").value_or(false);
  request.metadata = body.Strings("metadata");
  if (const auto source = body.Object("sourceMetadata")) {
    request.source_metadata = boost::json::serialize(*source);
  }
  request.project_id = body.Name("projectId");
  request.sandbox_id = body.Name("sandboxId");
  request.template_slug = body.Name("template");
  request.template_version_id = body.Name("templateVersionId");
  request.caller = call.caller;
  request.timeout_ms = body.Integer("timeoutMs", 1, call.config.max_timeout.count());
  DORMOUSE_TRY(body.Finish());
  return request;
}

Result<service::ListWorkspaceRuns> ParseListWorkspaceRuns(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"limit", "cursor", "projectId", "status"}, kMetadata));
  service::ListWorkspaceRuns request;
  request.caller = call.caller;
  DORMOUSE_ASSIGN(request.page, call.query.GetPage());
  DORMOUSE_ASSIGN(request.metadata, call.query.WithPrefix(kMetadata));
  DORMOUSE_ASSIGN(const auto project_id, call.query.Get("projectId"));
  request.project_id = project_id.value_or("");
  DORMOUSE_ASSIGN(const auto status, call.query.Get("status"));
  request.status = status.value_or("");
  if (status && !service::IsWorkspaceRunStatus(request.status)) {
    return InvalidField("status", "is not one that workspace runs have");
  }
  return request;
}

Result<Sha256Digest> ParseDigest(std::string_view text, std::string_view field) {
  const auto digest = Sha256Digest::FromHex(AsciiLower(text));
  if (!digest) return InvalidField(field, "must be a SHA-256 in 64 hexadecimal digits");
  return *digest;
}

Result<std::int64_t> ParseNumber(std::string_view text, std::string_view field, std::int64_t low,
                                 std::int64_t high) {
  std::int64_t number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || rest != text.data() + text.size() || number < low || number > high) {
    return InvalidField(field, "must be an integer from " + std::to_string(low) + " to " +
                                   std::to_string(high));
  }
  return number;
}

Result<void> CheckArchiveType(const Request& request) {
  const auto type = request.Header("content-type");
  if (!type) return {};
  const std::string_view bare = TrimSpaces(type->substr(0, std::min(type->find(';'), type->size())));
  for (const std::string_view known :
       {"application/gzip", "application/x-gzip", "application/octet-stream"}) {
    if (EqualsIgnoringCase(bare, known)) return {};
  }
  return Error(ErrorCode::kUnsupportedMediaType, "the content type must be application/gzip");
}

Result<service::UploadArchive> ParseUploadArchive(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_TRY(CheckArchiveType(call.request));
  service::UploadArchive request;
  request.run_id = call.path[0];
  request.bytes = call.request.body;
  if (request.bytes.empty()) return Error(ErrorCode::kInvalidRequest, "the body is empty: it must be the archive");
  constexpr std::string_view kDigest = "x-crownest-archive-sha256";
  constexpr std::string_view kSize = "x-crownest-archive-size";
  if (const auto text = call.request.Header(kDigest)) {
    DORMOUSE_ASSIGN(request.sha256, ParseDigest(*text, kDigest));
  }
  if (const auto text = call.request.Header(kSize)) {
    DORMOUSE_ASSIGN(const std::int64_t size, ParseNumber(*text, kSize, 1, kMaxInteger));
    request.size_bytes = static_cast<std::uint64_t>(size);
  }
  return request;
}

struct Announced {
  Sha256Digest sha256;
  std::uint64_t size_bytes = 0;
  std::string upload_id;
};

Result<Announced> ParseAnnounced(const Call& call, bool with_upload) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  const std::string digest = body.RequiredString("sha256");
  Announced announced;
  announced.size_bytes = static_cast<std::uint64_t>(body.RequiredInteger("sizeBytes", 1, kMaxInteger));
  if (with_upload) announced.upload_id = body.RequiredString("uploadId");
  DORMOUSE_TRY(body.Finish());
  DORMOUSE_ASSIGN(announced.sha256, ParseDigest(digest, "sha256"));
  return announced;
}

// For routes that take no fields.
Result<void> RefuseFields(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  return body.Finish();
}

Response ArchiveResponse(const service::WorkspaceRun& run) {
  JsonWriter json;
  json.BeginObject().Key("archive");
  if (run.archive) {
    Write(json, *run.archive);
  } else {
    json.Null();
  }
  json.Key("workspaceRun");
  Write(json, run);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

struct EventsQuery {
  std::int64_t after_seq = 0;
  std::uint32_t limit = kDefaultEvents;
  bool stream = false;
};

Result<EventsQuery> ParseEvents(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"afterSeq", "limit", "stream"}));
  EventsQuery query;
  DORMOUSE_ASSIGN(const auto after, call.query.Get("afterSeq"));
  if (after) {
    DORMOUSE_ASSIGN(query.after_seq, ParseNumber(*after, "afterSeq", 0, kMaxInteger));
  }
  DORMOUSE_ASSIGN(const auto limit, call.query.Get("limit"));
  if (limit) {
    DORMOUSE_ASSIGN(const std::int64_t number, ParseNumber(*limit, "limit", 1, kMaxEvents));
    query.limit = static_cast<std::uint32_t>(number);
  }
  DORMOUSE_ASSIGN(const auto stream, call.query.Get("stream"));
  if (stream && *stream != "true" && *stream != "false") {
    return InvalidField("stream", "must be true or false");
  }
  query.stream = stream == "true";
  return query;
}

Response EventsPage(const service::WorkspaceRunEvents& events, const service::WorkspaceRun& run) {
  JsonWriter json;
  json.BeginObject().Key("data").BeginArray();
  for (const service::WorkspaceRunEvent& event : events.items) WriteEvent(json, event, run);
  json.EndArray().Field("hasMore", events.has_more);
  if (!events.items.empty()) json.Field("nextSeq", events.items.back().seq);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

HandlerResult CreateWorkspaceRun(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseCreateWorkspaceRun(call));
  const auto render = [](const service::WorkspaceRun& run) {
    return ThingResponse(201, "workspaceRun", run);
  };
  request.answer = AnswererFor<service::WorkspaceRun>(call, render);
  DORMOUSE_CO_ASSIGN(const auto run,
                     co_await call.service.workspace_runs().Create(std::move(request)));
  co_return render(run);
}

HandlerResult ListWorkspaceRuns(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseListWorkspaceRuns(call));
  DORMOUSE_CO_ASSIGN(const auto page,
                     co_await call.service.workspace_runs().List(std::move(request)));
  co_return PageResponse(page);
}

HandlerResult GetWorkspaceRun(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.workspace_runs().Get(call.path[0]));
  co_return ThingResponse(200, "workspaceRun", run);
}

HandlerResult UploadArchive(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseUploadArchive(call));
  DORMOUSE_CO_ASSIGN(const auto run,
                     co_await call.service.workspace_runs().Upload(std::move(request)));
  co_return ArchiveResponse(run);
}

HandlerResult CreateArchiveTransfer(const Call& call) {
  DORMOUSE_CO_ASSIGN(const Announced announced, ParseAnnounced(call, false));
  const auto render = [](const service::ArchiveTransfer& transfer) {
    return ThingResponse(201, "transfer", transfer);
  };
  DORMOUSE_CO_ASSIGN(const auto transfer,
                     co_await call.service.workspace_runs().CreateTransfer(
                         {call.path[0], announced.sha256, announced.size_bytes,
                          AnswererFor<service::ArchiveTransfer>(call, render)}));
  co_return render(transfer);
}

HandlerResult UploadToTransfer(const Call& call) {
  if (!call.request.upload) co_return Error(ErrorCode::kInternal, "an upload without its file");
  DORMOUSE_CO_TRY(co_await call.service.workspace_runs().FinishTransfer(
      call.path[0], call.path[1], std::move(*call.request.upload)));
  Response response;
  response.status = 204;
  response.content_type.clear();
  response.body = std::string();
  co_return response;
}

HandlerResult FinalizeArchive(const Call& call) {
  DORMOUSE_CO_ASSIGN(Announced announced, ParseAnnounced(call, true));
  DORMOUSE_CO_ASSIGN(const auto run,
                     co_await call.service.workspace_runs().Finalize(
                         {call.path[0], std::move(announced.upload_id), announced.sha256,
                          announced.size_bytes}));
  co_return ArchiveResponse(run);
}

HandlerResult StartWorkspaceRun(const Call& call) {
  DORMOUSE_CO_TRY(RefuseFields(call));
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.workspace_runs().Start(call.path[0]));
  co_return ThingResponse(200, "workspaceRun", run);
}

HandlerResult CancelWorkspaceRun(const Call& call) {
  DORMOUSE_CO_TRY(RefuseFields(call));
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.workspace_runs().Cancel(call.path[0]));
  co_return ThingResponse(200, "workspaceRun", run);
}

HandlerResult ListWorkspaceRunEvents(const Call& call) {
  DORMOUSE_CO_ASSIGN(const EventsQuery query, ParseEvents(call));
  service::WorkspaceRunService& runs = call.service.workspace_runs();
  DORMOUSE_CO_ASSIGN(auto run, co_await runs.Get(call.path[0]));
  if (query.stream) {
    Response response;
    response.content_type = "text/event-stream";
    // Nothing on the way may keep the stream back or store it.
    response.headers = {{"cache-control", "no-store"}, {"x-accel-buffering", "no"}};
    response.body = std::make_unique<WorkspaceRunStream>(runs, call.path[0], query.after_seq,
                                                         call.request.id);
    co_return response;
  }
  DORMOUSE_CO_ASSIGN(const auto events,
                     co_await runs.Events(call.path[0], query.after_seq, query.limit));
  // Read again after the events: a terminal one carries how the run ended.
  DORMOUSE_CO_ASSIGN(run, co_await runs.Get(call.path[0]));
  co_return EventsPage(events, run);
}

HandlerResult GetWorkspaceRunEvidence(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.workspace_runs().Get(call.path[0]));
  JsonWriter json;
  json.BeginObject().Key("evidence");
  WriteEvidence(json, run);
  json.EndObject();
  co_return JsonResponse(200, json.Take());
}

}  // namespace dormouse::http
