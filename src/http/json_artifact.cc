// SPDX-License-Identifier: Apache-2.0
#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {

void Write(JsonWriter& json, const service::Artifact& artifact) {
  json.BeginObject();
  json.Field("id", artifact.id).Field("orgId", artifact.org_id);
  json.Field("projectId", artifact.project_id).Field("sandboxId", artifact.sandbox_id);
  if (!artifact.run_id.empty()) json.Field("runId", artifact.run_id);
  json.Field("name", artifact.name);
  json.Field("objectKey", "sandboxes/" + artifact.sandbox_id + "/artifacts/" + artifact.id);
  json.Field("contentType", artifact.content_type);
  json.Field("activeContent", artifact.active_content);
  json.Field("sizeBytes", artifact.size_bytes);
  if (!artifact.sha256.empty()) json.Field("sha256", artifact.sha256);
  if (!artifact.source_path.empty()) json.Field("sourcePath", artifact.source_path);
  json.Field("createdAt", FormatTimestamp(artifact.created_at));
  if (artifact.expires_at) json.Field("retentionExpiresAt", FormatTimestamp(*artifact.expires_at));
  if (artifact.deleted_at) json.Field("deletedAt", FormatTimestamp(*artifact.deleted_at));
  json.EndObject();
}

}  // namespace dormouse::http
