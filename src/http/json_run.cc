// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "http/json.h"

namespace dormouse::http {
namespace {

std::string_view NameOf(scheduler::RunStatus status) {
  switch (status) {
    case scheduler::RunStatus::kOk:
      return "ok";
    case scheduler::RunStatus::kError:
      return "error";
    case scheduler::RunStatus::kTimeout:
      return "timeout";
    case scheduler::RunStatus::kFuelExhausted:
      return "fuel_exhausted";
    case scheduler::RunStatus::kInterrupted:
      return "interrupted";
    case scheduler::RunStatus::kOutOfMemory:
      return "oom";
    case scheduler::RunStatus::kCrashed:
      return "crashed";
    case scheduler::RunStatus::kExited:
      return "exited";
  }
  return "crashed";
}

// Microseconds are all that a duration in milliseconds can say here.
double Milliseconds(double value) { return std::round(value * 1000) / 1000; }

void Write(JsonWriter& json, const scheduler::Usage& usage) {
  json.BeginObject();
  json.Field("fuelConsumed", usage.fuel_consumed);
  json.Key("fuelLimit");
  if (usage.fuel_limit == 0) {
    json.Null();
  } else {
    json.Value(usage.fuel_limit);
  }
  json.Field("cpuMs", Milliseconds(usage.cpu_ms)).Field("wallMs", Milliseconds(usage.wall_ms));
  json.Field("memoryBytes", usage.memory_bytes);
  json.Field("peakMemoryBytes", usage.peak_memory_bytes);
  json.EndObject();
}

void WriteContextState(JsonWriter& json, const service::RunResult& run) {
  json.BeginObject();
  json.Field("generation", run.generation).Field("snapshotMs", Milliseconds(run.snapshot_ms));
  json.Field("snapshotBytes", run.snapshot_bytes).Field("resumed", run.resumed);
  json.Field("resumeMs", Milliseconds(run.resume_ms)).Field("stale", run.stale);
  if (run.stale) json.Field("staleReason", run.stale_reason);
  json.Field("stateLost", run.state_lost);
  json.EndObject();
}

std::string_view StateOf(const service::RunResult& run) {
  if (run.stateless) return "discarded";
  return run.state == scheduler::StateOutcome::kKept ? "kept" : "rolled_back";
}

// What the run left in its context and in the workspace.
void WriteKept(JsonWriter& json, const service::RunResult& run) {
  json.Key("context");
  WriteContextState(json, run);
  json.Key("files").BeginObject();
  json.Strings("written", run.files_written);
  json.Strings("deleted", run.files_deleted);
  json.EndObject();
}

}  // namespace

void Write(JsonWriter& json, const service::CodeOutput& output) {
  json.BeginObject();
  switch (output.kind) {
    case service::CodeOutput::Kind::kInline:
      json.Field("kind", "inline").Field("format", output.format);
      json.Key("value").Raw(output.value_json);
      if (output.format == "chart") json.Field("contentType", output.content_type);
      if (output.truncated) json.Field("truncated", true).Field("sizeBytes", output.size_bytes);
      if (!output.artifact_id.empty()) json.Field("artifactId", output.artifact_id);
      break;
    case service::CodeOutput::Kind::kArtifact:
      json.Field("kind", "artifact").Field("format", output.format);
      json.Field("artifactId", output.artifact_id).Field("contentType", output.content_type);
      json.Field("sizeBytes", output.size_bytes);
      if (output.active_content) json.Field("activeContent", true);
      break;
    case service::CodeOutput::Kind::kRejected:
      json.Field("kind", "rejected").Field("format", output.format);
      json.Field("reason", output.reason);
      if (output.size_bytes > 0) json.Field("sizeBytes", output.size_bytes);
      break;
  }
  if (!output.metadata_json.empty()) json.Key("metadata").Raw(output.metadata_json);
  if (!output.display_id.empty()) json.Field("displayId", output.display_id);
  if (output.update) json.Field("update", true);
  json.Field("isResult", output.is_result).EndObject();
}

void Write(JsonWriter& json, const service::CodeError& error) {
  json.BeginObject();
  json.Field("name", error.name).Field("message", error.message);
  json.Strings("traceback", error.traceback);
  json.Field("lineNumber", error.line_number).EndObject();
}

void Write(JsonWriter& json, const service::RunResult& run) {
  json.BeginObject();
  json.Field("runId", run.run_id);
  if (!run.stateless) {
    json.Field("sandboxId", run.sandbox_id).Field("contextId", run.context_id);
  }
  json.Field("language", run.language).Field("binding", run.binding);
  if (!run.stateless) json.Field("executionCount", run.execution_count);
  json.Field("status", NameOf(run.status)).Field("state", StateOf(run));
  json.Field("exitCode", run.exit_code);
  json.Field("stdout", run.out.text).Field("stderr", run.err.text);
  json.Field("stdoutTruncated", run.out.truncated).Field("stderrTruncated", run.err.truncated);
  json.Field("stdoutBytes", run.out.total_bytes).Field("stderrBytes", run.err.total_bytes);
  if (!run.stdout_artifact_id.empty()) json.Field("stdoutArtifactId", run.stdout_artifact_id);
  if (!run.stderr_artifact_id.empty()) json.Field("stderrArtifactId", run.stderr_artifact_id);
  json.Key("outputs").BeginArray();
  for (const service::CodeOutput& output : run.outputs) Write(json, output);
  json.EndArray();
  if (run.error) {
    json.Key("error");
    Write(json, *run.error);
  }
  json.Field("durationMs", std::isfinite(run.duration_ms) ? std::llround(run.duration_ms) : 0LL);
  json.Key("usage");
  Write(json, run.usage);
  if (!run.stateless) WriteKept(json, run);
  json.EndObject();
}

}  // namespace dormouse::http
