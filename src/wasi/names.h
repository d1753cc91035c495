// SPDX-License-Identifier: Apache-2.0
// Rules for names and paths, wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "wasi/limits.h"

namespace dormouse::wasi {

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool IsUtf8(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  while (at < end) {
    if (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      if ((word & 0x8080'8080'8080'8080) == 0) {
        at += 8;
        continue;
      }
    }
    const unsigned char lead = *at;
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const int more = lead >= 0xc2 && lead < 0xe0   ? 1
                     : lead >= 0xe0 && lead < 0xf0 ? 2
                     : lead >= 0xf0 && lead < 0xf5 ? 3
                                                   : 0;
    if (more == 0 || end - at <= more) return false;
    for (int i = 1; i <= more; ++i) {
      if ((at[i] & 0xc0) != 0x80) return false;
    }
    const unsigned char second = at[1];
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
      return false;
    }
    at += more + 1;
  }
  return true;
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
