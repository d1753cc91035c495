// SPDX-License-Identifier: Apache-2.0
// Small helpers that build C source text quickly.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::aot {

inline void AppendPiece(std::string& out, std::string_view text) { out.append(text); }
inline void AppendPiece(std::string& out, char c) { out.push_back(c); }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void AppendPiece(std::string& out, T number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  out.append(digits, end);
}

// Append(out, "t", 5, " = ") appends "t5 = ".
template <typename... Pieces>
void Append(std::string& out, const Pieces&... pieces) {
  (AppendPiece(out, pieces), ...);
}

template <typename... Pieces>
std::string Text(const Pieces&... pieces) {
  std::string out;
  Append(out, pieces...);
  return out;
}

// `text` as a C string literal with its quotes; bytes outside printable ASCII become octal escapes.
std::string CStringLiteral(std::string_view text);

}  // namespace dormouse::aot
