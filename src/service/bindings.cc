// SPDX-License-Identifier: Apache-2.0
#include "service/bindings.h"

#include <algorithm>

namespace dormouse::service {
namespace {

using scheduler::EngineBuild;

// Of several builds under one name the current one serves new contexts; without a mark, the last one listed.
bool Replaces(const EngineBuild& engine, const EngineBuild* chosen) {
  return chosen == nullptr || engine.current || !chosen->current;
}

const EngineBuild* Newest(const std::vector<EngineBuild>& engines, std::string_view name) {
  const EngineBuild* newest = nullptr;
  for (const EngineBuild& engine : engines) {
    if (engine.name != name) continue;
    if (Replaces(engine, newest)) newest = &engine;
  }
  return newest;
}

std::string UpperCase(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// One binding per installed language: PYTHON, JAVASCRIPT, …
std::map<std::string, BindingConfig> DefaultBindings(const std::vector<EngineBuild>& engines) {
  std::map<std::string, BindingConfig> bindings;
  std::map<std::string, const EngineBuild*> chosen;
  for (const EngineBuild& engine : engines) {
    const EngineBuild*& best = chosen[engine.language];
    if (Replaces(engine, best)) best = &engine;
  }
  for (const auto& [language, engine] : chosen) {
    BindingConfig binding;
    binding.engine = engine->name;
    bindings.emplace(UpperCase(language), std::move(binding));
  }
  return bindings;
}

}  // namespace

Result<BindingTable> BindingTable::Make(const Config& config,
                                        const std::vector<EngineBuild>& engines) {
  BindingTable table;
  for (const EngineBuild& engine : engines) table.builds_.push_back(engine.build_id);
  const auto configured = config.bindings.empty() ? DefaultBindings(engines) : config.bindings;
  for (const auto& [name, binding] : configured) {
    const EngineBuild* engine = Newest(engines, binding.engine);
    if (engine == nullptr) {
      return Error(ErrorCode::kInvalidRequest,
                   "binding " + name + ": the engine " + binding.engine + " is not installed in " +
                       config.engines_directory.string(),
                   {{"field", "bindings." + name + ".engine"}});
    }
    BindingEntry entry;
    entry.info.name = name;
    entry.info.language = engine->language;
    entry.info.engine = engine->name;
    entry.info.version = engine->version;
    entry.info.build_id = engine->build_id;
    entry.info.contexts = binding.contexts;
    entry.info.max_memory_bytes = std::min(binding.memory_bytes, engine->max_memory_bytes);
    entry.info.memory_bytes = entry.info.max_memory_bytes;
    entry.info.fuel_us = binding.fuel_us;
    entry.info.max_timeout_ms = static_cast<std::uint64_t>(config.max_timeout.count());
    entry.info.code_bytes = config.code_bytes;
    entry.min_memory_bytes = engine->boot_memory_bytes;
    entry.is_default = binding.is_default;
    if (entry.info.max_memory_bytes < entry.min_memory_bytes) {
      return Error(ErrorCode::kInvalidRequest,
                   "binding " + name + ": memory_bytes is " + std::to_string(binding.memory_bytes) +
                       ", the engine needs " + std::to_string(entry.min_memory_bytes),
                   {{"field", "bindings." + name + ".memory_bytes"}});
    }
    for (const auto& [other, earlier] : table.by_name_) {
      if (entry.is_default && earlier.is_default && earlier.info.language == entry.info.language) {
        return Error(ErrorCode::kInvalidRequest,
                     "bindings " + other + " and " + name + " are both the default of " +
                         entry.info.language,
                     {{"field", "bindings." + name + ".default"}});
      }
    }
    table.by_name_.emplace(name, std::move(entry));
  }
  return table;
}

Result<const BindingEntry*> BindingTable::ByName(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it != by_name_.end()) return &it->second;
  return Error(ErrorCode::kNotFound, "there is no binding \"" + std::string(name.substr(0, 64)) + "\"",
               {{"field", "binding"}});
}

Result<const BindingEntry*> BindingTable::ByLanguage(std::string_view language) const {
  std::string known;
  for (const auto& [name, entry] : by_name_) {
    if (!entry.is_default) continue;
    if (entry.info.language == language) return &entry;
    known += (known.empty() ? "" : ", ") + entry.info.language;
  }
  return Error(ErrorCode::kUnsupportedCodeLanguage,
               "the language \"" + std::string(language.substr(0, 64)) +
                   "\" is not offered; there are: " + (known.empty() ? "none" : known),
               {{"field", "language"}});
}

std::vector<Binding> BindingTable::All() const {
  std::vector<Binding> bindings;
  for (const auto& [name, entry] : by_name_) bindings.push_back(entry.info);
  return bindings;
}

bool BindingTable::IsInstalled(std::string_view build_id) const {
  return std::find(builds_.begin(), builds_.end(), build_id) != builds_.end();
}

}  // namespace dormouse::service
