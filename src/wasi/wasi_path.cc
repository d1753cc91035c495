// SPDX-License-Identifier: Apache-2.0
// The path_* imports.
#include <algorithm>
#include <cstring>

#include "wasi/wasi_support.h"

namespace dormouse::wasi {
namespace {

constexpr u32 kOpenCreate = 1;
constexpr u32 kOpenDirectory = 2;
constexpr u32 kOpenExclusive = 4;
constexpr u32 kOpenTruncate = 8;

Follow FollowOf(u32 flags) { return (flags & kLookupFollow) != 0 ? Follow::kYes : Follow::kNo; }

Errno LookupAt(Wasi& wasi, u32 fd, u32 flags, u32 address, u32 length, InodePtr& inode) {
  Inode* directory;
  std::string_view path;
  const Errno error = GetPathAt(wasi, fd, address, length, directory, path);
  if (error != Errno::kSuccess) return error;
  return wasi.files().Lookup(*directory, path, FollowOf(flags), inode);
}

// Calls `operation(directory, path)` on one path.
template <typename Operation>
u32 AtPath(Wasi& wasi, u32 fd, u32 address, u32 length, Operation&& operation) {
  Inode* directory;
  std::string_view path;
  const Errno error = GetPathAt(wasi, fd, address, length, directory, path);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(operation(*directory, path));
}

Errno OpenPath(Wasi& wasi, Inode& directory, std::string_view path, const OpenRequest& request,
               u64 rights, u64 inheriting_rights, u32 fd_flags, u32& number) {
  InodePtr inode;
  const Errno error = wasi.files().Open(directory, path, request, inode);
  if (error != Errno::kSuccess) return error;
  auto file = std::make_shared<OpenFile>(wasi.files(), inode);
  file->flags = static_cast<std::uint16_t>(fd_flags);
  file->rights = rights & rights::kAll;
  if (!inode->is_directory()) file->rights &= ~rights::kDirectoryOnly;
  file->inheriting_rights = inheriting_rights & rights::kAll;
  return wasi.descriptors().Insert(std::move(file), number);
}

}  // namespace

u32 PathCreateDirectory(Wasi& wasi, u32 fd, u32 path, u32 length) {
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    return wasi.files().MakeDirectory(directory, name);
  });
}

u32 PathRemoveDirectory(Wasi& wasi, u32 fd, u32 path, u32 length) {
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    return wasi.files().RemoveDirectory(directory, name);
  });
}

u32 PathUnlinkFile(Wasi& wasi, u32 fd, u32 path, u32 length) {
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    return wasi.files().Unlink(directory, name);
  });
}

u32 PathFilestatGet(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 stat) {
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    FileStat found;
    const Errno error = wasi.files().Stat(directory, name, FollowOf(flags), found);
    if (error != Errno::kSuccess) return error;
    return wasi.memory().Write(stat, ToRaw(found)) ? Errno::kSuccess : Errno::kFault;
  });
}

u32 PathFilestatSetTimes(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u64 atime, u64 mtime,
                         u32 time_flags) {
  TimeChange atime_change;
  TimeChange mtime_change;
  Errno error = GetTimes(atime, mtime, time_flags, atime_change, mtime_change);
  if (error != Errno::kSuccess) return Raw(error);
  InodePtr inode;
  error = LookupAt(wasi, fd, flags, path, length, inode);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.files().SetTimes(*inode, atime_change, mtime_change));
}

u32 PathLink(Wasi& wasi, u32 old_fd, u32 old_flags, u32 old_path, u32 old_length, u32 new_fd,
             u32 new_path, u32 new_length) {
  Inode* old_directory;
  std::string_view old_name;
  const Errno error = GetPathAt(wasi, old_fd, old_path, old_length, old_directory, old_name);
  if (error != Errno::kSuccess) return Raw(error);
  return AtPath(wasi, new_fd, new_path, new_length, [&](Inode& directory, std::string_view name) {
    return wasi.files().Link(*old_directory, old_name, FollowOf(old_flags), directory, name);
  });
}

