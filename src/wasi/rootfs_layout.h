// SPDX-License-Identifier: Apache-2.0
// The raw structures of a rootfs image; rootfs_image.h describes them. Only little-endian hosts.
#pragma once

#include <cstdint>

namespace dormouse::wasi::rootfs_layout {

inline constexpr char kMagic[8] = {'D', 'M', 'R', 'O', 'O', 'T', 'F', 'S'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kAlignment = 16;
inline constexpr std::uint64_t kPageBytes = 4096;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t node_count;
  std::uint64_t index_offset;
  std::uint64_t names_offset;
  std::uint64_t names_size;
  std::uint64_t total_size;
};
static_assert(sizeof(Header) == 48);

struct RawNode {
  std::uint32_t name_offset;
  std::uint16_t name_length;
  std::uint8_t type;
  std::uint8_t zero;
  std::uint32_t mode;
  std::uint32_t parent;
  std::uint64_t data_offset;
  std::uint64_t data_size;
  std::int64_t mtime_ns;
  std::uint64_t reserved;
};
static_assert(sizeof(RawNode) == 48);

}  // namespace dormouse::wasi::rootfs_layout
