// SPDX-License-Identifier: Apache-2.0
// Inodes, directories and mounts: the tree that FileSystem works on.
//
// An inode lives as long as a directory entry, an open descriptor or another InodePtr holds it.
// Counts are not atomic: the whole tree belongs to one thread.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wasi/errno.h"
#include "wasi/file_content.h"

namespace dormouse::wasi {

// Numbered as WASI's file types.
enum class FileType : std::uint8_t {
  kDevice = 2,
  kDirectory = 3,
  kRegular = 4,
  kSymlink = 7,
};

enum class Device : std::uint8_t { kNull, kZero, kRandom, kStdin, kStdout, kStderr };

struct Inode;
using InodePtr = boost::intrusive_ptr<Inode>;

// One name of an inode. Its address is stable while it exists, also when it gets another inode.
struct DirectoryEntry {
  std::string name;
  InodePtr inode;
  Inode* parent = nullptr;
  std::uint32_t cookie = 0;
};

// The entries of a directory, by name and in listing order. A cookie comes from a hash of the name,
// like in ext4, so it does not depend on what was made or deleted before, and it is the same after
// the directory was rebuilt; only where two names collide, order of insertion decides.
class Directory {
 public:
  // Cookies 1 and 2 belong to "." and "..".
  static constexpr std::uint32_t kFirstCookie = 3;

  DirectoryEntry* Find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  // Requires: there is no such name.
  DirectoryEntry* Insert(std::string_view name, InodePtr inode, Inode* parent);
  void Erase(DirectoryEntry* entry);
  // The first entry whose cookie is greater.
  const DirectoryEntry* After(std::uint64_t cookie) const;
  std::size_t size() const { return by_cookie_.size(); }
  bool empty() const { return by_cookie_.empty(); }

  // Names whose cookie is not the one of their hash; SetCookies gives them back after a rebuild.
  std::vector<std::pair<std::string, std::uint32_t>> DisplacedCookies() const;
  void SetCookies(const std::vector<std::pair<std::string, std::uint32_t>>& cookies);

  std::map<std::uint32_t, DirectoryEntry>& entries() { return by_cookie_; }

  std::uint32_t subdirectories = 0;
  // A directory of the rootfs image whose entries were not made yet.
  std::uint32_t pending_image_node = 0;
  bool pending = false;

 private:
  std::uint32_t FreeCookie(std::string_view name) const;

  std::map<std::uint32_t, DirectoryEntry> by_cookie_;
  // Keys view the names in by_cookie_.
  std::unordered_map<std::string_view, DirectoryEntry*> by_name_;
};

enum class MountKind : std::uint8_t { kRootfs = 0, kWorkspace = 1, kTmp = 2, kDev = 3 };

// A part of the tree with its own device number and limits.
struct Mount {
  Mount(MountKind kind_in, bool read_only_in, Errno full_in, std::uint64_t max_bytes,
        std::uint64_t max_sizes, std::uint64_t max_files)
      : kind(kind_in),
        read_only(read_only_in),
        full(full_in),
        bytes(max_bytes),
        sizes(max_sizes),
        files(max_files) {}
  MountKind kind;
  bool read_only;
  Errno full;   // what an operation beyond the limits answers
  Quota bytes;  // held
  Quota sizes;  // of files, holes included and once for each name
  Quota files;
  InodePtr root;
};

struct Inode {
  Inode(Mount& mount_in, FileType type_in) : mount(&mount_in), type(type_in) {
    mount->files.Add(1);
  }
  ~Inode() {
    mount->files.Subtract(1);
    mount->bytes.Subtract(target.size());
  }
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  Mount* mount;  // outlives the inode
  std::uint64_t id = 0;
  std::int64_t atime_ns = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint32_t references = 0;
  std::uint32_t open_count = 0;  // open files that refer to it
  std::uint32_t mode = 0;        // permission bits
  FileType type;
  Device device = Device::kNull;  // devices
  bool touched = false;           // the observer of its mount has it on its list

  // Its names: the first, and the others of a hard-linked file. Null when there is none left.
  DirectoryEntry* entry = nullptr;
  std::vector<DirectoryEntry*> more_entries;

  std::unique_ptr<Directory> directory;  // directories
  std::unique_ptr<FileContent> content;  // regular files
  std::string target;                    // symlinks; set by SetTarget

  // Targets are charged like contents.
  void SetTarget(std::string_view text) {
    mount->bytes.Add(text.size());
    mount->bytes.Subtract(target.size());
    target = text;
  }
  bool is_directory() const { return type == FileType::kDirectory; }
  bool is_mount_root() const { return mount->root.get() == this; }
  // Has no name any more. Mount roots always have one.
  bool unlinked() const { return entry == nullptr && !is_mount_root(); }
  std::uint64_t link_count() const;
  std::uint64_t size() const;
};

inline void intrusive_ptr_add_ref(Inode* inode) { ++inode->references; }
inline void intrusive_ptr_release(Inode* inode) {
  if (--inode->references == 0) delete inode;
}

}  // namespace dormouse::wasi
