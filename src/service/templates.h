// SPDX-License-Identifier: Apache-2.0
// TemplateTable: the named presets of sandboxes, with every setting filled in. Fixed at start.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "service/config.h"
#include "service/types.h"

namespace dormouse::service {

struct Template {
  std::string id;  // tpl_…
  std::string slug;
  std::string version;
  std::string version_id;  // tplv_…
  std::int64_t default_ttl_ms = 0;
  std::int64_t max_ttl_ms = 0;
  std::int64_t idle_expiry_ms = 0;  // 0: never
  std::uint32_t contexts_per_sandbox = 0;
  std::chrono::milliseconds default_timeout{0};
  std::string default_language;  // empty: none
  StringMap env;                 // of every context
};

class TemplateTable {
 public:
  explicit TemplateTable(const Config& config);

  // What a new sandbox is made from. kNotFound for an unknown slug or version, kInvalidRequest if they disagree.
  Result<const Template*> Choose(std::string_view slug, std::string_view version_id) const;
  // The template of an existing sandbox; one that is configured no more has the general limits.
  Template Of(std::string_view slug) const;
  std::vector<const Template*> WithIdleExpiry() const;

 private:
  const Config config_;
  std::map<std::string, Template, std::less<>> by_slug_;
};

}  // namespace dormouse::service
