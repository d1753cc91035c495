// SPDX-License-Identifier: Apache-2.0
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <limits>

#include "http/body_reader.h"
#include "http/handlers.h"
#include "http/json.h"
#include "http/run_events.h"

namespace dormouse::http {
namespace {

namespace asio = boost::asio;

// Whether a run gets its place in a queue is known almost at once; should it take longer, the
// response begins without it.
constexpr std::chrono::seconds kStartPatience{5};

constexpr const char* kEventStream = "text/event-stream";

// Nothing on the way may keep the stream back or store it.
HeaderList StreamHeaders() { return {{"cache-control", "no-store"}, {"x-accel-buffering", "no"}}; }

// What every run takes.
void ReadCode(const Call& call, BodyReader& body, service::RunRequest& request) {
  request.code = body.RequiredString("code");
  request.language = body.Name("language");
  request.binding = body.Name("binding");
  request.cwd = body.String("cwd").value_or("");
  request.env = body.Strings("env");
  request.stdin_bytes = body.String("stdin").value_or("");
  request.timeout_ms = body.Integer("timeoutMs", 1, call.config.max_timeout.count());
  request.fuel_us = body.Integer("fuel", 1, kMaxInteger);
  request.memory_bytes = body.Integer("memoryBytes", 1, kMaxInteger);
}

Result<service::RunRequest> ParseRun(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::RunRequest request;
  request.sandbox_id = call.path[0];
  ReadCode(call, body, request);
  if (body.Has("contextId") && body.Has("contextName")) {
    body.Fail("contextName", "contextId and contextName exclude each other");
  }
  request.context_id = body.Name("contextId");
  request.context_name = body.Name("contextName");
  if (body.Choice("artifactPolicy", {"inline_only", "promote"}).value_or(0) == 1) {
    request.artifact_policy = service::ArtifactPolicy::kPromote;
  }
  request.may_create_artifacts = call.caller.Has("artifact:create");
  request.capture_full_output = body.Boolean("captureFullOutput").value_or(false);
  body.Ignore("_crownestRequireCommandRead");
  DORMOUSE_TRY(body.Finish());
  return request;
}

Result<service::StatelessRun> ParseStatelessRun(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::StatelessRun request;
  request.caller = call.caller;
  request.project_id = body.Name("projectId");
  ReadCode(call, body, request.run);
  DORMOUSE_TRY(body.Finish());
  return request;
}

// `RunKind` is a RunRequest or a StatelessRun.
template <typename RunKind>
asio::awaitable<void> Drive(service::Service& service, RunKind request,
                            std::shared_ptr<RunEvents> events,
                            std::shared_ptr<RequestsInProgress::Ticket> ticket) {
  Result<service::RunResult> result =
      Error(ErrorCode::kInternal, "the server met an unexpected condition");
  try {
    result = co_await service.Run(std::move(request), events);
  } catch (const std::exception& exception) {
    spdlog::error("a run failed: {}", exception.what());
  }
  // Whoever has seen the last event may repeat the request.
  if (ticket) ticket->Release();
  events->Finish(std::move(result));
}

Response RenderRun(const service::RunResult& run) {
  auto response = ThingResponse(200, "run", run);
  response.headers.emplace_back("x-dormouse-run-id", run.run_id);
  return response;
}

// Who repeats a request for a stream gets the result alone.
Response RenderReplayedStream(const service::RunResult& run) {
  Response response;
  response.content_type = kEventStream;
  response.headers = StreamHeaders();
  response.headers.emplace_back("x-dormouse-run-id", run.run_id);
  if (!run.stateless) response.headers.emplace_back("x-dormouse-context-id", run.context_id);
  response.body = CompleteEvent(run);
  return response;
}

class RunStream : public BodyStream {
 public:
  explicit RunStream(std::shared_ptr<RunEvents> events) : events_(std::move(events)) {}
  ~RunStream() override { events_->Abandon(); }
  asio::awaitable<std::optional<std::string>> Next() override { return events_->Next(kHeartbeat); }

 private:
  std::shared_ptr<RunEvents> events_;
};

template <typename RunKind>
HandlerResult Stream(const Call& call, RunKind request) {
  if (call.ticket) call.ticket->GoesOn();
  auto events = std::make_shared<RunEvents>(co_await asio::this_coro::executor, call.request.id);
  // On an executor of its own: the run outlives a reader that goes away.
  asio::co_spawn(call.executor, Drive(call.service, std::move(request), events, call.ticket),
                 asio::detached);
  DORMOUSE_CO_ASSIGN(const auto start, co_await events->WaitForStart(kStartPatience));
  Response response;
  response.content_type = kEventStream;
  response.headers = StreamHeaders();
  if (!start.run_id.empty()) response.headers.emplace_back("x-dormouse-run-id", start.run_id);
  if (!start.context_id.empty()) {
    response.headers.emplace_back("x-dormouse-context-id", start.context_id);
  }
  response.body = std::make_unique<RunStream>(std::move(events));
  co_return response;
}

}  // namespace

HandlerResult RunCode(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseRun(call));
  request.answer = AnswererFor<service::RunResult>(call, RenderRun);
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.Run(std::move(request), nullptr));
  co_return RenderRun(run);
}

HandlerResult StreamCode(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseRun(call));
  request.answer = AnswererFor<service::RunResult>(call, RenderReplayedStream);
  co_return co_await Stream(call, std::move(request));
}

HandlerResult GetRun(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.GetRun(call.path[0], call.path[1]));
  co_return ThingResponse(200, "run", run);
}

HandlerResult RunStateless(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseStatelessRun(call));
  request.run.answer = AnswererFor<service::RunResult>(call, RenderRun);
  DORMOUSE_CO_ASSIGN(const auto run, co_await call.service.Run(std::move(request), nullptr));
  co_return RenderRun(run);
}

HandlerResult StreamStateless(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseStatelessRun(call));
  request.run.answer = AnswererFor<service::RunResult>(call, RenderReplayedStream);
  co_return co_await Stream(call, std::move(request));
}

HandlerResult GetStatelessRun(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(const auto run,
                     co_await call.service.GetStatelessRun(call.caller, call.path[0]));
  co_return ThingResponse(200, "run", run);
}

HandlerResult InterruptStatelessRun(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  DORMOUSE_CO_TRY(body.Finish());
  DORMOUSE_CO_ASSIGN(const bool running,
                     co_await call.service.InterruptStatelessRun(call.caller, call.path[0]));
  JsonWriter json;
  json.BeginObject().Key("run").BeginObject();
  json.Field("runId", call.path[0]).Field("running", running);
  json.EndObject().EndObject();
  co_return JsonResponse(200, json.Take());
}

}  // namespace dormouse::http
