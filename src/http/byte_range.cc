// SPDX-License-Identifier: Apache-2.0
#include "http/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "http/text.h"

namespace dormouse::http {
namespace {

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ByteRange ParseRange(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const ByteRange whole{ByteRange::Kind::kWhole, 0, size};
  if (header.size() < kUnit.size() || !EqualsIgnoringCase(header.substr(0, kUnit.size()), kUnit)) {
    return whole;
  }
  const std::string_view range = TrimSpaces(header.substr(kUnit.size()));
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return whole;
  const std::string_view first_text = range.substr(0, dash);
  const std::string_view last_text = range.substr(dash + 1);
  const auto first = ParseNumber(first_text);
  const auto last = ParseNumber(last_text);
  if ((!first && !first_text.empty()) || (!last && !last_text.empty())) return whole;
  if (!first && !last) return whole;
  if (!first) {  // the last so many bytes
    const std::uint64_t length = std::min(*last, size);
    if (length == 0) return {ByteRange::Kind::kUnsatisfiable, 0, 0};
    return {ByteRange::Kind::kPart, size - length, length};
  }
  if (last && *last < *first) return whole;
  if (*first >= size) return {ByteRange::Kind::kUnsatisfiable, 0, 0};
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {ByteRange::Kind::kPart, *first, end - *first + 1};
}

}  // namespace dormouse::http
