// SPDX-License-Identifier: Apache-2.0
// The scopes that keys can have. Routes name the one they need in the router's table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace dormouse::service {

// In the order in which they are shown.
std::span<const std::string_view> AllScopes();

// At least one, all known (kInvalidRequest); each once, in the order of AllScopes().
Result<std::vector<std::string>> CheckScopes(const std::vector<std::string>& scopes);

}  // namespace dormouse::service
