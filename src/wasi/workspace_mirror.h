// SPDX-License-Identifier: Apache-2.0
// WorkspaceMirror: keeps /workspace in step with the tree that the server holds.
//
// Paths are relative to /workspace, without leading or trailing slash: "a/b.txt". The mirror
// remembers, per path, what the server has (the base), and which paths the guest touched since;
// both directions cost what changed, not what exists.
//
// Rules of ApplyManifest:
//   * An entry equal to the base is left alone, whatever the guest did to it meanwhile.
//   * A path with local changes that were not committed (no MarkCommitted since) keeps its local
//     state; only the base moves, so the next CollectChanges reports the local state as a change.
//   * A regular file whose content changed remotely keeps its inode, so that open descriptors see
//     the new content at their old offset; a hard-linked one gets a new inode, so that its other
//     names do not change with it. Any change of type makes a new inode.
//   * Open descriptors of deleted or replaced inodes go on working, like after unlink.
//   * A directory whose entries change gets the current time as its mtime, unless the manifest also
//     brings a new entry for the directory itself: import caches of guests look at it. For the same
//     reason the server must give a directory a new mtime when something in it appears or
//     disappears.
//   * Hard links are not part of the tree: two names come back as two files after a restore.
//
// Life of a run: ApplyManifest; the guest runs; CollectChanges; the server commits; MarkCommitted.
// If the commit fails, do not call MarkCommitted: the changes are reported again the next time.
//
// Threads: the guest's thread, between or during runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/sha256.h"
#include "wasi/file_system.h"

namespace dormouse::wasi {

struct WorkspaceEntry {
  std::string path;
  FileType type = FileType::kRegular;  // kRegular, kDirectory or kSymlink
  Sha256Digest digest;                 // regular files
  std::uint64_t size = 0;              // regular files
  std::uint32_t mode = 0644;           // permission bits
  std::int64_t mtime_ns = 0;
  std::string target;  // symlinks
};

struct WorkspaceManifest {
  enum class Kind : std::uint8_t {
    kFull,   // all there is; base paths that are not listed are deletions
    kDelta,  // upserts and deletions relative to what this mirror has
  };
  Kind kind = Kind::kFull;
  // Any order; missing parent directories are made (mode 0755).
  std::vector<WorkspaceEntry> upserts;
  std::vector<std::string> deletions;  // any order; unknown paths are ignored
};

struct WorkspaceChange {
  enum class Content : std::uint8_t {
    kNone,     // directory or symlink
    kKnown,    // `entry.digest` names it and the server has it (rename, mode, mtime)
    kChanged,  // read it through `file`; entry.digest is not set
  };
  WorkspaceEntry entry;
  Content content = Content::kNone;
  bool is_new = false;  // the base has nothing at this path
  // kChanged: the file. Its content() is valid until the guest runs again.
  InodePtr file;
};

struct WorkspaceChanges {
  std::vector<WorkspaceChange> upserts;  // sorted by path, parents before children
  std::vector<std::string> deletions;    // children before parents
  bool empty() const { return upserts.empty() && deletions.empty(); }
  // To be applied in this order: deletions, then upserts (a directory may become a file).
};

class WorkspaceMirror {
 public:
  // Borrows `files`, which must outlive the mirror.
  explicit WorkspaceMirror(FileSystem& files);
  ~WorkspaceMirror();
  WorkspaceMirror(const WorkspaceMirror&) = delete;
  WorkspaceMirror& operator=(const WorkspaceMirror&) = delete;

  // Refuses the manifest as a whole (and changes nothing) when a path or target is malformed,
  // listed twice, or lies below something that is not a directory. Limits of bytes and files do not
  // apply.
  Result<void> ApplyManifest(const WorkspaceManifest& manifest);

  // What differs between the tree and the base. Immediate when nothing was touched.
  WorkspaceChanges CollectChanges();

  // The last CollectChanges was committed. `digests` names the contents of its kChanged upserts, in
  // order of those upserts; the base becomes what was collected. Large contents are given up and
  // loaded again from the ContentSource when next read.
  Result<void> MarkCommitted(std::span<const Sha256Digest> digests);

  // Whether CollectChanges has anything to look at.
  bool MayHaveChanges() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::wasi
