// SPDX-License-Identifier: Apache-2.0
// The fd_* imports but those that move bytes.
#include <algorithm>
#include <cstring>

#include "wasi/wasi_support.h"

namespace dormouse::wasi {
namespace {

struct RawFdstat {
  std::uint8_t type;
  std::uint8_t padding;
  std::uint16_t flags;
  std::uint8_t padding_2[4];
  u64 rights;
  u64 inheriting_rights;
};
static_assert(sizeof(RawFdstat) == 24);

struct RawDirent {
  u64 next;
  u64 inode;
  u32 name_length;
  std::uint8_t type;
  std::uint8_t padding[3];
};
static_assert(sizeof(RawDirent) == 24);

constexpr u32 kMaxAdvice = 5;

// Copies what fits of one directory entry; false when the buffer is full.
bool PutDirent(std::byte* buffer, u32 length, u32& used, u64 next, const Inode& inode,
               std::string_view name) {
  const RawDirent raw{
      next, inode.id, static_cast<u32>(name.size()), static_cast<std::uint8_t>(inode.type), {}};
  const u32 head = std::min<u32>(sizeof raw, length - used);
  std::memcpy(buffer + used, &raw, head);
  used += head;
  const u32 rest = std::min<u32>(static_cast<u32>(name.size()), length - used);
  std::memcpy(buffer + used, name.data(), rest);
  used += rest;
  return used < length;
}

Errno FillDirents(Wasi& wasi, Inode& directory, u64 cookie, std::byte* buffer, u32 length,
                  u32& used) {
  used = 0;
  // A removed directory has no entries at all.
  if (directory.unlinked() || length == 0) return Errno::kSuccess;
  if (cookie < 1 && !PutDirent(buffer, length, used, 1, directory, ".")) return Errno::kSuccess;
  if (cookie < 2) {
    const Inode* const parent = wasi.files().ParentOf(directory);
    if (!PutDirent(buffer, length, used, 2, parent != nullptr ? *parent : directory, "..")) {
      return Errno::kSuccess;
    }
    cookie = 2;
  }
  const Directory& children = wasi.files().Children(directory);
  for (const DirectoryEntry* entry = children.After(cookie); entry != nullptr;
       entry = children.After(entry->cookie)) {
    if (!PutDirent(buffer, length, used, entry->cookie, *entry->inode, entry->name)) break;
  }
  return Errno::kSuccess;
}

Errno Seek(OpenFile& file, std::int64_t delta, u32 whence) {
  const Inode& inode = *file.inode;
  if (IsStream(inode)) return Errno::kNotSeekable;
  if (whence > 2) return Errno::kInvalid;
  if (inode.type == FileType::kDevice) {
    file.offset = 0;
    return Errno::kSuccess;
  }
  const u64 base = whence == 0 ? 0 : whence == 1 ? file.offset : inode.size();
  if (delta < 0) {
    const u64 back = ~static_cast<u64>(delta) + 1;
    if (back > base) return Errno::kInvalid;
    file.offset = base - back;
    return Errno::kSuccess;
  }
  if (static_cast<u64>(delta) > kMaxOffset - base) return Errno::kOverflow;
  file.offset = base + static_cast<u64>(delta);
  return Errno::kSuccess;
}

}  // namespace

u32 FdAdvise(Wasi& wasi, u32 fd, u64 offset, u64 length, u32 advice) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  if (IsStream(*file->inode)) return Raw(Errno::kNotSeekable);
  if (advice > kMaxAdvice || offset > kMaxOffset || length > kMaxOffset) {
    return Raw(Errno::kInvalid);
  }
  return 0;
}

u32 FdAllocate(Wasi& wasi, u32 fd, u64 offset, u64 length) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  if (!CanWrite(*file)) return Raw(Errno::kBadFile);
  if (offset > kMaxOffset || length > kMaxOffset) return Raw(Errno::kInvalid);
  return Raw(wasi.files().Allocate(*file->inode, offset, length));
}

u32 FdClose(Wasi& wasi, u32 fd) { return Raw(wasi.descriptors().Close(fd)); }

u32 FdSync(Wasi& wasi, u32 fd) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  // Everything is in memory until the run is committed; there is nothing to wait for.
  return Raw(file->inode->type == FileType::kDevice ? Errno::kInvalid : Errno::kSuccess);
}

u32 FdDatasync(Wasi& wasi, u32 fd) { return FdSync(wasi, fd); }

u32 FdFdstatGet(Wasi& wasi, u32 fd, u32 stat) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  RawFdstat raw{};
  raw.type = static_cast<std::uint8_t>(file->inode->type);
  raw.flags = file->flags;
  raw.rights = file->rights;
  raw.inheriting_rights = file->inheriting_rights;
  return Raw(wasi.memory().Write(stat, raw) ? Errno::kSuccess : Errno::kFault);
}

u32 FdFdstatSetFlags(Wasi& wasi, u32 fd, u32 flags) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  if ((flags & ~u32{fd_flags::kAll}) != 0) return Raw(Errno::kInvalid);
  file->flags = static_cast<std::uint16_t>(flags);
  return 0;
}

