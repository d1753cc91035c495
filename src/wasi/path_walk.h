// SPDX-License-Identifier: Apache-2.0
// Path resolution by the rules of Linux. Part of FileSystem's implementation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wasi/file_system.h"

namespace dormouse::wasi {

// Where a path leads.
struct FileSystem::Location {
  enum class Kind : std::uint8_t { kName, kDot, kDotDot, kRoot };

  Location() = default;
  // `last` may view into `storage`.
  Location(const Location&) = delete;
  Location& operator=(const Location&) = delete;

  Kind kind = Kind::kName;
  bool trailing_slash = false;
  Inode* directory = nullptr;       // that the last name is in
  std::string_view last;            // kName
  DirectoryEntry* entry = nullptr;  // kName: null if there is no such name
  Inode* inode = nullptr;           // what is there, null if nothing is
  std::string storage;              // the rest of the path after the last symlink that was followed
};

// What to do with a symlink in last place.
enum class FileSystem::Last : std::uint8_t {
  kKeep,         // never follow it: the caller works on the name
  kFollowSlash,  // follow it only if a slash comes after it, as lstat does
  kFollow,
  kFollowUnlessSlash,  // as open with O_CREAT: a slash after it is an error before it is looked up
};

}  // namespace dormouse::wasi
