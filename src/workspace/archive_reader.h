// SPDX-License-Identifier: Apache-2.0
// ArchiveReader: turns a .tar.gz that nobody vouches for into tree entries and staged contents.
//
// Only gzip over tar is read. Entries are files, directories and links; paths are relative and stay below the root, link
// targets stay in /workspace, hard links name earlier files of the same archive. Everything else makes the whole archive
// invalid. Nothing is ever written to a path of the host: an entry is a row, and a link is not followed.
//
// Threads: one at a time; calls block on disk reads and writes and on decompression.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "workspace/content_store.h"

struct archive;
struct archive_entry;

namespace dormouse::workspace {

struct ArchiveLimits {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  // of all files, unpacked
  // An archive that unpacks to no more than this is no bomb, whatever its own size.
  std::uint64_t harmless_bytes = 64u << 20;
};

class ArchiveReader {
 public:
  // Takes the archive from the file's offset 0. Borrows `store` and `contents`. `is_stopped` is asked again and again,
  // on the thread that reads; empty: never stopped.
  ArchiveReader(FileDescriptor file, std::uint64_t archive_bytes, ArchiveLimits limits,
                store::Store& store, ContentStore& contents, std::function<bool()> is_stopped = {});
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  struct Portion {
    std::vector<StagedContent> contents;
    bool is_last = false;
  };
  // Reads on until the contents at hand are worth a commit. kInvalidRequest: not an archive that can be unpacked;
  // kArchiveTooLarge: over a limit, or made to unpack to far more than it has; kUnavailable: stopped, or out of memory.
  Result<Portion> Next();
  // After the last portion: what the archive holds, each path once.
  std::vector<store::TreeEntry> TakeEntries();

 private:
  struct Closer {
    void operator()(struct archive* archive) const;
  };
  Result<void> Open();
  Result<void> Take(archive_entry* entry, Portion& portion);
  Result<StagedContent> TakeFile(std::uint64_t announced);
  Result<void> Count(std::uint64_t bytes);
  Result<void> CheckNotStopped() const;
  Error Invalid(const std::string& what) const;
  Error ReadError() const;

  const FileDescriptor file_;
  const std::uint64_t archive_bytes_;
  const ArchiveLimits limits_;
  store::Store& store_;
  ContentStore& contents_;
  const std::function<bool()> is_stopped_;
  std::unique_ptr<struct archive, Closer> archive_;
  std::map<std::string, store::TreeEntry> entries_;
  std::uint64_t seen_entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace dormouse::workspace
