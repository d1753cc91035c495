// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

std::string TimeText(std::int64_t ms) {
  return FormatTimestamp(service::Time(std::chrono::milliseconds(ms)));
}

std::optional<std::string> OptionalTime(const std::optional<std::int64_t>& ms) {
  if (!ms) return std::nullopt;
  return TimeText(*ms);
}

std::optional<std::string> NotEmpty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

// What a run and its evidence have in common.
void WriteShared(JsonWriter& json, const service::WorkspaceRun& run) {
  json.Field("orgId", run.org_id).Field("projectId", run.project_id);
  json.Field("status", run.status).Field("command", run.command);
  json.Key("metadata");
  Write(json, run.metadata);
  if (!run.source_metadata.empty()) json.Key("sourceMetadata").Raw(run.source_metadata);
  json.Field("createdAt", TimeText(run.created_ms));
  json.Field("startedAt", OptionalTime(run.started_ms));
  json.Field("finishedAt", OptionalTime(run.finished_ms));
  if (run.started_ms && run.finished_ms) json.Field("durationMs", *run.finished_ms - *run.started_ms);
  json.Field("timeoutMs", run.timeout_ms).Field("sandboxId", NotEmpty(run.sandbox_id));
  json.Field("exitCode", run.exit_code).Field("failureReason", NotEmpty(run.failure_reason));
  json.Field("failureClass", NotEmpty(run.failure_class));
  json.Field("orchestrationSucceeded", service::OrchestrationSucceeded(run));
  json.Strings("envKeys", service::EnvKeysOf(run));
  json.Strings("artifactIds", run.artifact_ids);
  json.Key("artifactErrors").BeginArray();
  for (const store::ArtifactFailure& failure : run.artifact_errors) {
    json.BeginObject().Field("code", failure.code).Field("message", failure.message);
    json.Field("path", failure.path).EndObject();
  }
  json.EndArray();
  if (run.archive) {
    json.Key("archive");
    Write(json, *run.archive);
  }
}

std::string CleanupStatus(const service::WorkspaceRun& run) {
  if (!run.cleanup_status.empty()) return run.cleanup_status;
  return run.owns_sandbox && !run.keep_sandbox ? "pending" : "not_requested";
}

}  // namespace

void Write(JsonWriter& json, const store::ArchiveInfo& archive) {
  json.BeginObject().Field("sha256", archive.digest.Hex()).Field("sizeBytes", archive.size_bytes);
  json.Field("uploadedAt", TimeText(archive.uploaded_ms)).EndObject();
}

void Write(JsonWriter& json, const service::WorkspaceRun& run) {
  json.BeginObject().Field("id", run.id);
  WriteShared(json, run);
  json.Field("keepSandbox", run.keep_sandbox);
  json.Field("cleanupStatus", CleanupStatus(run));
  if (run.archive) json.Field("uploadedAt", TimeText(run.archive->uploaded_ms));
  json.Field("evidenceAvailable", service::HasEnded(run));
  json.Field("templateId", run.template_id).Field("templateSlug", run.template_slug);
  json.Field("templateVersion", run.template_version);
  json.Field("templateVersionId", run.template_version_id);
  json.EndObject();
}

void WriteEvidence(JsonWriter& json, const service::WorkspaceRun& run) {
  json.BeginObject().Field("workspaceRunId", run.id);
  WriteShared(json, run);
  json.Field("cleanupStatus", CleanupStatus(run));
  // A run that goes on has nothing to show for yet.
  if (!service::HasEnded(run)) json.Field("orchestrationSucceeded", false);
  json.EndObject();
}

void Write(JsonWriter& json, const service::ArchiveTransfer& transfer) {
  json.BeginObject().Field("id", transfer.id).Field("workspaceRunId", transfer.run_id);
  json.Field("checksumAlgorithm", "sha256").Field("expiresAt", FormatTimestamp(transfer.expires_at));
  json.Key("headers").BeginObject().Field("content-type", "application/gzip").EndObject();
  json.Field("maxSizeBytes", transfer.max_size_bytes).Field("method", "PUT");
  json.Field("status", transfer.status);
  // Relative: clients put the address before it under which they themselves reach this server.
  json.Field("uploadUrl", "/v1/workspace-runs/" + PercentEncode(transfer.run_id, Slash::kEncode) +
                              "/archive-transfer/" + transfer.id);
  json.EndObject();
}

}  // namespace dormouse::http
