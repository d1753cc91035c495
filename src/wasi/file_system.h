// SPDX-License-Identifier: Apache-2.0
// FileSystem: a POSIX file tree in memory, with the rules of Linux as root sees them.
//
// Mounts: `/` (an engine's packed files, read-only), /workspace, /tmp, /dev. Each is its own
// device: links and renames across them are EXDEV. Permission bits are kept but not enforced. Paths
// are resolved as Linux does it, symlinks (relative, or absolute from this tree's `/`) included;
// nothing outside the tree can be named at all.
//
// Threads: the guest's thread only. Owner: Wasi. No function here leaves by exception or jump.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wasi/errno.h"
#include "wasi/host_interfaces.h"
#include "wasi/inode.h"
#include "wasi/limits.h"
#include "wasi/rootfs_image.h"

namespace dormouse::wasi {

enum class Follow : std::uint8_t { kNo, kYes };  // a symlink in last place

struct FileStat {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  FileType type = FileType::kRegular;
  std::uint32_t mode = 0;
  std::uint64_t links = 0;
  std::uint64_t size = 0;
  std::int64_t atime_ns = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
};

// What statvfs() tells of a mount.
struct MountStat {
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t files = 0;
  std::uint64_t free_files = 0;
  bool read_only = false;
};

struct OpenRequest {
  bool write = false;  // asks for write access: EISDIR, EROFS
  bool create = false;
  bool exclusive = false;
  bool truncate = false;
  bool directory = false;  // ENOTDIR unless it is one
  Follow follow = Follow::kYes;
  std::uint32_t mode = 0644;  // of a new file
};

// A time to set: leave it, now, or that value.
struct TimeChange {
  enum class Kind : std::uint8_t { kKeep, kNow, kValue };
  Kind kind = Kind::kKeep;
  std::int64_t value_ns = 0;
};

// Hears of changes in /workspace, before they happen (names) or after (inodes).
class ChangeObserver {
 public:
  virtual ~ChangeObserver() = default;
  // The name `name` of `directory` appears, disappears or changes its inode.
  virtual void OnName(Inode& directory, std::string_view name) = 0;
  // Everything below that name moves away or arrives (a directory is renamed).
  virtual void OnTree(Inode& directory, std::string_view name) = 0;
  // Content, mode or times changed, for the first time since `touched` was cleared.
  virtual void OnInode(Inode& inode) = 0;
  // The inode lost its last name; it may be destroyed at any time from now on.
  virtual void OnUnlinked(Inode& inode) = 0;
};

class FileSystem {
 public:
  // Borrows `contents` (may be null) and `time`.
  FileSystem(const Limits& limits, ContentSource* contents, TimeSource& time,
             EntropySource& entropy, std::optional<RootfsImage> rootfs);
  ~FileSystem();
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  Inode& root() { return *mounts_[0]->root; }
  Inode& mount_root(MountKind kind) { return *mount(kind).root; }
  Mount& mount(MountKind kind) { return *mounts_[static_cast<std::size_t>(kind)]; }
  const Limits& limits() const { return limits_; }
  ContentSource* contents() { return contents_; }

  // --- Names. `start` is the directory that relative paths begin at.
  Errno Open(Inode& start, std::string_view path, const OpenRequest& request, InodePtr& opened);
  Errno Lookup(Inode& start, std::string_view path, Follow follow, InodePtr& found);
  Errno Stat(Inode& start, std::string_view path, Follow follow, FileStat& stat);
  Errno MakeDirectory(Inode& start, std::string_view path, std::uint32_t mode = 0755);
  Errno RemoveDirectory(Inode& start, std::string_view path);
  Errno Unlink(Inode& start, std::string_view path);
  Errno Rename(Inode& from_start, std::string_view from, Inode& to_start, std::string_view to);
  Errno Link(Inode& from_start, std::string_view from, Follow follow, Inode& to_start,
             std::string_view to);
  Errno Symlink(std::string_view target, Inode& start, std::string_view path);
  // `target` views into the inode, until it is unlinked.
  Errno ReadLink(Inode& start, std::string_view path, std::string_view& target);

