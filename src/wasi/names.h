// SPDX-License-Identifier: Apache-2.0
// Rules for names and paths, wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/utf8.h"
#include "wasi/limits.h"

namespace dormouse::wasi {

// Well-formed UTF-8; fast for ASCII, which is what nearly all paths are.
inline bool IsUtf8(std::string_view text) {
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), sizeof word);
    if ((word & 0x8080'8080'8080'8080) != 0) break;
    text.remove_prefix(sizeof word);
  }
  return IsValidUtf8(text);
}

// One component of a path, as it may be stored: no "." and "..", no slash or NUL, UTF-8, not too
// long.
inline bool IsStorableName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos &&
         IsUtf8(name);
}

// A relative path of storable names: "a/b", no empty parts.
inline bool IsStorablePath(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    if (!IsStorableName(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// What a symlink may hold.
inline bool IsStorableTarget(std::string_view target) {
  return !target.empty() && target.size() <= kMaxPathBytes &&
         target.find('\0') == std::string_view::npos && IsUtf8(target);
}

}  // namespace dormouse::wasi
