// SPDX-License-Identifier: Apache-2.0
// Open files and the table of descriptors that refer to them.
//
// As in POSIX, a descriptor refers to an open file, which has the offset and the flags; duplicates
// share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wasi/errno.h"
#include "wasi/file_system.h"

namespace dormouse::wasi {

// The run's standard streams: what device nodes and descriptors 0, 1, 2 read from and write to.
class Streams {
 public:
  explicit Streams(OutputSink& output) : output_(output) {}
  void SetStdin(std::string bytes) {
    stdin_ = std::move(bytes);
    stdin_position_ = 0;
  }
  std::size_t ReadStdin(std::span<std::byte> out);
  std::size_t stdin_remaining() const { return stdin_.size() - stdin_position_; }
  Errno Write(OutputStream stream, std::span<const std::byte> bytes) {
    return output_.Write(stream, bytes);
  }

 private:
  OutputSink& output_;
  std::string stdin_;
  std::size_t stdin_position_ = 0;
};

struct OpenFile {
  // Counts as an opening of the inode as long as it lives. `inode` is null when what it referred to
  // was not found at a restore: all but closing it answers ESTALE.
  OpenFile(FileSystem& files_in, InodePtr inode_in);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  FileSystem& files;
  InodePtr inode;
  std::uint64_t offset = 0;
  std::uint16_t flags = 0;  // WASI's fdflags
  std::uint64_t rights = 0;
  std::uint64_t inheriting_rights = 0;
  bool preopen = false;  // `/`, told by fd_prestat_get
};

// Lowest free number first. Pointers that Get returns are valid until the next change of the table.
class DescriptorTable {
 public:
  explicit DescriptorTable(std::uint32_t max_descriptors) : max_(max_descriptors) {}

  // Null for a number that is not open.
  OpenFile* Get(std::uint32_t fd) const { return fd < files_.size() ? files_[fd].get() : nullptr; }
  std::shared_ptr<OpenFile> Share(std::uint32_t fd) const {
    return fd < files_.size() ? files_[fd] : nullptr;
  }
  // EMFILE.
  Errno Insert(std::shared_ptr<OpenFile> file, std::uint32_t& fd, std::uint32_t lowest = 0);
  // Puts it at that number; what was there is closed. EBADF beyond the limit.
  Errno InsertAt(std::shared_ptr<OpenFile> file, std::uint32_t fd);
  Errno Close(std::uint32_t fd);
  // `to` becomes what `from` was, and `from` free. Unlike in other hosts, `to` need not be open.
  Errno Renumber(std::uint32_t from, std::uint32_t to);

  std::uint32_t max_descriptors() const { return max_; }
  // Whether Insert would fail with EMFILE.
  bool full() const {
    std::uint32_t free = lowest_free_;
    while (free < files_.size() && files_[free] != nullptr) ++free;
    return free >= max_;
  }
  // By number; null where none is open.
  const std::vector<std::shared_ptr<OpenFile>>& all() const { return files_; }
  void Clear() {
    files_.clear();
    lowest_free_ = 0;
  }

 private:
  const std::uint32_t max_;
  std::uint32_t lowest_free_ = 0;  // none below it is free
  std::vector<std::shared_ptr<OpenFile>> files_;
};

}  // namespace dormouse::wasi
