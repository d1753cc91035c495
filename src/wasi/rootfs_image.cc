// SPDX-License-Identifier: Apache-2.0
#include "wasi/rootfs_image.h"

#include <cstring>
#include <utility>
#include <vector>

#include "wasi/names.h"
#include "wasi/rootfs_layout.h"

namespace dormouse::wasi {
namespace {

using rootfs_layout::Header;
using rootfs_layout::RawNode;

Error Corrupt(const char* what) {
  return Error(ErrorCode::kCorrupt, std::string("rootfs image: ") + what);
}

bool Inside(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return size <= total && offset <= total - size;
}

RawNode LoadNode(const SharedBytes& bytes, std::uint64_t index_offset, std::uint32_t index) {
  RawNode raw;
  std::memcpy(&raw, bytes.bytes().data() + index_offset + index * sizeof(RawNode), sizeof raw);
  return raw;
}

}  // namespace

Result<RootfsImage> RootfsImage::Open(SharedBytes bytes) {
  Header header;
  if (bytes.size() < sizeof header) return Corrupt("too short");
  std::memcpy(&header, bytes.bytes().data(), sizeof header);
  if (std::memcmp(header.magic, rootfs_layout::kMagic, sizeof header.magic) != 0) {
    return Corrupt("not one");
  }
  if (header.version != rootfs_layout::kVersion) return Corrupt("unknown version");
  if (header.total_size != bytes.size()) return Corrupt("wrong size");
  if (header.node_count == 0 ||
      !Inside(header.index_offset, std::uint64_t{header.node_count} * sizeof(RawNode),
              bytes.size()) ||
      !Inside(header.names_offset, header.names_size, bytes.size())) {
    return Corrupt("index outside");
  }
  RootfsImage image;
  image.bytes_ = std::move(bytes);
  image.node_count_ = header.node_count;
  image.index_offset_ = header.index_offset;
  image.names_offset_ = header.names_offset;
  image.names_size_ = header.names_size;
  DORMOUSE_TRY(image.Check());
  return image;
}

Result<void> RootfsImage::Check() const {
  std::vector<std::uint32_t> path_bytes(node_count_, 0);
  std::uint64_t next_child = 1;
  std::string_view previous_name;
  std::uint32_t previous_parent = 0;
  for (std::uint32_t i = 0; i < node_count_; ++i) {
    const RawNode raw = LoadNode(bytes_, index_offset_, i);
    if (!Inside(raw.name_offset, raw.name_length, names_size_)) return Corrupt("name outside");
    const std::string_view name =
        bytes_.view().substr(names_offset_ + raw.name_offset, raw.name_length);
    if (i == 0) {
      if (raw.type != static_cast<std::uint8_t>(FileType::kDirectory) || !name.empty() ||
          raw.parent != 0) {
        return Corrupt("bad root");
      }
    } else {
      if (!IsStorableName(name)) return Corrupt("bad name");
      // Node i was claimed as a child by an earlier node, or its parent does not come before it.
      if (raw.parent >= i) return Corrupt("bad parent");
      const RawNode parent = LoadNode(bytes_, index_offset_, raw.parent);
      if (parent.type != static_cast<std::uint8_t>(FileType::kDirectory) ||
          i < parent.data_offset || i - parent.data_offset >= parent.data_size) {
        return Corrupt("bad parent");
      }
      if (raw.parent == previous_parent && i > 1 && name <= previous_name) {
        return Corrupt("names out of order");
      }
      path_bytes[i] = path_bytes[raw.parent] + 1 + static_cast<std::uint32_t>(name.size());
      if (path_bytes[i] > kMaxPathBytes) return Corrupt("path too long");
      previous_name = name;
      previous_parent = raw.parent;
    }
    if ((raw.mode & ~07777u) != 0) return Corrupt("bad mode");
    switch (static_cast<FileType>(raw.type)) {
      case FileType::kDirectory:
        if (raw.data_offset != next_child || raw.data_size > node_count_ - next_child) {
          return Corrupt("bad children");
        }
        next_child += raw.data_size;
        break;
      case FileType::kRegular:
      case FileType::kSymlink:
        if (!Inside(raw.data_offset, raw.data_size, bytes_.size())) return Corrupt("data outside");
        if (static_cast<FileType>(raw.type) == FileType::kSymlink &&
            !IsStorableTarget(bytes_.view().substr(raw.data_offset, raw.data_size))) {
          return Corrupt("bad link");
        }
        break;
      default:
        return Corrupt("bad type");
    }
  }
  if (next_child != node_count_) return Corrupt("stray nodes");
  return {};
}

RootfsImage::Node RootfsImage::At(std::uint32_t index) const {
  const RawNode raw = LoadNode(bytes_, index_offset_, index);
  Node node;
  node.name = bytes_.view().substr(names_offset_ + raw.name_offset, raw.name_length);
  node.type = static_cast<FileType>(raw.type);
  node.mode = raw.mode;
  node.mtime_ns = raw.mtime_ns;
  if (node.type == FileType::kDirectory) {
    node.first_child = static_cast<std::uint32_t>(raw.data_offset);
    node.child_count = static_cast<std::uint32_t>(raw.data_size);
  } else {
    node.data = bytes_.Slice(raw.data_offset, raw.data_size);
  }
  return node;
}

}  // namespace dormouse::wasi
