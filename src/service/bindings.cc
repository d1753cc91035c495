// SPDX-License-Identifier: Apache-2.0
#include "service/bindings.h"

#include <algorithm>
#include <string_view>

#include "common/sha256.h"
#include "service/package_library.h"

namespace dormouse::service {
namespace {

using scheduler::EngineBuild;

// Of several builds under one name the current one serves new contexts; without a mark, the last
// one listed.
bool Replaces(const EngineBuild& engine, const EngineBuild* chosen) {
  return chosen == nullptr || engine.current || !chosen->current;
}

std::string BindingName(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '_';
  }
  return name;
}

// "python-data" of "python-data-3.13".
std::string_view WithoutVersion(std::string_view engine) {
  const std::size_t dash = engine.rfind('-');
  const bool versioned = dash != std::string_view::npos && dash + 1 < engine.size() &&
                         engine[dash + 1] >= '0' && engine[dash + 1] <= '9';
  return versioned ? engine.substr(0, dash) : engine;
}

// `engines` are by name without version.
bool IsExtended(std::string_view name,
                const std::map<std::string_view, const EngineBuild*>& engines) {
  return std::any_of(engines.begin(), engines.end(), [&](const auto& other) {
    return other.second->extends == name && other.first != name &&
           other.second->language == engines.at(name)->language;
  });
}

// One binding for each installed language, PYTHON, JAVASCRIPT, …, and one for each further engine
// of that language under its own name: python-lite-3.13 is PYTHON_LITE. An engine that extends
// another takes its place, and the other is PYTHON_CORE.
std::map<std::string, BindingConfig> DefaultBindings(const std::vector<EngineBuild>& engines) {
  std::map<std::string_view, const EngineBuild*> chosen;  // by name without version
  for (const EngineBuild& engine : engines) {
    if (!engine.preload.empty()) continue;
    const EngineBuild*& best = chosen[WithoutVersion(engine.name)];
    if (Replaces(engine, best)) best = &engine;
  }
  std::map<std::string_view, const EngineBuild*> of_language;
  for (const auto& [name, engine] : chosen) {
    if (IsExtended(name, chosen)) continue;
    const EngineBuild*& best = of_language[engine->language];
    if (best == nullptr || name == engine->language || engine->extends == engine->language) {
      best = engine;
    }
  }
  std::map<std::string, BindingConfig> bindings;
  for (const auto& [language, engine] : of_language) {
    bindings[BindingName(language)].engine = engine->name;
  }
  for (const auto& [name, engine] : chosen) {
    if (of_language[engine->language] == engine) continue;
    BindingConfig binding;
    binding.engine = engine->name;
    binding.is_default = false;
    const std::string own = BindingName(name);
    bindings.emplace(IsExtended(name, chosen) ? own + "_CORE" : own, std::move(binding));
  }
  return bindings;
}

// The build for new contexts of the binding.
Result<const EngineBuild*> ChooseBuild(const Config& config, const std::string& name,
                                       const BindingConfig& binding,
                                       const std::vector<EngineBuild>& engines) {
  const EngineBuild* const engine = CurrentBuild(engines, binding.engine);
  if (engine == nullptr) {
    return Error(ErrorCode::kInvalidRequest,
                 "binding " + name + ": the engine " + binding.engine + " is not installed in " +
                     config.engines_directory.string(),
                 {{"field", "bindings." + name + ".engine"}});
  }
  const std::string key = ImageKey(config, binding, *engine);
  if (key.empty()) return engine;
  for (const EngineBuild& image : engines) {
    if (image.preload == key) return &image;
  }
  return Error(ErrorCode::kInvalidRequest,
               "binding " + name + ": the image of its preload and packages is missing",
               {{"field", "bindings." + name}});
}

Result<BindingEntry> MakeEntry(const Config& config, const std::string& name,
                               const BindingConfig& binding,
                               const std::vector<EngineBuild>& engines) {
  DORMOUSE_ASSIGN(const EngineBuild* const engine, ChooseBuild(config, name, binding, engines));
  BindingEntry entry;
  Binding& info = entry.info;
  info.name = name;
  info.language = engine->language;
  info.engine = engine->name;
  info.version = engine->version;
  info.build_id = engine->build_id;
  info.contexts = binding.contexts;
  info.is_default = binding.is_default;
  info.preloaded = !binding.preload.empty();
  info.max_memory_bytes =
      std::min(std::max(binding.memory_bytes, binding.max_memory_bytes), engine->max_memory_bytes);
  info.memory_bytes = std::min(binding.memory_bytes, info.max_memory_bytes);
  info.max_fuel_us = binding.max_fuel_us;
  info.fuel_us = binding.fuel_us != 0 ? binding.fuel_us : binding.max_fuel_us;
  const auto max_timeout =
      binding.max_timeout.count() != 0 ? binding.max_timeout : config.max_timeout;
  info.max_timeout_ms = static_cast<std::uint64_t>(max_timeout.count());
  info.default_timeout_ms = static_cast<std::uint64_t>(binding.default_timeout.count());
  info.code_bytes = binding.code_bytes != 0 ? binding.code_bytes : config.code_bytes;
  entry.min_memory_bytes = engine->boot_memory_bytes;
  if (info.memory_bytes < entry.min_memory_bytes) {
    return Error(ErrorCode::kInvalidRequest,
                 "binding " + name + ": memory_bytes is " + std::to_string(binding.memory_bytes) +
                     ", the engine needs " + std::to_string(entry.min_memory_bytes),
                 {{"field", "bindings." + name + ".memory_bytes"}});
  }
  return entry;
}

}  // namespace

