// SPDX-License-Identifier: Apache-2.0
#include "wasi/workspace_mirror.h"

#include <algorithm>
#include <utility>

#include "wasi/workspace_mirror_impl.h"

namespace dormouse::wasi {
namespace {

// Beyond this many places, comparing the whole tree is no worse. It also bounds what a guest that
// makes and removes ever new names can make the host remember.
constexpr std::size_t kMaxPlaces = 50'000;

// From this size on, a committed content is given up and mapped again when it is read.
constexpr std::uint64_t kDropBytes = 1 << 20;

using Paths = std::set<std::string, std::less<>>;

}  // namespace

WorkspaceMirror::Impl::Base WorkspaceMirror::Impl::BaseOf(const WorkspaceEntry& entry) {
  Base base;
  base.type = entry.type;
  base.mode = entry.mode;
  base.mtime_ns = entry.mtime_ns;
  if (entry.type == FileType::kRegular) {
    base.digest = entry.digest;
    base.size = entry.size;
  }
  if (entry.type == FileType::kSymlink) {
    base.target = entry.target;
    base.mode = 0777;
  }
  return base;
}

void WorkspaceMirror::Impl::Places::Clear() {
  names.clear();
  trees.clear();
  everything = false;
}

void WorkspaceMirror::Impl::Places::Add(Paths& paths, std::string path) {
  if (everything) return;
  paths.insert(std::move(path));
  if (names.size() + trees.size() <= kMaxPlaces) return;
  Clear();
  everything = true;
}

std::string WorkspaceMirror::Impl::PathOf(const Inode& directory, std::string_view name) const {
  std::size_t length = name.size();
  for (const Inode* at = &directory; at != &root; at = at->entry->parent) {
    length += at->entry->name.size() + 1;
  }
  std::string path(length, '/');
  std::size_t end = length - name.size();
  path.replace(end, name.size(), name);
  for (const Inode* at = &directory; at != &root; at = at->entry->parent) {
    const std::string& part = at->entry->name;
    end -= part.size() + 1;
    path.replace(end, part.size(), part);
  }
  return path;
}

void WorkspaceMirror::Impl::OnName(Inode& directory, std::string_view name) {
  touched.Add(touched.names, PathOf(directory, name));
}

void WorkspaceMirror::Impl::OnTree(Inode& directory, std::string_view name) {
  touched.Add(touched.trees, PathOf(directory, name));
}

void WorkspaceMirror::Impl::OnInode(Inode& inode) {
  // The root is not part of the manifest. It stays marked, so that it does not come again.
  if (&inode != &root) touched_inodes.insert(&inode);
}

void WorkspaceMirror::Impl::OnUnlinked(Inode& inode) {
  if (inode.touched) touched_inodes.erase(&inode);
  inode.touched = false;
}

DirectoryEntry* WorkspaceMirror::Impl::Find(std::string_view path) const {
  Inode* directory = &root;
  while (true) {
    const std::size_t slash = path.find('/');
    DirectoryEntry* const entry = directory->directory->Find(path.substr(0, slash));
    if (entry == nullptr || slash == std::string_view::npos) return entry;
    if (!entry->inode->is_directory()) return nullptr;
    directory = entry->inode.get();
    path.remove_prefix(slash + 1);
  }
}

void WorkspaceMirror::Impl::GatherPlaces() {
  for (Inode* const inode : touched_inodes) {
    inode->touched = false;
    places.Add(places.names, PathOf(*inode->entry->parent, inode->entry->name));
    for (const DirectoryEntry* const entry : inode->more_entries) {
      places.Add(places.names, PathOf(*entry->parent, entry->name));
    }
  }
  touched_inodes.clear();
  if (touched.everything) {
    places.Clear();
    places.everything = true;
  }
  for (const std::string& path : touched.names) places.Add(places.names, path);
  for (const std::string& path : touched.trees) places.Add(places.trees, path);
  touched.Clear();
}

void WorkspaceMirror::Impl::AddLive(Inode& directory, const std::string& prefix,
                                    Paths& paths) const {
  for (auto& [cookie, entry] : directory.directory->entries()) {
    std::string path = prefix + entry.name;
    if (entry.inode->is_directory()) AddLive(*entry.inode, path + "/", paths);
    paths.insert(std::move(path));
  }
}

std::set<std::string, std::less<>> WorkspaceMirror::Impl::PathsToCompare() const {
  Paths paths;
  if (places.everything) {
    for (const auto& [path, entry] : base) paths.insert(paths.end(), path);
    AddLive(root, "", paths);
    return paths;
  }
  paths = places.names;
  for (const std::string& tree : places.trees) {
    paths.insert(tree);
    // "0" is the byte after "/": all keys that begin with the path and a slash.
    const auto end = base.lower_bound(tree + "0");
    for (auto at = base.lower_bound(tree + "/"); at != end; ++at) paths.insert(at->first);
    const DirectoryEntry* const entry = Find(tree);
    if (entry != nullptr && entry->inode->is_directory()) {
      AddLive(*entry->inode, tree + "/", paths);
    }
  }
  return paths;
}

void WorkspaceMirror::Impl::Compare(const std::string& path, WorkspaceChanges& changes,
                                    std::vector<Collected>& found) const {
  const auto known = base.find(path);
  const DirectoryEntry* const entry = Find(path);
  if (entry == nullptr) {
    if (known == base.end()) return;
    changes.deletions.push_back(path);
    found.push_back({path, std::nullopt, nullptr});
    return;
  }
  Inode& inode = *entry->inode;
  WorkspaceChange change;
  change.entry.path = path;
  change.entry.type = inode.type;
  change.entry.mode = inode.mode;
  change.entry.mtime_ns = inode.mtime_ns;
  change.is_new = known == base.end();
  if (inode.type == FileType::kSymlink) change.entry.target = inode.target;
  if (inode.type == FileType::kRegular) {
    change.entry.size = inode.content->size();
    if (inode.content->digest().has_value()) {
      change.entry.digest = *inode.content->digest();
      change.content = WorkspaceChange::Content::kKnown;
    } else {
      change.content = WorkspaceChange::Content::kChanged;
      change.file = &inode;
    }
  }
  Base now = BaseOf(change.entry);
  if (known != base.end() && change.content != WorkspaceChange::Content::kChanged &&
      known->second == now) {
    return;
  }
  found.push_back({path, std::move(now), change.file});
  changes.upserts.push_back(std::move(change));
}

WorkspaceMirror::WorkspaceMirror(FileSystem& files) : impl_(std::make_unique<Impl>(files)) {
  files.SetObserver(impl_.get());
}

WorkspaceMirror::~WorkspaceMirror() { impl_->files.SetObserver(nullptr); }

bool WorkspaceMirror::MayHaveChanges() const {
  return !impl_->touched_inodes.empty() || !impl_->touched.empty() || !impl_->places.empty();
}

WorkspaceChanges WorkspaceMirror::CollectChanges() {
  WorkspaceChanges changes;
  impl_->collected.clear();
  if (!MayHaveChanges()) return changes;
  impl_->GatherPlaces();
  for (const std::string& path : impl_->PathsToCompare()) {
    impl_->Compare(path, changes, impl_->collected);
  }
  std::reverse(changes.deletions.begin(), changes.deletions.end());
  // Nothing found: nothing to look at again.
  if (changes.empty()) impl_->places.Clear();
  return changes;
}

Result<void> WorkspaceMirror::MarkCommitted(std::span<const Sha256Digest> digests) {
  std::vector<Impl::Collected>& collected = impl_->collected;
  const auto changed = static_cast<std::size_t>(std::count_if(
      collected.begin(), collected.end(), [](const auto& item) { return item.file != nullptr; }));
  if (digests.size() != changed) {
    return Error(ErrorCode::kInvalidRequest, "there are " + std::to_string(changed) +
                                                 " changed contents, but " +
                                                 std::to_string(digests.size()) + " digests");
  }
  std::size_t next = 0;
  for (Impl::Collected& item : collected) {
    if (!item.base.has_value()) {
      impl_->base.erase(item.path);
      continue;
    }
    if (item.file) {
      item.base->digest = digests[next++];
      // If it was written to again, the name is not that of its content.
      if (!item.file->touched && item.file->content->size() == item.base->size) {
        const bool drop = item.base->size >= kDropBytes && impl_->files.contents() != nullptr;
        item.file->content->MarkStored(
            item.base->digest, drop ? FileContent::Memory::kDrop : FileContent::Memory::kKeep);
      }
    }
    impl_->base.insert_or_assign(item.path, std::move(*item.base));
  }
  collected.clear();
  impl_->places.Clear();
  return {};
}

}  // namespace dormouse::wasi