u32 PathRename(Wasi& wasi, u32 old_fd, u32 old_path, u32 old_length, u32 new_fd, u32 new_path,
               u32 new_length) {
  Inode* old_directory;
  std::string_view old_name;
  const Errno error = GetPathAt(wasi, old_fd, old_path, old_length, old_directory, old_name);
  if (error != Errno::kSuccess) return Raw(error);
  return AtPath(wasi, new_fd, new_path, new_length, [&](Inode& directory, std::string_view name) {
    return wasi.files().Rename(*old_directory, old_name, directory, name);
  });
}

u32 PathSymlink(Wasi& wasi, u32 target, u32 target_length, u32 fd, u32 path, u32 length) {
  std::string_view text;
  const Errno error = GetPath(wasi, target, target_length, text);
  if (error != Errno::kSuccess) return Raw(error);
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    return wasi.files().Symlink(text, directory, name);
  });
}

u32 PathReadlink(Wasi& wasi, u32 fd, u32 path, u32 length, u32 buffer, u32 buffer_length,
                 u32 used) {
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    std::string_view target;
    const Errno error = wasi.files().ReadLink(directory, name, target);
    if (error != Errno::kSuccess) return error;
    if (buffer_length == 0) return Errno::kInvalid;
    std::byte* const bytes = wasi.memory().At(buffer, buffer_length);
    if (bytes == nullptr) return Errno::kFault;
    const auto copied = static_cast<u32>(std::min<std::size_t>(target.size(), buffer_length));
    std::memcpy(bytes, target.data(), copied);
    return wasi.memory().Write(used, copied) ? Errno::kSuccess : Errno::kFault;
  });
}

u32 PathOpen(Wasi& wasi, u32 fd, u32 lookup_flags, u32 path, u32 length, u32 open_flags, u64 rights,
             u64 inheriting_rights, u32 fd_flags, u32 opened) {
  if ((fd_flags & ~u32{fd_flags::kAll}) != 0) return Raw(Errno::kInvalid);
  if (wasi.memory().At(opened, sizeof(u32)) == nullptr) return Raw(Errno::kFault);
  // Before anything is created or truncated.
  if (wasi.descriptors().full()) return Raw(Errno::kTooManyOpen);
  const OpenRequest request{.write = (rights & rights::kWrite) != 0,
                            .create = (open_flags & kOpenCreate) != 0,
                            .exclusive = (open_flags & kOpenExclusive) != 0,
                            .truncate = (open_flags & kOpenTruncate) != 0,
                            .directory = (open_flags & kOpenDirectory) != 0,
                            .follow = FollowOf(lookup_flags)};
  return AtPath(wasi, fd, path, length, [&](Inode& directory, std::string_view name) {
    u32 number;
    const Errno error =
        OpenPath(wasi, directory, name, request, rights, inheriting_rights, fd_flags, number);
    if (error == Errno::kSuccess) (void)wasi.memory().Write(opened, number);
    return error;
  });
}

u32 PathChmod(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 mode) {
  InodePtr inode;
  const Errno error = LookupAt(wasi, fd, flags, path, length, inode);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.files().SetMode(*inode, mode));
}

u32 PathModeGet(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 mode) {
  InodePtr inode;
  const Errno error = LookupAt(wasi, fd, flags, path, length, inode);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.memory().Write(mode, inode->mode) ? Errno::kSuccess : Errno::kFault);
}

u32 PathStatvfs(Wasi& wasi, u32 fd, u32 flags, u32 path, u32 length, u32 stat) {
  InodePtr inode;
  const Errno error = LookupAt(wasi, fd, flags, path, length, inode);
  if (error != Errno::kSuccess) return Raw(error);
  const RawMountStat raw = ToRaw(wasi.files().MountStatOf(*inode));
  return Raw(wasi.memory().Write(stat, raw) ? Errno::kSuccess : Errno::kFault);
}

}  // namespace dormouse::wasi
