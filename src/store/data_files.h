// SPDX-License-Identifier: Apache-2.0
// DataFiles: the files of a data directory: segments and contents too large for the database, and files being written.
//
//   lock          held while a server runs; names its process
//   dormouse.db   the database
//   segments/x/…  one file per large segment      contents/x/…  one file per large content
//   tmp/          files being written; emptied at start
//
// A file appears under its final, random name complete, and before any transaction refers to it. A name is used once.
// Files that no row refers to are removed: at once when the transaction fails, at the next start after a crash.
//
// Threads: all calls may be made from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace dormouse::store {

class DataFiles;

enum class DataFileKind { kSegment, kContent };

// A file under its final name that no committed row refers to yet. Removed on destruction unless kept.
class PlacedFile {
 public:
  PlacedFile() = default;
  PlacedFile(DataFiles* files, DataFileKind kind, std::string name, FileDescriptor descriptor)
      : files_(files), kind_(kind), name_(std::move(name)), descriptor_(std::move(descriptor)) {}
  ~PlacedFile();
  PlacedFile(PlacedFile&& other) noexcept { *this = std::move(other); }
  PlacedFile& operator=(PlacedFile&& other) noexcept;

  DataFileKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  int descriptor() const { return descriptor_.get(); }
  // A row refers to it now.
  void Keep() { files_ = nullptr; }

 private:
  DataFiles* files_ = nullptr;
  DataFileKind kind_ = DataFileKind::kSegment;
  std::string name_;
  FileDescriptor descriptor_;
};

class DataFiles {
 public:
  // Makes the directories, takes the lock, empties tmp/. kConflict when another server holds the lock.
  static Result<std::unique_ptr<DataFiles>> Open(const std::filesystem::path& directory);

  const std::filesystem::path& directory() const { return directory_; }

  // A new file without a name that is gone when its last descriptor closes, unless it is placed.
  Result<FileDescriptor> CreateTemporary();
  // Gives the file of `descriptor`, made by CreateTemporary, its final name.
  Result<PlacedFile> Place(DataFileKind kind, FileDescriptor descriptor);
  // Opens for reading. kCorrupt when the file is missing.
  Result<FileDescriptor> OpenForRead(DataFileKind kind, std::string_view name) const;
  void Remove(DataFileKind kind, std::string_view name);

  // Writes the file's bytes and its directory entry through to the disk.
  Result<void> Sync(const PlacedFile& file) const;

  // Removes files that are not in `known` and were there before this object was opened. Returns how many.
  std::size_t SweepOrphans(DataFileKind kind, const std::unordered_set<std::string>& known);

 private:
  DataFiles(std::filesystem::path directory, FileDescriptor lock, std::int64_t opened_ns);
  std::filesystem::path PathOf(DataFileKind kind, std::string_view name) const;

  const std::filesystem::path directory_;
  const FileDescriptor lock_;
  const std::int64_t opened_ns_;
};

}  // namespace dormouse::store
