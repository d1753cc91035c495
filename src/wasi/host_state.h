// SPDX-License-Identifier: Apache-2.0
// HostState: the host's side of a snapshot, as bytes.
//
// Two records, so that a large /tmp is written only when it changed:
//   descriptors    clocks, the descriptor table with offsets and flags, listing positions; small
//   private files  the /tmp tree with contents, and files that were unlinked but are still open
// /workspace is in neither: the server has it. To restore, into a fresh Wasi: first
// WorkspaceMirror::ApplyManifest (full), then RestorePrivateFiles, then RestoreDescriptors.
//
// An open file of /workspace or of the engine's files is found again by its path. If nothing of the
// same type is there any more, its descriptor answers ESTALE to everything but close; if the file
// was replaced, the descriptor goes on at its old offset in the new one. Both are as after a remote
// change under a live worker, except that a live worker still has the old content of a deleted
// file.
//
// A record is a magic number, a version, and tagged parts, each with its length. Unknown parts are
// skipped if the top bit of their tag says so, otherwise the record is refused.
//
// Records are hostile input: they are checked as they are read, and on an error the Wasi that was
// restored into must be destroyed. Threads: the guest's thread, while no guest code runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/result.h"
#include "wasi/host_interfaces.h"
#include "wasi/inode.h"

namespace dormouse::wasi {

class Wasi;

class HostState {
 public:
  // Takes the record in pieces, in order.
  using Sink = std::function<Result<void>(std::string_view piece)>;

  // Borrows `wasi`.
  explicit HostState(Wasi& wasi) : wasi_(wasi) {}

  std::string SaveDescriptors();
  Result<void> RestoreDescriptors(std::string_view record);

  // Whether the private files changed since the last SavePrivateFiles that MarkPrivateFilesSaved
  // confirmed. A fresh Wasi has none and is clean; so is one just restored.
  bool private_files_dirty() const;
  // Size of the record that SavePrivateFiles would write now, give or take small headers.
  std::uint64_t PrivateFilesBytes() const;
  Result<void> SavePrivateFiles(const Sink& sink);
  Result<std::string> SavePrivateFiles();
  // The last record was committed.
  void MarkPrivateFilesSaved();
  // Contents are not copied: files refer to `record` until they are written to.
  Result<void> RestorePrivateFiles(SharedBytes record);

 private:
  Wasi& wasi_;
  // Between RestorePrivateFiles and RestoreDescriptors: by saved inode number.
  std::unordered_map<std::uint64_t, InodePtr> restored_;
  std::uint64_t saved_version_ = 0;
  std::uint64_t saving_version_ = 0;
};

}  // namespace dormouse::wasi
