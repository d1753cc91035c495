// SPDX-License-Identifier: Apache-2.0
// FileSystem's operations on names. The order of checks is Linux's, so that the same error wins
// when several apply.
#include <algorithm>
#include <utility>
#include <vector>

#include "wasi/names.h"
#include "wasi/path_walk.h"

namespace dormouse::wasi {
namespace {

// As ext4 has it.
constexpr std::uint64_t kMaxLinks = 65000;

// Bytes of the longest path below a directory, its slash included.
std::uint64_t LongestPathBelow(Inode& top) {
  std::uint64_t longest = 0;
  std::vector<std::pair<Inode*, std::uint64_t>> pending = {{&top, 0}};
  while (!pending.empty()) {
    const auto [directory, bytes] = pending.back();
    pending.pop_back();
    for (auto& [cookie, entry] : directory->directory->entries()) {
      const std::uint64_t here = bytes + 1 + entry.name.size();
      longest = std::max(longest, here);
      if (entry.inode->is_directory()) pending.emplace_back(entry.inode.get(), here);
    }
  }
  return longest;
}

// Whether `inode` is `ancestor` or below it.
bool IsWithin(const Inode* inode, const Inode* ancestor) {
  while (inode != nullptr) {
    if (inode == ancestor) return true;
    inode = inode->entry != nullptr ? inode->entry->parent : nullptr;
  }
  return false;
}

}  // namespace

Errno FileSystem::CheckPathLength(const Inode& directory, std::string_view name,
                                  std::uint64_t below_bytes) const {
  std::uint64_t bytes = 1 + name.size() + below_bytes;
  for (const Inode* at = &directory; at->entry != nullptr; at = at->entry->parent) {
    bytes += 1 + at->entry->name.size();
  }
  return bytes > kMaxPathBytes ? Errno::kNameTooLong : Errno::kSuccess;
}

Errno FileSystem::CheckCreate(const Location& location, Counted counted) const {
  const Mount& mount = *location.directory->mount;
  if (mount.read_only) return Errno::kReadOnly;
  if (location.directory->unlinked()) return Errno::kNotFound;
  if (!IsStorableName(location.last)) return Errno::kIllegalName;
  if (counted == Counted::kYes && mount.files.remaining() == 0) return mount.full;
  return CheckPathLength(*location.directory, location.last, 0);
}

void FileSystem::Add(const Location& location, InodePtr inode) {
  NameChanges(*location.directory, location.last);
  Attach(*location.directory, location.last, std::move(inode));
  DirectoryChanged(*location.directory);
}

Errno FileSystem::Open(Inode& start, std::string_view path, const OpenRequest& request,
                       InodePtr& opened) {
  if (request.create && request.directory) return Errno::kInvalid;
  Location location;
  Last last = request.follow == Follow::kYes ? Last::kFollow : Last::kFollowSlash;
  if (request.create) {
    last = request.follow == Follow::kYes && !request.exclusive ? Last::kFollowUnlessSlash
                                                                : Last::kKeep;
  }
  const Errno walked = Walk(start, path, last, location);
  if (walked != Errno::kSuccess) return walked;
  if (request.create) {
    if (location.kind != Location::Kind::kName) {
      return request.exclusive ? Errno::kExists : Errno::kIsDirectory;
    }
    if (location.trailing_slash) return Errno::kIsDirectory;
    if (location.inode == nullptr) {
      const Errno error = CheckCreate(location, Counted::kYes);
      if (error != Errno::kSuccess) return error;
      opened = NewInode(location.directory->mount->kind, FileType::kRegular, request.mode & 07777);
      Add(location, opened);
      return Errno::kSuccess;
    }
    if (request.exclusive) return Errno::kExists;
  }
  if (location.inode == nullptr) return Errno::kNotFound;
  Inode& inode = *location.inode;
  if (!inode.is_directory() && (request.directory || location.trailing_slash)) {
    return Errno::kNotDirectory;
  }
  if (inode.type == FileType::kSymlink) return Errno::kLoop;
  if (inode.is_directory() && (request.create || request.write || request.truncate)) {
    return Errno::kIsDirectory;
  }
  if (inode.type == FileType::kRegular && inode.mount->read_only &&
      (request.write || request.truncate)) {
    return Errno::kReadOnly;
  }
  if (request.truncate && inode.type == FileType::kRegular) {
    const Errno error = Truncate(inode, 0);
    if (error != Errno::kSuccess) return error;
  }
  opened = &inode;
  return Errno::kSuccess;
}

Errno FileSystem::MakeDirectory(Inode& start, std::string_view path, std::uint32_t mode) {
  Location location;
  const Errno walked = Walk(start, path, Last::kKeep, location);
  if (walked != Errno::kSuccess) return walked;
  if (location.inode != nullptr) return Errno::kExists;
  const Errno error = CheckCreate(location, Counted::kYes);
  if (error != Errno::kSuccess) return error;
  Add(location, NewInode(location.directory->mount->kind, FileType::kDirectory, mode & 07777));
  return Errno::kSuccess;
}

Errno FileSystem::Symlink(std::string_view target, Inode& start, std::string_view path) {
  if (target.empty()) return Errno::kNotFound;
  if (target.size() > kMaxPathBytes) return Errno::kNameTooLong;
  if (!IsStorableTarget(target)) return Errno::kIllegalName;
  Location location;
  const Errno walked = Walk(start, path, Last::kKeep, location);
  if (walked != Errno::kSuccess) return walked;
  if (location.inode != nullptr) return Errno::kExists;
  if (location.trailing_slash) return Errno::kNotFound;
  const Errno error = CheckCreate(location, Counted::kYes);
  if (error != Errno::kSuccess) return error;
  Mount& mount = *location.directory->mount;
  if (mount.bytes.remaining() < target.size()) return mount.full;
  InodePtr inode = NewInode(mount.kind, FileType::kSymlink, 0777);
  inode->SetTarget(target);
  Add(location, std::move(inode));
  return Errno::kSuccess;
}

Errno FileSystem::Link(Inode& from_start, std::string_view from, Follow follow, Inode& to_start,
                       std::string_view to) {
  InodePtr inode;
  const Errno found = Lookup(from_start, from, follow, inode);
  if (found != Errno::kSuccess) return found;
  Location location;
  const Errno walked = Walk(to_start, to, Last::kKeep, location);
  if (walked != Errno::kSuccess) return walked;
  if (location.inode != nullptr) return Errno::kExists;
  if (location.trailing_slash) return Errno::kNotFound;
  if (location.directory->mount->read_only) return Errno::kReadOnly;
  if (location.directory->mount != inode->mount) return Errno::kCrossDevice;
  if (inode->is_directory()) return Errno::kNotPermitted;
  const Errno error = CheckCreate(location, Counted::kYes);
  if (error != Errno::kSuccess) return error;
  if (inode->link_count() >= kMaxLinks) return Errno::kTooManyLinks;
  if (inode->content && inode->size() > inode->mount->sizes.remaining()) return inode->mount->full;
  inode->ctime_ns = Now();
  Add(location, inode);
  InodeChanged(*inode);
  return Errno::kSuccess;
}

Errno FileSystem::Unlink(Inode& start, std::string_view path) {
  Location location;
  const Errno walked = Walk(start, path, Last::kKeep, location);
  if (walked != Errno::kSuccess) return walked;
  if (location.kind != Location::Kind::kName) return Errno::kIsDirectory;
  if (location.directory->mount->read_only) return Errno::kReadOnly;
  if (location.inode == nullptr) return Errno::kNotFound;
  if (location.inode->is_directory()) return Errno::kIsDirectory;
  if (location.trailing_slash) return Errno::kNotDirectory;
  NameChanges(*location.directory, location.last);
  location.inode->ctime_ns = Now();
  Detach(location.entry);
  DirectoryChanged(*location.directory);
  return Errno::kSuccess;
}

Errno FileSystem::RemoveDirectory(Inode& start, std::string_view path) {
  Location location;
  const Errno walked = Walk(start, path, Last::kKeep, location);
  if (walked != Errno::kSuccess) return walked;
  switch (location.kind) {
    case Location::Kind::kDot:
      return Errno::kInvalid;
    case Location::Kind::kDotDot:
      return Errno::kNotEmpty;
    case Location::Kind::kRoot:
      return Errno::kBusy;
    case Location::Kind::kName:
      break;
  }
  if (location.inode != nullptr && location.inode->is_mount_root()) return Errno::kBusy;
  if (location.directory->mount->read_only) return Errno::kReadOnly;
  if (location.inode == nullptr) return Errno::kNotFound;
  if (!location.inode->is_directory()) return Errno::kNotDirectory;
  if (!Children(*location.inode).empty()) return Errno::kNotEmpty;
  NameChanges(*location.directory, location.last);
  Detach(location.entry);
  DirectoryChanged(*location.directory);
  return Errno::kSuccess;
}

Errno FileSystem::CheckRename(const Location& from, const Location& to) const {
  const auto is_mount = [](const Location& location) {
    return location.inode != nullptr && location.inode->is_mount_root();
  };
  if (from.directory->mount != to.directory->mount) return Errno::kCrossDevice;
  if (from.kind != Location::Kind::kName || to.kind != Location::Kind::kName || is_mount(from) ||
      is_mount(to)) {
    return Errno::kBusy;
  }
  if (from.directory->mount->read_only) return Errno::kReadOnly;
  if (from.inode == nullptr) return Errno::kNotFound;
  if (!from.inode->is_directory() && (from.trailing_slash || to.trailing_slash)) {
    return Errno::kNotDirectory;
  }
  if (from.inode->is_directory() && IsWithin(to.directory, from.inode)) return Errno::kInvalid;
  if (to.inode == nullptr) return CheckCreate(to, Counted::kNo);
  if (IsWithin(from.directory, to.inode)) return Errno::kNotEmpty;
  if (to.inode == from.inode) return Errno::kSuccess;
  if (from.inode->is_directory()) {
    if (!to.inode->is_directory()) return Errno::kNotDirectory;
    if (!to.inode->directory->empty()) return Errno::kNotEmpty;
  } else if (to.inode->is_directory()) {
    return Errno::kIsDirectory;
  }
  return Errno::kSuccess;
}

Errno FileSystem::Rename(Inode& from_start, std::string_view from_path, Inode& to_start,
                         std::string_view to_path) {
  Location from;
  Location to;
  const Errno from_walked = Walk(from_start, from_path, Last::kKeep, from);
  if (from_walked != Errno::kSuccess) return from_walked;
  const Errno to_walked = Walk(to_start, to_path, Last::kKeep, to);
  if (to_walked != Errno::kSuccess) return to_walked;
  const Errno error = CheckRename(from, to);
  if (error != Errno::kSuccess) return error;
  // Two names of one file: POSIX wants nothing to happen.
  if (to.inode == from.inode) return Errno::kSuccess;
  const InodePtr moved = from.inode;
  if (moved->is_directory()) {
    const Errno length = CheckPathLength(*to.directory, to.last, LongestPathBelow(*moved));
    if (length != Errno::kSuccess) return length;
    TreeMoves(*from.directory, from.last);
    TreeMoves(*to.directory, to.last);
  }
  NameChanges(*from.directory, from.last);
  NameChanges(*to.directory, to.last);
  if (to.inode != nullptr) {
    to.inode->ctime_ns = Now();
    Replace(to.entry, moved);
  } else {
    Attach(*to.directory, to.last, moved);
  }
  Detach(from.entry);
  moved->ctime_ns = Now();
  DirectoryChanged(*from.directory);
  DirectoryChanged(*to.directory);
  return Errno::kSuccess;
}

}  // namespace dormouse::wasi
