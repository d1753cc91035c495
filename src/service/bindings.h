// SPDX-License-Identifier: Apache-2.0
// BindingTable: which engines are offered, under which names, with which limits. Fixed at start.
#pragma once

#include <map>
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
  bool is_default = false;  // of its language
  std::uint64_t min_memory_bytes = 0;
};

class BindingTable {
 public:
  // kInvalidRequest when a configured engine is not installed, or a language has two defaults.
  static Result<BindingTable> Make(const Config& config,
                                   const std::vector<scheduler::EngineBuild>& engines);

  // kNotFound.
  Result<const BindingEntry*> ByName(std::string_view name) const;
  // The default binding of a language, or kUnsupportedCodeLanguage.
  Result<const BindingEntry*> ByLanguage(std::string_view language) const;
  std::vector<Binding> All() const;
  bool IsInstalled(std::string_view build_id) const;

 private:
  std::map<std::string, BindingEntry, std::less<>> by_name_;
  std::vector<std::string> builds_;
};

}  // namespace dormouse::service
