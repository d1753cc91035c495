// SPDX-License-Identifier: Apache-2.0
#include "wasi/descriptor_table.h"

#include <algorithm>
#include <cstring>

namespace dormouse::wasi {

std::size_t Streams::ReadStdin(std::span<std::byte> out) {
  const std::size_t length = std::min(out.size(), stdin_remaining());
  if (length > 0) std::memcpy(out.data(), stdin_.data() + stdin_position_, length);
  stdin_position_ += length;
  return length;
}

OpenFile::OpenFile(FileSystem& files_in, InodePtr inode_in)
    : files(files_in), inode(std::move(inode_in)) {
  if (inode) files.Opened(*inode);
}

OpenFile::~OpenFile() {
  if (inode) files.Closed(*inode);
}

Errno DescriptorTable::Insert(std::shared_ptr<OpenFile> file, std::uint32_t& fd,
                              std::uint32_t lowest) {
  if (lowest >= max_) return Errno::kInvalid;
  std::uint32_t free = std::max(lowest, lowest_free_);
  while (free < files_.size() && files_[free] != nullptr) ++free;
  if (free >= max_) return Errno::kTooManyOpen;
  if (lowest <= lowest_free_) lowest_free_ = free + 1;
  if (free >= files_.size()) files_.resize(free + 1);
  files_[free] = std::move(file);
  fd = free;
  return Errno::kSuccess;
}

Errno DescriptorTable::InsertAt(std::shared_ptr<OpenFile> file, std::uint32_t fd) {
  if (fd >= max_) return Errno::kBadFile;
  if (fd >= files_.size()) files_.resize(fd + 1);
  files_[fd] = std::move(file);
  return Errno::kSuccess;
}

Errno DescriptorTable::Close(std::uint32_t fd) {
  if (Get(fd) == nullptr) return Errno::kBadFile;
  files_[fd].reset();
  lowest_free_ = std::min(lowest_free_, fd);
  return Errno::kSuccess;
}

Errno DescriptorTable::Renumber(std::uint32_t from, std::uint32_t to) {
  if (Get(from) == nullptr || to >= max_) return Errno::kBadFile;
  if (from == to) return Errno::kSuccess;
  std::shared_ptr<OpenFile> file = files_[from];
  (void)Close(from);
  return InsertAt(std::move(file), to);
}

}  // namespace dormouse::wasi
