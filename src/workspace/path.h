// SPDX-License-Identifier: Apache-2.0
// Paths of /workspace: what a legal one is, and where one leads through symbolic links.
//
// Resolution knows a world in which "/" holds nothing but "workspace": absolute link targets and ".." are followed as a
// kernel would, and whatever would come to lie elsewhere is kPathOutsideWorkspace. Nothing of the host is ever looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "workspace/draft.h"

namespace dormouse::workspace {

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxPathBytes = 4095;
inline constexpr std::size_t kMaxTargetBytes = 4095;
inline constexpr int kMaxLinkHops = 40;
inline constexpr std::string_view kRoot = "/workspace";

// Whether `path` may be the path of an entry: relative, normalised, valid UTF-8, no NUL, within the limits, not empty.
Result<void> CheckEntryPath(std::string_view path);
// Whether `target` may be the target of a link: 1 to kMaxTargetBytes, valid UTF-8, no NUL.
Result<void> CheckLinkTarget(std::string_view target);

enum class LastLink { kFollow, kKeep };

struct Resolved {
  std::string path;                  // "" for the root
  const TreeEntry* entry = nullptr;  // borrowed from the draft; nothing: the last name does not exist
  bool directory_wanted = false;     // written with a trailing slash, or ends in "." or ".."
};

// Resolves a client's path, absolute or relative to /workspace. The directory of the last name exists.
// kInvalidRequest (malformed, too long, too many links), kPathOutsideWorkspace, kParentDirectoryNotFound,
// kPathNotDirectory (a file in the middle).
Result<Resolved> Resolve(const Draft& tree, std::string_view path, LastLink last_link);
// The same, but makes the directories that are missing on the way to the last name, modified at `now_ns`.
Result<Resolved> ResolveMakingParents(Draft& tree, std::string_view path, LastLink last_link,
                                      std::int64_t now_ns);

// A directory as the server makes it.
TreeEntry NewDirectory(std::string path, std::int64_t now_ns);

// "/workspace/…" of an entry's path.
std::string AbsolutePath(std::string_view path);
// The last name; "workspace" for the root.
std::string_view NameOf(std::string_view path);
// "" for entries in the root.
std::string_view ParentOf(std::string_view path);

}  // namespace dormouse::workspace
