// SPDX-License-Identifier: Apache-2.0
// Letters of ASCII, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace dormouse {

constexpr char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = AsciiLower(c);
  return lower;
}

}  // namespace dormouse
