// SPDX-License-Identifier: Apache-2.0
#include "common/json_members.h"

#include <algorithm>
#include <cstddef>

namespace dormouse {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// The end of the string that starts at `at`, behind its closing quote.
std::size_t SkipString(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// The end of the value that starts at `at`.
std::size_t SkipValue(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return at;
}

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace

JsonMembers JsonMembersOf(std::string_view text) {
  JsonMembers members;
  text = Trim(text);
  if (!text.starts_with('{')) return members;
  for (std::size_t at = 1; at < text.size();) {
    if (text[at] != '"') {
      if (text[at++] == '}') break;
      continue;
    }
    const std::size_t end = SkipString(text, at);
    if (end - at < 2) break;
    const std::string_view key = text.substr(at + 1, end - at - 2);
    const std::size_t colon = text.find(':', end);
    if (colon == std::string_view::npos) break;
    at = SkipValue(text, colon + 1);
    members.emplace_back(key, Trim(text.substr(colon + 1, at - colon - 1)));
  }
  return members;
}

std::string_view JsonMember(const JsonMembers& members, std::string_view key) {
  std::string_view value;
  for (const auto& [name, raw] : members) {
    if (name == key) value = raw;
  }
  return value;
}

}  // namespace dormouse
