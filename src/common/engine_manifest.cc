// SPDX-License-Identifier: Apache-2.0
#include "common/engine_manifest.h"

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "common/sha256.h"

namespace dormouse {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxManifestBytes = 4u << 20;

std::uint32_t U32(const json::value& value) { return value.to_number<std::uint32_t>(); }

EngineManifest Decode(const json::object& object) {
  EngineManifest manifest;
  manifest.name = json::value_to<std::string>(object.at("name"));
  manifest.language = json::value_to<std::string>(object.at("language"));
  manifest.version = json::value_to<std::string>(object.at("version"));
  manifest.build_id = json::value_to<std::string>(object.at("buildId"));
  manifest.memory_pages = U32(object.at("memoryPages"));
  manifest.max_memory_pages = U32(object.at("maxMemoryPages"));
  for (const json::value& value : object.at("globals").as_array()) {
    manifest.globals.push_back(value.to_number<std::uint64_t>());
  }
  for (const json::value& value : object.at("interrupts").as_array()) {
    const json::array& entry = value.as_array();
    manifest.interrupts.push_back({U32(entry.at(0)), U32(entry.at(1)), U32(entry.at(2)), U32(entry.at(3))});
  }
  for (const json::value& value : object.at("hotPages").as_array()) {
    const json::array& run = value.as_array();
    manifest.hot_pages.push_back({U32(run.at(0)), U32(run.at(1))});
  }
  manifest.has_rootfs = object.at("hasRootfs").as_bool();
  if (const json::value* const extends = object.if_contains("extends")) {
    manifest.extends = json::value_to<std::string>(*extends);
  }
  if (const json::value* const preload = object.if_contains("preload")) {
    manifest.preload = json::value_to<std::string>(*preload);
  }
  return manifest;
}

}  // namespace

std::string EngineManifest::ToJson() const {
  json::array global_values(globals.begin(), globals.end());
  json::array interrupt_entries;
  for (const Interrupt& entry : interrupts) {
    interrupt_entries.push_back(json::array{entry.address, entry.size_bytes, entry.operation, entry.value});
  }
  json::array hot;
  for (const PageRun& run : hot_pages) hot.push_back(json::array{run.first, run.count});
  json::object object{
      {"name", name},
      {"language", language},
      {"version", version},
      {"buildId", build_id},
      {"memoryPages", memory_pages},
      {"maxMemoryPages", max_memory_pages},
      {"globals", std::move(global_values)},
      {"interrupts", std::move(interrupt_entries)},
      {"hotPages", std::move(hot)},
      {"hasRootfs", has_rootfs},
  };
  if (!extends.empty()) object["extends"] = extends;
  if (!preload.empty()) object["preload"] = preload;
  return json::serialize(object) + "\n";
}

Result<EngineManifest> EngineManifest::FromJson(std::string_view text) {
  try {
    EngineManifest manifest = Decode(json::parse(text).as_object());
    if (!Sha256Digest::FromHex(manifest.build_id)) {
      return Error(ErrorCode::kCorrupt, "buildId is not 64 hex digits");
    }
    return manifest;
  } catch (const std::exception& problem) {
    return Error(ErrorCode::kCorrupt, problem.what());
  }
}

Result<EngineManifest> EngineManifest::Load(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "engine.json";
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error(ErrorCode::kNotFound, file.string() + " cannot be read");
  std::string text(kMaxManifestBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxManifestBytes) {
    return Error(ErrorCode::kCorrupt, file.string() + " is larger than 4 MiB");
  }
  Result<EngineManifest> manifest = FromJson(text);
  if (!manifest.ok()) {
    return Error(manifest.error().code, file.string() + ": " + manifest.error().message);
  }
  return manifest;
}

}  // namespace dormouse
