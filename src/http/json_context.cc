// SPDX-License-Identifier: Apache-2.0
#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

// Zero means that there is none: null.
void WriteUnlessZero(JsonWriter& json, std::string_view name, std::uint64_t value) {
  json.Key(name);
  if (value == 0) {
    json.Null();
  } else {
    json.Value(value);
  }
}

}  // namespace

void Write(JsonWriter& json, const service::Binding& binding) {
  json.BeginObject();
  json.Field("name", binding.name).Field("language", binding.language);
  json.Field("engine", binding.engine).Field("version", binding.version);
  json.Field("buildId", binding.build_id).Field("contexts", binding.contexts);
  json.Field("isDefault", binding.is_default).Field("preloaded", binding.preloaded);
  json.Key("limits").BeginObject();
  json.Field("memoryBytes", binding.memory_bytes).Field("maxMemoryBytes", binding.max_memory_bytes);
  WriteUnlessZero(json, "fuel", binding.fuel_us);
  WriteUnlessZero(json, "maxFuel", binding.max_fuel_us);
  WriteUnlessZero(json, "defaultTimeoutMs", binding.default_timeout_ms);
  json.Field("maxTimeoutMs", binding.max_timeout_ms).Field("codeBytes", binding.code_bytes);
  json.EndObject().EndObject();
}

void Write(JsonWriter& json, const service::Engine& engine) {
  json.BeginObject();
  json.Field("name", engine.name).Field("language", engine.language);
  json.Field("version", engine.version).Field("buildId", engine.build_id);
  json.Field("current", engine.current).Field("preloaded", engine.preloaded);
  json.Strings("bindings", engine.bindings);
  if (engine.contexts) json.Field("contexts", *engine.contexts);
  json.EndObject();
}

void Write(JsonWriter& json, const service::SnapshotInfo& snapshot) {
  json.BeginObject();
  json.Field("engineBuild", snapshot.engine_build).Field("generation", snapshot.generation);
  json.Field("pages", snapshot.pages).Field("bytes", snapshot.bytes);
  json.Field("storedBytes", snapshot.stored_bytes);
  json.Field("takenAt", FormatTimestamp(snapshot.taken_at)).Field("stale", snapshot.stale);
  if (snapshot.stale) json.Field("staleReason", snapshot.stale_reason);
  json.EndObject();
}

void Write(JsonWriter& json, const service::Context& context) {
  json.BeginObject();
  json.Field("id", context.id).Field("sandboxId", context.sandbox_id);
  json.Field("language", context.language).Field("binding", context.binding);
  if (!context.name.empty()) json.Field("name", context.name);
  json.Field("cwd", context.cwd).Field("isDefault", context.is_default);
  // Values may be secrets: only the names come back.
  json.Key("envKeys").BeginArray();
  for (const auto& [key, value] : context.env) json.Value(key);
  json.EndArray();
  json.Field("executions", context.executions);
  json.Field("createdAt", FormatTimestamp(context.created_at));
  json.Field("lastUsedAt", FormatTimestamp(context.last_used_at));
  json.Field("resident", context.resident).Field("running", context.running);
  json.Key("snapshot");
  if (context.snapshot) {
    Write(json, *context.snapshot);
  } else {
    json.Null();
  }
  json.EndObject();
}

void Write(JsonWriter& json, const service::Generation& generation) {
  json.BeginObject();
  json.Field("generation", generation.generation).Field("executions", generation.executions);
  json.Field("storedBytes", generation.stored_bytes).Field("pages", generation.live_pages);
  json.Field("takenAt", FormatTimestamp(generation.taken_at));
  json.EndObject();
}

}  // namespace dormouse::http