const EngineBuild* CurrentBuild(const std::vector<EngineBuild>& engines, std::string_view name) {
  const EngineBuild* chosen = nullptr;
  for (const EngineBuild& engine : engines) {
    if (engine.name != name || !engine.preload.empty()) continue;
    if (Replaces(engine, chosen)) chosen = &engine;
  }
  return chosen;
}

std::map<std::string, BindingConfig> OfferedBindings(const Config& config,
                                                     const std::vector<EngineBuild>& engines) {
  return config.bindings.empty() ? DefaultBindings(engines) : config.bindings;
}

std::string ImageKey(const Config& config, const BindingConfig& binding, const EngineBuild& base) {
  std::optional<PackageLibrary> library;
  if (binding.packages) library = InstalledLibrary(config.data_directory, base.language);
  if (binding.preload.empty() && !library) return "";
  std::string text = "dormouse preload 1\n" + base.build_id + "\n";
  if (library) text += "packages " + library->id + "\n";
  return Sha256(text + binding.preload).Hex();
}

Result<BindingTable> BindingTable::Make(const Config& config, std::vector<EngineBuild> engines) {
  BindingTable table;
  for (const auto& [name, binding] : OfferedBindings(config, engines)) {
    DORMOUSE_ASSIGN(BindingEntry entry, MakeEntry(config, name, binding, engines));
    for (const auto& [other, earlier] : table.by_name_) {
      if (entry.info.is_default && earlier->info.is_default &&
          earlier->info.language == entry.info.language) {
        return Error(ErrorCode::kInvalidRequest,
                     "bindings " + other + " and " + name + " are both the default of " +
                         entry.info.language,
                     {{"field", "bindings." + name + ".default"}});
      }
    }
    table.by_name_.emplace(name, std::make_shared<const BindingEntry>(std::move(entry)));
  }
  table.builds_ = std::move(engines);
  return table;
}

Result<BindingPtr> BindingTable::ByName(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it != by_name_.end()) return it->second;
  return Error(ErrorCode::kNotFound,
               "there is no binding \"" + std::string(name.substr(0, 64)) + "\"",
               {{"field", "binding"}});
}

Result<BindingPtr> BindingTable::ByLanguage(std::string_view language) const {
  std::string known;
  for (const auto& [name, entry] : by_name_) {
    if (!entry->info.is_default) continue;
    if (entry->info.language == language) return entry;
    known += (known.empty() ? "" : ", ") + entry->info.language;
  }
  return Error(ErrorCode::kUnsupportedCodeLanguage,
               "the language \"" + std::string(language.substr(0, 64)) +
                   "\" is not offered; there are: " + (known.empty() ? "none" : known),
               {{"field", "language"}});
}

std::vector<Binding> BindingTable::All() const {
  std::vector<Binding> bindings;
  for (const auto& [name, entry] : by_name_) bindings.push_back(entry->info);
  return bindings;
}

std::vector<Engine> BindingTable::Engines() const {
  std::vector<Engine> engines;
  for (const EngineBuild& build : builds_) {
    Engine engine;
    engine.name = build.name;
    engine.language = build.language;
    engine.version = build.version;
    engine.build_id = build.build_id;
    engine.preloaded = !build.preload.empty();
    for (const auto& [name, entry] : by_name_) {
      if (entry->info.build_id == build.build_id) engine.bindings.push_back(name);
    }
    engine.current = build.current || !engine.bindings.empty();
    engines.push_back(std::move(engine));
  }
  return engines;
}

bool BindingTable::IsInstalled(std::string_view build_id) const {
  return std::any_of(builds_.begin(), builds_.end(),
                     [&](const EngineBuild& build) { return build.build_id == build_id; });
}

}  // namespace dormouse::service
