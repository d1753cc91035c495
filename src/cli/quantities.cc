// SPDX-License-Identifier: Apache-2.0
#include "cli/quantities.h"

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace dormouse::cli {
namespace {

// A number with a unit; nothing for a malformed one or an unknown unit.
std::optional<double> ParseScaled(
    const std::string& text, std::initializer_list<std::pair<std::string_view, double>> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, factor] : units) {
    if (unit == name) return number * factor;
  }
  return std::nullopt;
}

std::optional<std::int64_t> WholeAtLeastOne(std::optional<double> value) {
  if (!value || *value < 1 || *value > 9e15) return std::nullopt;
  return std::llround(*value);
}

}  // namespace

std::optional<std::int64_t> ParseCount(const std::string& text) {
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || rest != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ParseDurationMs(const std::string& text) {
  return WholeAtLeastOne(ParseScaled(
      text, {{"ms", 1}, {"s", 1e3}, {"", 1e3}, {"m", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}}));
}

std::optional<std::int64_t> ParseBytes(const std::string& text) {
  return WholeAtLeastOne(
      ParseScaled(text, {{"", 1}, {"K", 1024.0}, {"M", 1048576.0}, {"G", 1073741824.0}}));
}

}  // namespace dormouse::cli
