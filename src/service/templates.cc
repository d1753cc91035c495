// SPDX-License-Identifier: Apache-2.0
#include "service/templates.h"

namespace dormouse::service {
namespace {

std::string IdOf(std::string_view prefix, std::string_view slug) {
  std::string id(prefix);
  for (const char c : slug) id.push_back(c == '-' ? '_' : c);
  return id;
}

Template Fill(const Config& config, std::string_view slug, const TemplateConfig& preset) {
  Template filled;
  filled.id = IdOf("tpl_", slug);
  filled.slug = slug;
  filled.version = preset.version;
  filled.version_id = IdOf("tplv_", slug) + "_" + preset.version;
  filled.default_ttl_ms = preset.default_ttl_ms.value_or(config.default_ttl_ms);
  filled.max_ttl_ms = preset.max_ttl_ms.value_or(config.max_ttl_ms);
  filled.idle_expiry_ms = preset.idle_expiry_ms;
  filled.contexts_per_sandbox = preset.contexts_per_sandbox.value_or(config.contexts_per_sandbox);
  filled.default_timeout = preset.default_timeout.value_or(config.default_timeout);
  filled.default_language = preset.default_language;
  filled.env = preset.env;
  return filled;
}

}  // namespace

TemplateTable::TemplateTable(const Config& config) : config_(config) {
  for (const auto& [slug, preset] : config.templates) {
    by_slug_.emplace(slug, Fill(config, slug, preset));
  }
}

Result<const Template*> TemplateTable::Choose(std::string_view slug,
                                              std::string_view version_id) const {
  if (slug.empty() && !version_id.empty()) {
    for (const auto& [name, found] : by_slug_) {
      if (found.version_id == version_id) return &found;
    }
    return Error(ErrorCode::kNotFound, "there is no such template version",
                 {{"field", "templateVersionId"}});
  }
  const auto it = by_slug_.find(slug.empty() ? std::string_view(config_.default_template) : slug);
  if (it == by_slug_.end()) {
    return Error(ErrorCode::kNotFound, "there is no such template", {{"field", "template"}});
  }
  if (!version_id.empty() && it->second.version_id != version_id) {
    return Error(ErrorCode::kInvalidRequest, "templateVersionId is not of that template",
                 {{"field", "templateVersionId"}});
  }
  return &it->second;
}

Template TemplateTable::Of(std::string_view slug) const {
  const auto it = by_slug_.find(slug);
  return it != by_slug_.end() ? it->second : Fill(config_, slug, TemplateConfig());
}

std::vector<const Template*> TemplateTable::WithIdleExpiry() const {
  std::vector<const Template*> found;
  for (const auto& [slug, preset] : by_slug_) {
    if (preset.idle_expiry_ms > 0) found.push_back(&preset);
  }
  return found;
}

}  // namespace dormouse::service
