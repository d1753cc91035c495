// SPDX-License-Identifier: Apache-2.0
#include "http/workspace_run_stream.h"

#include <chrono>

#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr std::uint32_t kBatch = 100;

service::Time TimeOf(std::int64_t ms) { return service::Time(std::chrono::milliseconds(ms)); }

void WriteDetails(JsonWriter& json, const service::WorkspaceRunEvent& event,
                  const service::WorkspaceRun& run) {
  if (event.type == "status") {
    json.Field("status", event.data);
  } else if (event.type == "stdout" || event.type == "stderr") {
    json.Field("data", event.data);
    if (event.code == "truncated") json.Field("truncated", true);
  } else if (event.type == "archive_progress") {
    json.Field("receivedBytes", event.size_bytes).Field("sizeBytes", event.size_bytes);
  } else if (event.type == "artifact_collected") {
    json.Field("artifactId", event.data).Field("path", event.path);
  } else if (event.type == "artifact_error") {
    json.Key("error").BeginObject().Field("code", event.code).Field("message", event.data);
    json.Field("path", event.path).EndObject();
  } else if (event.type == "terminal") {
    json.Key("workspaceRun");
    Write(json, run);
  }
}

}  // namespace

void WriteEvent(JsonWriter& json, const service::WorkspaceRunEvent& event,
                const service::WorkspaceRun& run) {
  json.BeginObject().Field("type", event.type).Field("seq", event.seq);
  json.Field("createdAt", FormatTimestamp(TimeOf(event.created_ms)));
  WriteDetails(json, event, run);
  json.EndObject();
}

std::string WorkspaceRunStream::Wire(const service::WorkspaceRunEvent& event,
                                     const service::WorkspaceRun& run) const {
  JsonWriter json(JsonWriter::Charset::kAscii);
  WriteEvent(json, event, run);
  std::string wire = "event: " + event.type + "\nid: " + std::to_string(event.seq);
  wire.append("\ndata: ").append(json.text()).append("\n\n");
  return wire;
}

boost::asio::awaitable<Result<std::string>> WorkspaceRunStream::NextEvents() {
  DORMOUSE_CO_ASSIGN(auto events,
                     co_await runs_.WaitForEvents(run_id_, after_seq_, kBatch, kHeartbeat));
  // Read after the events: a terminal one carries how the run ended.
  DORMOUSE_CO_ASSIGN(const service::WorkspaceRun run, co_await runs_.Get(run_id_));
  if (events.items.empty()) {
    service::WorkspaceRunEvent event;
    event.run_id = run_id_;
    event.created_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
    // A heartbeat has the number of the last event, so that a client that takes it for its own
    // position loses nothing. Whoever asks for what comes after the end gets the end again.
    event.seq = after_seq_;
    ended_ = service::HasEnded(run);
    event.type = ended_ ? "terminal" : "heartbeat";
    if (ended_) event.seq = run.last_seq;
    co_return Wire(event, run);
  }
  std::string wire;
  for (const service::WorkspaceRunEvent& event : events.items) {
    wire += Wire(event, run);
    after_seq_ = event.seq;
    ended_ = ended_ || event.type == "terminal";
  }
  co_return wire;
}

boost::asio::awaitable<std::optional<std::string>> WorkspaceRunStream::Next() {
  if (ended_) co_return std::nullopt;
  auto wire = co_await NextEvents();
  if (wire.ok()) co_return std::move(wire).value();
  ended_ = true;
  const ErrorInfo& info = InfoOf(wire.error().code);
  JsonWriter json(JsonWriter::Charset::kAscii);
  json.BeginObject().Field("type", "error").Field("seq", after_seq_);
  json.Field("code", info.api_name).Field("message", wire.error().message);
  json.Field("requestId", request_id_).Field("retryable", info.retryable).EndObject();
  co_return "event: error\ndata: " + json.text() + "\n\n";
}

}  // namespace dormouse::http
