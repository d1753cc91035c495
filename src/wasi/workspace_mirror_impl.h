// SPDX-License-Identifier: Apache-2.0
// The state of a WorkspaceMirror. Part of its implementation.
//
// Changes are found by comparing states, not by recording operations: the observer only collects
// where to look (names, subtrees, inodes), and CollectChanges compares those places with the base.
// A place too many costs a comparison; the same place twice costs nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "wasi/file_system.h"
#include "wasi/workspace_mirror.h"

namespace dormouse::wasi {

struct WorkspaceMirror::Impl final : ChangeObserver {
  // What the server has at a path.
  struct Base {
    FileType type = FileType::kRegular;
    Sha256Digest digest;
    std::uint64_t size = 0;
    std::uint32_t mode = 0;
    std::int64_t mtime_ns = 0;
    std::string target;
    bool operator==(const Base&) const = default;
  };
  static Base BaseOf(const WorkspaceEntry& entry);

  // Where the tree may differ from the base.
  struct Places {
    std::set<std::string, std::less<>> names;
    std::set<std::string, std::less<>> trees;  // these paths and all below
    bool everything = false;
    bool empty() const { return names.empty() && trees.empty() && !everything; }
    void Add(std::set<std::string, std::less<>>& paths, std::string path);
    void Clear();
  };

  // What the last CollectChanges found; becomes the base when it was committed.
  struct Collected {
    std::string path;
    std::optional<Base> base;  // none: deleted
    InodePtr file;             // whose content was changed, so that `base` still lacks its digest
  };

  explicit Impl(FileSystem& files_in)
      : files(files_in), root(files_in.mount_root(MountKind::kWorkspace)) {}

  void OnName(Inode& directory, std::string_view name) override;
  void OnTree(Inode& directory, std::string_view name) override;
  void OnInode(Inode& inode) override;
  void OnUnlinked(Inode& inode) override;

  std::string PathOf(const Inode& directory, std::string_view name) const;
  DirectoryEntry* Find(std::string_view path) const;
  // Moves what was touched to `places`.
  void GatherPlaces();
  std::set<std::string, std::less<>> PathsToCompare() const;
  void AddLive(Inode& directory, const std::string& prefix,
               std::set<std::string, std::less<>>& paths) const;
  void Compare(const std::string& path, WorkspaceChanges& changes,
               std::vector<Collected>& found) const;

  Result<void> Check(const WorkspaceManifest& manifest) const;
  void Delete(const std::string& path, const std::set<std::string, std::less<>>& kept);
  bool Upsert(const WorkspaceEntry& entry, const std::set<std::string, std::less<>>& kept);
  bool ApplyToTree(const WorkspaceEntry& entry);
  Inode* MakeParents(std::string_view path);
  InodePtr MakeInode(const WorkspaceEntry& entry);
  void SetMeta(Inode& inode, const WorkspaceEntry& entry);

  FileSystem& files;
  Inode& root;
  std::map<std::string, Base, std::less<>> base;
  std::unordered_set<Inode*> touched_inodes;  // each has a name, else OnUnlinked removed it
  Places touched;                             // since the last CollectChanges
  Places places;                              // to compare: collected before, but not committed
  std::vector<Collected> collected;
};

}  // namespace dormouse::wasi