  // --- Inodes.
  FileStat StatOf(const Inode& inode) const;
  // Of the mount on which the inode lies.
  MountStat MountStatOf(const Inode& inode) const;
  Errno SetTimes(Inode& inode, TimeChange atime, TimeChange mtime);
  Errno SetMode(Inode& inode, std::uint32_t mode);
  // Regular files. Write needs a writable mount; append at size() yourself.
  Errno Read(Inode& file, std::uint64_t offset, std::span<std::byte> out, std::uint64_t& got);
  Errno Write(Inode& file, std::uint64_t offset, std::span<const std::byte> in, std::uint64_t& put);
  // EFBIG where the file would not fit however empty the mount is, else the mount's own error.
  Errno Truncate(Inode& file, std::uint64_t size);
  // posix_fallocate: grows the size to offset + length, and fails like writing that much would.
  // Reserves nothing.
  Errno Allocate(Inode& file, std::uint64_t offset, std::uint64_t length);

  // The entries of a directory, made first if the rootfs image still has them.
  Directory& Children(Inode& directory);
  // ".." of a directory; itself for the root; null for a removed one.
  Inode* ParentOf(const Inode& directory) const;
  // From `/`. Empty if it was unlinked.
  std::string PathOf(const Inode& inode) const;

  // An open file begins or ceases to refer to the inode.
  void Opened(Inode& inode) { ++inode.open_count; }
  void Closed(Inode& inode);

  // --- For WorkspaceMirror and HostState: the tree below all rules, limits and observers.
  InodePtr NewInode(MountKind mount, FileType type, std::uint32_t mode);
  DirectoryEntry* Attach(Inode& directory, std::string_view name, InodePtr inode);
  // Takes the name away. A directory must be empty.
  void Detach(DirectoryEntry* entry);
  void Replace(DirectoryEntry* entry, InodePtr inode);
  void SetObserver(ChangeObserver* observer) { observer_ = observer; }
  // Counts changes to what HostState keeps: /tmp, and unlinked files that are open.
  std::uint64_t private_version() const { return private_version_; }
  void PrivateChanged() { ++private_version_; }
  std::uint64_t next_inode_id() { return next_inode_id_++; }
  std::int64_t Now() const { return time_.RealtimeNs(); }

 private:
  struct Location;
  enum class Last : std::uint8_t;

  // Whether a symlink in last place is followed; `slash`: one comes after it.
  static bool Follows(Last last, bool slash);
  Errno Walk(Inode& start, std::string_view path, Last last, Location& location);
  // Whether `location` may get a name; one that counts against the limit of files, or a moved one.
  enum class Counted : std::uint8_t { kNo, kYes };
  Errno CheckCreate(const Location& location, Counted counted) const;
  Errno CheckPathLength(const Inode& directory, std::string_view name,
                        std::uint64_t below_bytes) const;
  Errno CheckRename(const Location& from, const Location& to) const;
  // Attaches and tells everyone.
  void Add(const Location& location, InodePtr inode);
  void Populate(Inode& directory);
  void MakeDevices();
  void AddName(DirectoryEntry* entry);
  void RemoveName(DirectoryEntry* entry);
  void NameChanges(Inode& directory, std::string_view name);
  void TreeMoves(Inode& directory, std::string_view name);
  void InodeChanged(Inode& inode);
  void DirectoryChanged(Inode& directory);

  const Limits limits_;
  ContentSource* const contents_;
  TimeSource& time_;
  const std::optional<RootfsImage> rootfs_;
  std::array<std::unique_ptr<Mount>, 4> mounts_;
  ChangeObserver* observer_ = nullptr;
  std::uint64_t private_version_ = 0;
  std::uint64_t next_inode_id_ = 1;
};

}  // namespace dormouse::wasi
