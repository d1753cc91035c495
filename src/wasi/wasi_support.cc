// SPDX-License-Identifier: Apache-2.0
#include "wasi/wasi_support.h"

#include "wasi/names.h"

namespace dormouse::wasi {
namespace {

constexpr u32 kSetAtime = 1;
constexpr u32 kSetAtimeNow = 2;
constexpr u32 kSetMtime = 4;
constexpr u32 kSetMtimeNow = 8;

}  // namespace

RawMountStat ToRaw(const MountStat& stat) {
  return {stat.device,
          stat.bytes,
          stat.free_bytes,
          stat.files,
          stat.free_files,
          stat.read_only ? 1u : 0u,
          static_cast<u32>(kMaxNameBytes)};
}

RawFilestat ToRaw(const FileStat& stat) {
  RawFilestat raw{};
  raw.device = stat.device;
  raw.inode = stat.inode;
  raw.type = static_cast<std::uint8_t>(stat.type);
  raw.links = stat.links;
  raw.size = stat.size;
  raw.atime = static_cast<u64>(stat.atime_ns);
  raw.mtime = static_cast<u64>(stat.mtime_ns);
  raw.ctime = static_cast<u64>(stat.ctime_ns);
  return raw;
}

Errno GetFile(Wasi& wasi, u32 fd, OpenFile*& file) {
  file = wasi.descriptors().Get(fd);
  if (file == nullptr) return Errno::kBadFile;
  return file->inode ? Errno::kSuccess : Errno::kStale;
}

Errno GetDirectory(Wasi& wasi, u32 fd, Inode*& directory) {
  OpenFile* file;
  const Errno error = GetFile(wasi, fd, file);
  if (error != Errno::kSuccess) return error;
  directory = file->inode.get();
  return directory->is_directory() ? Errno::kSuccess : Errno::kNotDirectory;
}

Errno GetPath(Wasi& wasi, u32 address, u32 length, std::string_view& path) {
  const std::byte* const bytes = wasi.memory().At(address, length);
  if (bytes == nullptr) return Errno::kFault;
  if (length > kMaxPathBytes) return Errno::kNameTooLong;
  path = {reinterpret_cast<const char*>(bytes), length};
  if (path.find('\0') != std::string_view::npos) return Errno::kInvalid;
  return IsUtf8(path) ? Errno::kSuccess : Errno::kIllegalName;
}

Errno GetPathAt(Wasi& wasi, u32 fd, u32 address, u32 length, Inode*& directory,
                std::string_view& path) {
  const Errno error = GetDirectory(wasi, fd, directory);
  if (error != Errno::kSuccess) return error;
  return GetPath(wasi, address, length, path);
}

Errno GetTimes(u64 atime, u64 mtime, u32 flags, TimeChange& atime_change,
               TimeChange& mtime_change) {
  const auto get = [flags](u64 time, u32 set, u32 set_now, TimeChange& change) {
    if ((flags & set) != 0 && (flags & set_now) != 0) return Errno::kInvalid;
    if ((flags & set) != 0) {
      change = {TimeChange::Kind::kValue, static_cast<std::int64_t>(time)};
    } else if ((flags & set_now) != 0) {
      change = {TimeChange::Kind::kNow, 0};
    }
    return Errno::kSuccess;
  };
  if ((flags & ~(kSetAtime | kSetAtimeNow | kSetMtime | kSetMtimeNow)) != 0) {
    return Errno::kInvalid;
  }
  const Errno error = get(atime, kSetAtime, kSetAtimeNow, atime_change);
  if (error != Errno::kSuccess) return error;
  return get(mtime, kSetMtime, kSetMtimeNow, mtime_change);
}

Errno CheckVectors(Wasi& wasi, u32 vectors, u32 count) {
  if (count > kMaxVectors) return Errno::kInvalid;
  if (wasi.memory().At(vectors, u64{count} * sizeof(RawVector)) == nullptr) return Errno::kFault;
  for (u32 i = 0; i < count; ++i) {
    RawVector vector;
    (void)wasi.memory().Read(vectors + i * static_cast<u32>(sizeof vector), vector);
    if (wasi.memory().At(vector.address, vector.length) == nullptr) return Errno::kFault;
  }
  return Errno::kSuccess;
}

std::span<std::byte> VectorAt(Wasi& wasi, u32 vectors, u32 index) {
  RawVector vector{};
  (void)wasi.memory().Read(vectors + index * static_cast<u32>(sizeof vector), vector);
  // The vectors themselves may lie in memory that an earlier transfer of this call wrote.
  std::byte* const bytes = wasi.memory().At(vector.address, vector.length);
  if (bytes == nullptr) return {};
  return {bytes, vector.length};
}

bool IsStream(const Inode& inode) {
  return inode.type == FileType::kDevice &&
         (inode.device == Device::kStdin || inode.device == Device::kStdout ||
          inode.device == Device::kStderr);
}

}  // namespace dormouse::wasi
