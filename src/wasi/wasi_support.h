// SPDX-License-Identifier: Apache-2.0
// What the import functions share: WASI's numbers and layouts, and checked access to arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wasi/wasi.h"
#include "wasi/wasi_imports.h"

namespace dormouse::wasi {

namespace rights {
inline constexpr u64 kRead = 1 << 1;
inline constexpr u64 kSeek = 1 << 2;
inline constexpr u64 kTell = 1 << 5;
inline constexpr u64 kWrite = 1 << 6;
inline constexpr u64 kAllocate = 1 << 8;
inline constexpr u64 kSetSize = 1 << 22;
inline constexpr u64 kAll = (1 << 30) - 1;
// Those that make no sense for anything but a directory: path_* and fd_readdir.
inline constexpr u64 kDirectoryOnly = 0x1ff << 9 | 0x7 << 18 | 0x7 << 24;
}  // namespace rights

namespace fd_flags {
inline constexpr std::uint16_t kAppend = 1 << 0;
inline constexpr std::uint16_t kAll = 0x1f;
}  // namespace fd_flags

namespace clock_ids {
inline constexpr u32 kRealtime = 0;
inline constexpr u32 kMonotonic = 1;
}  // namespace clock_ids

inline constexpr u64 kMaxOffset = 0x7fff'ffff'ffff'ffff;
inline constexpr u32 kLookupFollow = 1;
// IOV_MAX, and the most that Linux moves in one call.
inline constexpr u32 kMaxVectors = 1024;
inline constexpr u64 kMaxTransferBytes = 0x7fff'f000;

inline u32 Raw(Errno error) { return static_cast<u32>(error); }

struct RawFilestat {
  u64 device;
  u64 inode;
  std::uint8_t type;
  std::uint8_t padding[7];
  u64 links;
  u64 size;
  u64 atime;
  u64 mtime;
  u64 ctime;
};
static_assert(sizeof(RawFilestat) == 64);
RawFilestat ToRaw(const FileStat& stat);

struct RawMountStat {
  u64 device;
  u64 bytes;
  u64 free_bytes;
  u64 files;
  u64 free_files;
  u32 read_only;
  u32 max_name_bytes;
};
static_assert(sizeof(RawMountStat) == 48);
RawMountStat ToRaw(const MountStat& stat);

struct RawVector {
  u32 address;
  u32 length;
};
static_assert(sizeof(RawVector) == 8);

// The open file of a descriptor: EBADF, ESTALE.
Errno GetFile(Wasi& wasi, u32 fd, OpenFile*& file);
// One that paths can start from: ENOTDIR.
Errno GetDirectory(Wasi& wasi, u32 fd, Inode*& directory);
// A path in guest memory: EFAULT, ENAMETOOLONG, EINVAL for a NUL, EILSEQ.
Errno GetPath(Wasi& wasi, u32 address, u32 length, std::string_view& path);
// Both of the above.
Errno GetPathAt(Wasi& wasi, u32 fd, u32 address, u32 length, Inode*& directory,
                std::string_view& path);
// Times and flags as WASI gives them: EINVAL for contradictions.
Errno GetTimes(u64 atime, u64 mtime, u32 flags, TimeChange& atime_change, TimeChange& mtime_change);
// Checks every vector and its bytes before anything is moved.
Errno CheckVectors(Wasi& wasi, u32 vectors, u32 count);
// Requires: CheckVectors succeeded, index < count.
std::span<std::byte> VectorAt(Wasi& wasi, u32 vectors, u32 index);

inline bool CanRead(const OpenFile& file) { return (file.rights & rights::kRead) != 0; }
inline bool CanWrite(const OpenFile& file) { return (file.rights & rights::kWrite) != 0; }

// A pipe-like device: the standard streams.
bool IsStream(const Inode& inode);

}  // namespace dormouse::wasi
