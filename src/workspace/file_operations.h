// SPDX-License-Identifier: Apache-2.0
// What clients do to a tree: each operation checks, then changes the draft. After an error the draft is to be thrown away.
//
// Errors are those of Resolve (path.h), and the ones named at each function. `path` is as the client wrote it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "workspace/draft.h"

namespace dormouse::workspace {

// The entry itself, or what a link leads to. kFileNotFound.
Result<TreeEntry> StatEntry(const Draft& tree, std::string_view path);
// kFileNotFound, kPathIsDirectory.
Result<TreeEntry> FindFile(const Draft& tree, std::string_view path);
// kFileNotFound, kPathNotDirectory.
Result<std::vector<TreeEntry>> ListDirectory(const Draft& tree, std::string_view path);

struct WriteOptions {
  bool create_parents = false;
  bool overwrite = true;
};
// Puts a regular file; an existing one keeps its mode. kFileAlreadyExists, kPathIsDirectory.
Result<TreeEntry> WriteFile(Draft& tree, std::string_view path, const Sha256Digest& digest,
                            std::uint64_t size_bytes, WriteOptions options, std::int64_t now_ns);

enum class Parents { kMustExist, kMake };
// With kMake an existing directory is fine. kFileAlreadyExists.
Result<TreeEntry> MakeDirectory(Draft& tree, std::string_view path, Parents parents,
                                std::int64_t now_ns);

enum class Overwrite { kNo, kYes };
// Renames, like rename(2), but never into a directory. kFileNotFound, kFileAlreadyExists, kPathIsDirectory,
// kPathNotDirectory, kDirectoryNotEmpty, kInvalidRequest (the root, or a directory into itself).
Result<TreeEntry> Move(Draft& tree, std::string_view from, std::string_view to, Overwrite overwrite,
                       std::int64_t now_ns);

// A file, a link or an empty directory. kFileNotFound, kDirectoryNotEmpty, kInvalidRequest (the root).
Result<void> Delete(Draft& tree, std::string_view path, std::int64_t now_ns);

struct Quota {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};
// kQuotaExceeded when `after` is over the quota and above `before`: what is over already may shrink.
Result<void> CheckQuota(const TreeTotals& before, const TreeTotals& after, const Quota& quota);

}  // namespace dormouse::workspace