u32 FdFdstatSetRights(Wasi& wasi, u32 fd, u64 base, u64 inheriting) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  if ((base & ~file->rights) != 0 || (inheriting & ~file->inheriting_rights) != 0) {
    return Raw(Errno::kNotCapable);
  }
  file->rights = base;
  file->inheriting_rights = inheriting;
  return 0;
}

u32 FdFilestatGet(Wasi& wasi, u32 fd, u32 stat) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  const RawFilestat raw = ToRaw(wasi.files().StatOf(*file->inode));
  return Raw(wasi.memory().Write(stat, raw) ? Errno::kSuccess : Errno::kFault);
}

u32 FdFilestatSetSize(Wasi& wasi, u32 fd, u64 size) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  if (!CanWrite(*file) || file->inode->type != FileType::kRegular || size > kMaxOffset) {
    return Raw(Errno::kInvalid);
  }
  return Raw(wasi.files().Truncate(*file->inode, size));
}

u32 FdFilestatSetTimes(Wasi& wasi, u32 fd, u64 atime, u64 mtime, u32 flags) {
  OpenFile* file;
  Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  TimeChange atime_change;
  TimeChange mtime_change;
  error = GetTimes(atime, mtime, flags, atime_change, mtime_change);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.files().SetTimes(*file->inode, atime_change, mtime_change));
}

// The scan for preopens ends at the first EBADF, so nothing else may answer for other descriptors.
u32 FdPrestatGet(Wasi& wasi, u32 fd, u32 prestat) {
  const OpenFile* const file = wasi.descriptors().Get(fd);
  if (file == nullptr || !file->preopen) return Raw(Errno::kBadFile);
  const u32 raw[2] = {0, 1};  // a directory; its name, "/", has one byte
  return Raw(wasi.memory().Write(prestat, raw) ? Errno::kSuccess : Errno::kFault);
}

u32 FdPrestatDirName(Wasi& wasi, u32 fd, u32 path, u32 length) {
  const OpenFile* const file = wasi.descriptors().Get(fd);
  if (file == nullptr || !file->preopen) return Raw(Errno::kBadFile);
  if (length < 1) return Raw(Errno::kNameTooLong);
  return Raw(wasi.memory().Write(path, '/') ? Errno::kSuccess : Errno::kFault);
}

u32 FdReaddir(Wasi& wasi, u32 fd, u32 buffer, u32 length, u64 cookie, u32 used) {
  Inode* directory;
  Errno error = GetDirectory(wasi, fd, directory);
  if (error != Errno::kSuccess) return Raw(error);
  std::byte* const bytes = wasi.memory().At(buffer, length);
  if (bytes == nullptr) return Raw(Errno::kFault);
  u32 filled;
  error = FillDirents(wasi, *directory, cookie, bytes, length, filled);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.memory().Write(used, filled) ? Errno::kSuccess : Errno::kFault);
}

u32 FdRenumber(Wasi& wasi, u32 from, u32 to) { return Raw(wasi.descriptors().Renumber(from, to)); }

u32 FdSeek(Wasi& wasi, u32 fd, u64 delta, u32 whence, u32 offset) {
  OpenFile* file;
  Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  if (wasi.memory().At(offset, sizeof(u64)) == nullptr) return Raw(Errno::kFault);
  error = Seek(*file, static_cast<std::int64_t>(delta), whence);
  if (error != Errno::kSuccess) return Raw(error);
  (void)wasi.memory().Write(offset, file->offset);
  return 0;
}

u32 FdTell(Wasi& wasi, u32 fd, u32 offset) { return FdSeek(wasi, fd, 0, 1, offset); }

u32 FdDup(Wasi& wasi, u32 fd, u32 lowest, u32 new_fd) {
  std::shared_ptr<OpenFile> file = wasi.descriptors().Share(fd);
  if (file == nullptr) return Raw(Errno::kBadFile);
  if (wasi.memory().At(new_fd, sizeof(u32)) == nullptr) return Raw(Errno::kFault);
  u32 number;
  const Errno error = wasi.descriptors().Insert(std::move(file), number, lowest);
  if (error != Errno::kSuccess) return Raw(error);
  (void)wasi.memory().Write(new_fd, number);
  return 0;
}

u32 FdChmod(Wasi& wasi, u32 fd, u32 mode) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.files().SetMode(*file->inode, mode));
}

u32 FdModeGet(Wasi& wasi, u32 fd, u32 mode) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  return Raw(wasi.memory().Write(mode, file->inode->mode) ? Errno::kSuccess : Errno::kFault);
}

u32 FdStatvfs(Wasi& wasi, u32 fd, u32 stat) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return Raw(error);
  const RawMountStat raw = ToRaw(wasi.files().MountStatOf(*file->inode));
  return Raw(wasi.memory().Write(stat, raw) ? Errno::kSuccess : Errno::kFault);
}

}  // namespace dormouse::wasi
