// SPDX-License-Identifier: Apache-2.0
// WorkspaceMirror::ApplyManifest: from the server's tree to ours.
#include <algorithm>
#include <utility>

#include "wasi/names.h"
#include "wasi/workspace_mirror_impl.h"

namespace dormouse::wasi {
namespace {

using Paths = std::set<std::string, std::less<>>;

constexpr std::size_t kMaxWorkspacePathBytes = kMaxPathBytes - sizeof("/workspace/") + 1;
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 62;

Error Malformed(const std::string& path, const char* why) {
  return Error(ErrorCode::kInvalidRequest, std::string("manifest: ") + why, {{"path", path}});
}

Result<void> CheckEntry(const WorkspaceEntry& entry) {
  if (!IsStorablePath(entry.path) || entry.path.size() > kMaxWorkspacePathBytes) {
    return Malformed(entry.path, "path cannot be stored");
  }
  if (entry.type != FileType::kRegular && entry.type != FileType::kDirectory &&
      entry.type != FileType::kSymlink) {
    return Malformed(entry.path, "unknown type");
  }
  if (entry.type == FileType::kSymlink && !IsStorableTarget(entry.target)) {
    return Malformed(entry.path, "link target cannot be stored");
  }
  if ((entry.mode & ~07777u) != 0) return Malformed(entry.path, "mode has more than 12 bits");
  if (entry.size > kMaxSize) return Malformed(entry.path, "size is absurd");
  return {};
}

std::string_view ParentOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

Result<void> WorkspaceMirror::Impl::Check(const WorkspaceManifest& manifest) const {
  std::map<std::string_view, FileType> listed;
  for (const WorkspaceEntry& entry : manifest.upserts) {
    DORMOUSE_TRY(CheckEntry(entry));
    if (!listed.emplace(entry.path, entry.type).second) {
      return Malformed(entry.path, "path is listed twice");
    }
  }
  Paths gone;
  for (const std::string& path : manifest.deletions) {
    if (listed.contains(path) || !gone.insert(path).second) {
      return Malformed(path, "path is listed twice");
    }
  }
  for (const WorkspaceEntry& entry : manifest.upserts) {
    for (std::string_view parent = ParentOf(entry.path); !parent.empty();
         parent = ParentOf(parent)) {
      const auto above = listed.find(parent);
      if (above != listed.end()) {
        if (above->second != FileType::kDirectory) return Malformed(entry.path, "parent is a file");
        break;  // its own parents were or will be checked
      }
      if (manifest.kind == WorkspaceManifest::Kind::kFull || gone.contains(parent)) continue;
      const auto known = base.find(parent);
      if (known != base.end() && known->second.type != FileType::kDirectory) {
        return Malformed(entry.path, "parent is a file");
      }
    }
  }
  return {};
}

InodePtr WorkspaceMirror::Impl::MakeInode(const WorkspaceEntry& entry) {
  InodePtr inode = files.NewInode(MountKind::kWorkspace, entry.type, entry.mode);
  if (entry.type == FileType::kRegular) inode->content->SetStored(entry.digest, entry.size);
  if (entry.type == FileType::kSymlink) inode->SetTarget(entry.target);
  SetMeta(*inode, entry);
  inode->atime_ns = entry.mtime_ns;
  return inode;
}

void WorkspaceMirror::Impl::SetMeta(Inode& inode, const WorkspaceEntry& entry) {
  inode.mode = entry.type == FileType::kSymlink ? 0777 : entry.mode;
  inode.mtime_ns = entry.mtime_ns;
}

// The directory that `path` is in; null when something else is in the way.
Inode* WorkspaceMirror::Impl::MakeParents(std::string_view path) {
  Inode* directory = &root;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/')) {
    const std::string_view name = path.substr(0, slash);
    DirectoryEntry* entry = directory->directory->Find(name);
    if (entry == nullptr) {
      directory->mtime_ns = directory->ctime_ns = root.ctime_ns;
      entry = files.Attach(*directory, name,
                           files.NewInode(MountKind::kWorkspace, FileType::kDirectory, 0755));
    }
    if (!entry->inode->is_directory()) return nullptr;
    directory = entry->inode.get();
    path.remove_prefix(slash + 1);
  }
  return directory;
}

// False when the local state stands in the way and stays.
bool WorkspaceMirror::Impl::ApplyToTree(const WorkspaceEntry& entry) {
  Inode* const parent = MakeParents(entry.path);
  if (parent == nullptr) return false;
  const std::string_view name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
  DirectoryEntry* const there = parent->directory->Find(name);
  // Of this manifest; see ApplyManifest.
  const std::int64_t now = root.ctime_ns;
  if (there == nullptr) {
    files.Attach(*parent, name, MakeInode(entry));
    parent->mtime_ns = parent->ctime_ns = now;
    return true;
  }
  Inode& inode = *there->inode;
  const bool same_type = inode.type == entry.type;
  if (same_type && inode.type == FileType::kRegular) {
    const bool same_content =
        inode.content->digest() == entry.digest && inode.content->size() == entry.size;
    if (!same_content && !inode.more_entries.empty()) {
      files.Replace(there, MakeInode(entry));
      return true;
    }
    if (!same_content) inode.content->SetStored(entry.digest, entry.size);
  } else if (!same_type || inode.type == FileType::kSymlink) {
    if (inode.is_directory() && !inode.directory->empty()) return false;
    if (!same_type || inode.target != entry.target) {
      files.Replace(there, MakeInode(entry));
      parent->mtime_ns = parent->ctime_ns = now;
      return true;
    }
  }
  SetMeta(inode, entry);
  inode.ctime_ns = now;
  return true;
}

// Whether the tree now has the entry, and did not before.
bool WorkspaceMirror::Impl::Upsert(const WorkspaceEntry& entry, const Paths& kept) {
  Base wanted = BaseOf(entry);
  const auto known = base.find(entry.path);
  if (known != base.end() && known->second == wanted) return false;
  base.insert_or_assign(entry.path, std::move(wanted));
  if (!kept.contains(entry.path) && ApplyToTree(entry)) return true;
  places.Add(places.names, entry.path);
  return false;
}

void WorkspaceMirror::Impl::Delete(const std::string& path, const Paths& kept) {
  const auto known = base.find(path);
  if (known == base.end()) return;
  base.erase(known);
  DirectoryEntry* const entry = Find(path);
  const bool occupied =
      entry != nullptr && entry->inode->is_directory() && !entry->inode->directory->empty();
  if (kept.contains(path) || occupied) {
    places.Add(places.names, path);
    return;
  }
  if (entry == nullptr) return;
  Inode& parent = *entry->parent;
  files.Detach(entry);
  parent.mtime_ns = parent.ctime_ns = root.ctime_ns;
}

Result<void> WorkspaceMirror::ApplyManifest(const WorkspaceManifest& manifest) {
  Impl& impl = *impl_;
  DORMOUSE_TRY(impl.Check(manifest));
  std::vector<const WorkspaceEntry*> upserts;
  upserts.reserve(manifest.upserts.size());
  for (const WorkspaceEntry& entry : manifest.upserts) upserts.push_back(&entry);
  std::sort(upserts.begin(), upserts.end(),
            [](const auto* a, const auto* b) { return a->path < b->path; });
  std::vector<std::string> deletions = manifest.deletions;
  if (manifest.kind == WorkspaceManifest::Kind::kFull) {
    deletions.clear();
    auto listed = upserts.begin();
    for (const auto& [path, entry] : impl.base) {
      while (listed != upserts.end() && (*listed)->path < path) ++listed;
      if (listed == upserts.end() || (*listed)->path != path) deletions.push_back(path);
    }
  }
  std::sort(deletions.rbegin(), deletions.rend());

  // What the guest changed and nobody committed stays as it is.
  Paths kept;
  if ((!upserts.empty() || !deletions.empty()) && MayHaveChanges()) {
    const WorkspaceChanges changes = CollectChanges();
    for (const WorkspaceChange& change : changes.upserts) kept.insert(change.entry.path);
    kept.insert(changes.deletions.begin(), changes.deletions.end());
  }
  impl.collected.clear();

  // The time of this manifest, for directories whose entries change: import caches of guests look
  // at it.
  if (!upserts.empty() || !deletions.empty()) impl.root.ctime_ns = impl.files.Now();
  for (const std::string& path : deletions) impl.Delete(path, kept);
  std::vector<const WorkspaceEntry*> directories;
  for (const WorkspaceEntry* const entry : upserts) {
    if (impl.Upsert(*entry, kept) && entry->type == FileType::kDirectory) {
      directories.push_back(entry);
    }
  }
  // Their entries were made after they got their times.
  for (const WorkspaceEntry* const entry : directories) {
    const DirectoryEntry* const there = impl.Find(entry->path);
    if (there != nullptr && there->inode->is_directory()) there->inode->mtime_ns = entry->mtime_ns;
  }
  return {};
}

}  // namespace dormouse::wasi
