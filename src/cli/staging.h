// SPDX-License-Identifier: Apache-2.0
// Installing directories as a whole: made aside, given their name by one rename, chosen by a link
// `current`. One process at a time changes a directory of them.
#pragma once

#include <filesystem>
#include <string>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace dormouse::cli {

// A new directory, hidden from whoever looks for installed ones. Removed at the end, with what is
// left in it.
class StagingDirectory {
 public:
  static Result<StagingDirectory> Make(const std::filesystem::path& parent);
  StagingDirectory(StagingDirectory&& other) noexcept;
  StagingDirectory(const StagingDirectory&) = delete;
  StagingDirectory& operator=(const StagingDirectory&) = delete;
  ~StagingDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit StagingDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Makes the directory if need be; held by whoever changes what is in it.
Result<FileDescriptor> LockDirectory(const std::filesystem::path& directory);

Result<void> SyncDirectory(const std::filesystem::path& directory);

// Replaces the link `directory`/current in one step: others find the old target or the new one.
Result<void> PointCurrentAt(const std::filesystem::path& directory, const std::string& target);

}  // namespace dormouse::cli
