// SPDX-License-Identifier: Apache-2.0
// Quantities as people type them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::cli {

// A whole number, not negative.
std::optional<std::int64_t> ParseCount(const std::string& text);
// "250ms", "1.5s", "2m", "1h", "7d"; a bare number is seconds. Nothing for anything else and for
// less than 1 ms.
std::optional<std::int64_t> ParseDurationMs(const std::string& text);
// A number with the unit K, M or G (of 1024), or none.
std::optional<std::int64_t> ParseBytes(const std::string& text);

}  // namespace dormouse::cli
