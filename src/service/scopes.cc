// SPDX-License-Identifier: Apache-2.0
#include "service/scopes.h"

#include <algorithm>

#include "service/validation.h"

namespace dormouse::service {
namespace {

constexpr std::string_view kScopes[] = {
    "sandbox:create",      "sandbox:read",         "sandbox:kill",   "sandbox:extend",
    "command:run",         "command:read",         "command:cancel", "code:run",
    "file:read",           "file:write",           "artifact:create", "artifact:read",
    "artifact:delete",     "preview:create",       "preview:read",   "preview:revoke",
    "workspace_run:create", "workspace_run:read",  "workspace_run:cancel", "backup:create",
    "backup:read",         "backup:restore",       "backup:delete",  "usage:read",
    "api_key:create",      "api_key:read",         "api_key:revoke", "project:create",
};

}  // namespace

std::span<const std::string_view> AllScopes() { return kScopes; }

Result<std::vector<std::string>> CheckScopes(const std::vector<std::string>& scopes) {
  if (scopes.empty()) return InvalidField("scopes", "must name at least one scope");
  for (const std::string& scope : scopes) {
    if (std::find(std::begin(kScopes), std::end(kScopes), scope) == std::end(kScopes)) {
      return InvalidField("scopes", "names the unknown scope " + scope.substr(0, 64));
    }
  }
  std::vector<std::string> ordered;
  for (const std::string_view known : kScopes) {
    if (std::find(scopes.begin(), scopes.end(), known) != scopes.end()) ordered.emplace_back(known);
  }
  return ordered;
}

}  // namespace dormouse::service
