// SPDX-License-Identifier: Apache-2.0
// The things of the product as JSON. Field names and meanings: docs/api.md.
#pragma once

#include <string_view>
#include <vector>

#include "http/json_writer.h"
#include "http/message.h"
#include "service/types.h"
#include "service/workspace_run_types.h"

namespace dormouse::http {

// Each appends one value.
void Write(JsonWriter& json, const service::StringMap& map);
void Write(JsonWriter& json, const service::Project& project);
void Write(JsonWriter& json, const service::ApiKey& key);
void Write(JsonWriter& json, const service::Usage& usage);
void Write(JsonWriter& json, const service::Sandbox& sandbox);
void Write(JsonWriter& json, const service::SandboxInfo& info);
void Write(JsonWriter& json, const service::Binding& binding);
void Write(JsonWriter& json, const service::Engine& engine);
void Write(JsonWriter& json, const service::SnapshotInfo& snapshot);
void Write(JsonWriter& json, const service::Context& context);
void Write(JsonWriter& json, const service::Generation& generation);
void Write(JsonWriter& json, const service::CodeOutput& output);
void Write(JsonWriter& json, const service::CodeError& error);
void Write(JsonWriter& json, const service::RunResult& run);
void Write(JsonWriter& json, const service::FileInfo& file);
void Write(JsonWriter& json, const service::Artifact& artifact);
void Write(JsonWriter& json, const store::ArchiveInfo& archive);
void Write(JsonWriter& json, const service::WorkspaceRun& run);
void WriteEvidence(JsonWriter& json, const service::WorkspaceRun& run);
void Write(JsonWriter& json, const service::ArchiveTransfer& transfer);

// `{"<name>": <thing>}`
template <typename T>
Response ThingResponse(int status, std::string_view name, const T& thing) {
  JsonWriter json;
  json.BeginObject().Key(name);
  Write(json, thing);
  json.EndObject();
  return JsonResponse(status, json.Take());
}

// `{"data": […]}` without pages.
template <typename T>
Response ListResponse(const std::vector<T>& items) {
  JsonWriter json;
  json.BeginObject().Key("data").BeginArray();
  for (const T& item : items) Write(json, item);
  json.EndArray().EndObject();
  return JsonResponse(200, json.Take());
}

// `{"data": […], "hasMore": bool, "nextCursor"?: string}`
template <typename T>
Response PageResponse(const service::Paged<T>& page) {
  JsonWriter json;
  json.BeginObject().Key("data").BeginArray();
  for (const T& item : page.items) Write(json, item);
  json.EndArray().Field("hasMore", !page.next_cursor.empty());
  if (!page.next_cursor.empty()) json.Field("nextCursor", page.next_cursor);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace dormouse::http
