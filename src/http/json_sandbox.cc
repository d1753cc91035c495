// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

// Clients compare `expiresAt` with the clock, so "never" is a time too.
constexpr std::string_view kNever = "9999-12-31T23:59:59.999Z";

std::string_view NameOf(service::SandboxStatus status) {
  switch (status) {
    case service::SandboxStatus::kReady:
      return "ready";
    case service::SandboxStatus::kRunning:
      return "running";
    case service::SandboxStatus::kIdle:
      return "idle";
    case service::SandboxStatus::kDestroyed:
      return "destroyed";
  }
  return "ready";
}

}  // namespace

void Write(JsonWriter& json, const service::StringMap& map) {
  json.BeginObject();
  for (const auto& [key, value] : map) json.Field(key, value);
  json.EndObject();
}

void Write(JsonWriter& json, const service::Sandbox& sandbox) {
  json.BeginObject();
  json.Field("id", sandbox.id).Field("orgId", sandbox.org_id);
  json.Field("projectId", sandbox.project_id).Field("status", NameOf(sandbox.status));
  json.Field("templateId", sandbox.template_id);
  json.Field("templateSlug", sandbox.template_slug);
  json.Field("templateVersion", sandbox.template_version);
  json.Field("templateVersionId", sandbox.template_version_id);
  json.Field("ttlMs", sandbox.ttl_ms);
  json.Field("expiresAt",
             sandbox.expires_at ? FormatTimestamp(*sandbox.expires_at) : std::string(kNever));
  json.Key("metadata");
  Write(json, sandbox.metadata);
  json.Field("createdAt", FormatTimestamp(sandbox.created_at));
  json.Field("lastUsedAt", FormatTimestamp(sandbox.last_used_at));
  if (sandbox.destroyed_at) json.Field("destroyedAt", FormatTimestamp(*sandbox.destroyed_at));
  if (!sandbox.destroyed_reason.empty()) json.Field("destroyedReason", sandbox.destroyed_reason);
  json.EndObject();
}

void Write(JsonWriter& json, const service::SandboxInfo& info) {
  json.BeginObject().Key("sandbox");
  Write(json, info.sandbox);
  json.Key("contexts").BeginArray();
  for (const service::Context& context : info.contexts) Write(json, context);
  json.EndArray();
  json.Key("workspace").BeginObject();
  json.Field("files", info.workspace_files).Field("bytes", info.workspace_bytes);
  json.EndObject().EndObject();
}

}  // namespace dormouse::http
