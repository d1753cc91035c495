// SPDX-License-Identifier: Apache-2.0
// The request that a guest driver reads: docs/engine-abi.md §2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "service/types.h"

namespace dormouse::service {

struct GuestRequest {
  std::string_view code;
  std::string_view language;
  std::uint64_t execution = 0;  // names the cell
  std::string_view cwd;         // empty: where the context is
  const StringMap* env = nullptr;
  // Of a context that is born with this run.
  std::optional<std::string> context_cwd;
  const StringMap* context_env = nullptr;
};

std::string ToJson(const GuestRequest& request);

}  // namespace dormouse::service
