// SPDX-License-Identifier: Apache-2.0
// BindingTable: which engines are offered, under which names, with which limits. Never changes; a
// new one takes its place when engines are installed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "scheduler/worker_host.h"
#include "service/config.h"
#include "service/types.h"

namespace dormouse::service {

struct BindingEntry {
  Binding info;
  std::uint64_t min_memory_bytes = 0;
};

using BindingPtr = std::shared_ptr<const BindingEntry>;

// The build that new contexts of the engine `name` get: the current one, without a mark the last
// one listed. Null when none is installed. Images with preloaded code are not asked for by name.
const scheduler::EngineBuild* CurrentBuild(const std::vector<scheduler::EngineBuild>& engines,
                                           std::string_view name);

// The bindings that are offered: the configured ones, else one for each installed language.
std::map<std::string, BindingConfig> OfferedBindings(const Config& config,
                                                     const std::vector<scheduler::EngineBuild>& engines);

// Names the image of an engine build that the binding's contexts begin with; empty: the engine's own.
std::string ImageKey(const Config& config, const BindingConfig& binding,
                     const scheduler::EngineBuild& base);

class BindingTable {
 public:
  // kInvalidRequest when a configured engine is not installed, or a language has two defaults.
  static Result<BindingTable> Make(const Config& config,
                                   std::vector<scheduler::EngineBuild> engines);

  // kNotFound.
  Result<BindingPtr> ByName(std::string_view name) const;
  // The default binding of a language, or kUnsupportedCodeLanguage.
  Result<BindingPtr> ByLanguage(std::string_view language) const;
  std::vector<Binding> All() const;
  // All installed builds; `current` are those that a binding uses and the current ones of their
  // name.
  std::vector<Engine> Engines() const;
  bool IsInstalled(std::string_view build_id) const;

 private:
  std::map<std::string, BindingPtr, std::less<>> by_name_;
  std::vector<scheduler::EngineBuild> builds_;
};

}  // namespace dormouse::service
