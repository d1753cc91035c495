// SPDX-License-Identifier: Apache-2.0
#include "engine/engine_module.h"

#include <dlfcn.h>

#include <cstring>
#include <limits>
#include <utility>

namespace dormouse::engine {
namespace {

constexpr std::uint32_t kMostEntries = 1u << 20;  // of any list: far beyond what compilers emit

// The table comes from a file that may be of another version or not an engine at all; what can be
// checked without running it is.
Result<void> CheckTable(const DormouseEngine& engine, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    return Error(ErrorCode::kCorrupt, "engine " + name + ": " + what);
  };
  if (engine.abi_version != DORMOUSE_ENGINE_ABI_VERSION) {
    return refuse("has ABI version " + std::to_string(engine.abi_version) + ", this host needs " +
                  std::to_string(DORMOUSE_ENGINE_ABI_VERSION));
  }
  if (engine.memory_pages == nullptr || engine.host == nullptr || engine.memory_grow == nullptr ||
      engine.trap == nullptr) {
    return refuse("lacks a required pointer");
  }
  if (engine.initial_pages > engine.max_pages || engine.max_pages > 65536) {
    return refuse("has impossible memory limits");
  }
  if (engine.import_count > kMostEntries || engine.export_count > kMostEntries ||
      engine.global_count > kMostEntries) {
    return refuse("has an impossible list");
  }
  for (std::uint32_t i = 0; i < engine.global_count; ++i) {
    const DormouseGlobal& global = engine.globals[i];
    if (global.address == nullptr || (global.size_bytes != 4 && global.size_bytes != 8)) {
      return refuse("has a global of an unknown kind");
    }
  }
  return {};
}

}  // namespace

Result<EngineModule> EngineModule::Load(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    return Error(ErrorCode::kNotFound,
                 "engine " + path + ": " + (reason != nullptr ? reason : "cannot be loaded"));
  }
  EngineModule module(nullptr, handle);  // closes the handle on the way out of an error
  module.engine_ = static_cast<const DormouseEngine*>(dlsym(handle, "dormouse_engine"));
  if (module.engine_ == nullptr) {
    return Error(ErrorCode::kCorrupt, "engine " + path + ": has no symbol dormouse_engine");
  }
  DORMOUSE_TRY(CheckTable(*module.engine_, path));
  return module;
}

Result<EngineModule> EngineModule::FromTable(const DormouseEngine& engine) {
  DORMOUSE_TRY(CheckTable(engine, "(linked in)"));
  return EngineModule(&engine, nullptr);
}

EngineModule::EngineModule(EngineModule&& other) noexcept
    : engine_(std::exchange(other.engine_, nullptr)),
      handle_(std::exchange(other.handle_, nullptr)) {}

EngineModule& EngineModule::operator=(EngineModule&& other) noexcept {
  std::swap(engine_, other.engine_);
  std::swap(handle_, other.handle_);
  return *this;
}

EngineModule::~EngineModule() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::span<const DormouseImport> EngineModule::imports() const {
  return {engine_->imports, engine_->import_count};
}

std::span<const DormouseExport> EngineModule::exports() const {
  return {engine_->exports, engine_->export_count};
}

std::span<const DormouseGlobal> EngineModule::globals() const {
  return {engine_->globals, engine_->global_count};
}

Result<void> EngineModule::BindImports(std::span<const HostFunction> functions, void* host) {
  std::vector<void*> found;
  std::string problems;
  for (const DormouseImport& import : imports()) {
    const HostFunction* match = nullptr;
    for (const HostFunction& function : functions) {
      if (function.module == import.module && function.name == import.name) match = &function;
    }
    const std::string name = std::string(import.module) + "." + import.name;
    if (match == nullptr) {
      problems += " " + name + " " + import.signature + " is not offered;";
    } else if (match->signature != import.signature) {
      problems += " " + name + " is " + std::string(match->signature) + ", the guest wants " +
                  import.signature + ";";
    } else {
      found.push_back(match->function);
    }
  }
  if (!problems.empty()) {
    problems.pop_back();
    return Error(ErrorCode::kInvalidRequest, "imports cannot be bound:" + problems);
  }
  for (std::size_t i = 0; i < found.size(); ++i) *imports()[i].slot = found[i];
  *engine_->host = host;
  return {};
}

void EngineModule::BindMemoryGrow(std::uint32_t (*function)(void* host,
                                                            std::uint32_t delta_pages)) {
  *engine_->memory_grow = function;
}

Result<void*> EngineModule::FindExportOfSignature(std::string_view name,
                                                  std::string_view signature) const {
  for (const DormouseExport& item : exports()) {
    if (name != item.name) continue;
    if (signature != item.signature) {
      return Error(ErrorCode::kInvalidRequest, "export " + std::string(name) + " is " +
                                                   item.signature + ", not " +
                                                   std::string(signature));
    }
    return item.function;
  }
  return Error(ErrorCode::kNotFound, "the engine does not export " + std::string(name));
}

bool EngineModule::HasExport(std::string_view name) const {
  for (const DormouseExport& item : exports()) {
    if (name == item.name) return true;
  }
  return false;
}

std::vector<std::uint64_t> EngineModule::SaveGlobals() const {
  std::vector<std::uint64_t> values;
  values.reserve(globals().size());
  for (const DormouseGlobal& global : globals()) {
    std::uint64_t value = 0;
    std::memcpy(&value, global.address, global.size_bytes);  // little-endian
    values.push_back(value);
  }
  return values;
}

Result<void> EngineModule::RestoreGlobals(std::span<const std::uint64_t> values) {
  if (values.size() != globals().size()) {
    return Error(ErrorCode::kCorrupt, "a snapshot has " + std::to_string(values.size()) +
                                          " globals, the engine " +
                                          std::to_string(globals().size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (globals()[i].size_bytes == 4 && values[i] > std::numeric_limits<std::uint32_t>::max()) {
      return Error(ErrorCode::kCorrupt,
                   "global " + std::string(globals()[i].name) + " is out of range");
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(globals()[i].address, &values[i], globals()[i].size_bytes);
  }
  return {};
}

}  // namespace dormouse::engine
