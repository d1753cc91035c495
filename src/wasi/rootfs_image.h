// SPDX-License-Identifier: Apache-2.0
// The rootfs image: an engine's read-only files, packed into one file that workers map.
//
// Layout, little-endian (docs/formats would say the same):
//   header   magic "DMROOTFS", u32 version 1, u32 node count, u64 index offset, u64 names offset,
//            u64 names size, u64 total size
//   index    node count x 48 bytes; node 0 is the root directory. Nodes are in breadth-first order,
//            the children of a directory in a row, sorted by name (bytes)
//     node   u32 name offset, u16 name length, u8 type (WASI's file type), u8 zero, u32 mode,
//            u32 parent, u64 data offset (file: contents; symlink: target; directory: first child),
//            u64 data size (directory: number of children), i64 mtime in nanoseconds, u64 zero
//   names    all names, one after the other
//   contents each at a multiple of 16; of 4096 if it has at least 4096 bytes
// The same tree always gives the same bytes: mtimes are one constant, owners are not kept, modes
// are 0755 (directories and executables) or 0644.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "wasi/host_interfaces.h"
#include "wasi/inode.h"

namespace dormouse::wasi {

// mtime of every packed file: 2024-01-01 00:00:00 UTC. Not zero: zip and some import caches refuse
// times before 1980.
inline constexpr std::int64_t kRootfsMtimeNs = 1'704'067'200'000'000'000;

// A reader over mapped bytes. Open checks the whole index once (every offset, length, name, parent
// and order), so the accessors need no checks. Copies share the bytes.
class RootfsImage {
 public:
  struct Node {
    std::string_view name;
    FileType type = FileType::kRegular;
    std::uint32_t mode = 0;
    std::int64_t mtime_ns = 0;
    std::uint32_t first_child = 0;  // directories
    std::uint32_t child_count = 0;
    SharedBytes data;  // contents or link target
  };

  // kCorrupt when anything about the image is not as the format says.
  static Result<RootfsImage> Open(SharedBytes bytes);

  std::uint32_t node_count() const { return node_count_; }
  std::uint64_t size_bytes() const { return bytes_.size(); }
  // Requires: index < node_count().
  Node At(std::uint32_t index) const;

 private:
  RootfsImage() = default;
  Result<void> Check() const;
  SharedBytes bytes_;
  std::uint32_t node_count_ = 0;
  std::uint64_t index_offset_ = 0;
  std::uint64_t names_offset_ = 0;
  std::uint64_t names_size_ = 0;
};

// Packs a host directory. Regular files, directories and symlinks only; anything else, names that
// are not UTF-8, and /workspace, /tmp or /dev in the tree are errors. Symlinks are kept as they
// are. For build tools: makes system calls that a confined worker may not.
Result<std::string> PackRootfs(const std::string& host_directory);

// Packs `base` anew, with what a host directory holds in its directory `at` ("usr/lib/x"; what it held is left out).
// kNotFound when `base` has no such directory.
Result<std::string> PackRootfsOver(const RootfsImage& base, std::string_view at,
                                   const std::string& host_directory);

}  // namespace dormouse::wasi
