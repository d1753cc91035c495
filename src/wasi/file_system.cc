// SPDX-License-Identifier: Apache-2.0
#include "wasi/file_system.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dormouse::wasi {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kDayNs = std::int64_t{86400} * 1'000'000'000;

struct DeviceNode {
  const char* name;
  Device device;
};
constexpr DeviceNode kDevices[] = {
    {"null", Device::kNull},      {"zero", Device::kZero},   {"random", Device::kRandom},
    {"urandom", Device::kRandom}, {"stdin", Device::kStdin}, {"stdout", Device::kStdout},
    {"stderr", Device::kStderr},
};

bool IsMountName(std::string_view name) {
  return name == "workspace" || name == "tmp" || name == "dev";
}

// Inode numbers of different lives of a context should not meet, and stay exact in a double.
std::uint64_t FirstInodeId(EntropySource& entropy) {
  std::uint32_t seed = 0;
  (void)entropy.Fill(std::as_writable_bytes(std::span(&seed, 1)));
  return (std::uint64_t{seed & 0x3fff'ffff} << 20) + 1;
}

}  // namespace

FileSystem::FileSystem(const Limits& limits, ContentSource* contents, TimeSource& time,
                       EntropySource& entropy, std::optional<RootfsImage> rootfs)
    : limits_(limits),
      contents_(contents),
      time_(time),
      rootfs_(std::move(rootfs)),
      next_inode_id_(FirstInodeId(entropy)) {
  const auto make = [&](MountKind kind, bool read_only, Errno full, std::uint64_t bytes,
                        std::uint64_t files, std::uint32_t mode) {
    auto& mount = mounts_[static_cast<std::size_t>(kind)];
    // The server stores /workspace, and counts what files are long.
    const std::uint64_t sizes = kind == MountKind::kWorkspace ? bytes : kUnlimited;
    mount = std::make_unique<Mount>(kind, read_only, full, bytes, sizes, files);
    mount->root = NewInode(kind, FileType::kDirectory, mode);
  };
  make(MountKind::kRootfs, true, Errno::kReadOnly, kUnlimited, kUnlimited, 0755);
  make(MountKind::kWorkspace, false, Errno::kQuota, limits.max_workspace_bytes, limits.max_files,
       0755);
  make(MountKind::kTmp, false, Errno::kNoSpace, limits.max_tmp_bytes, limits.max_files, 01777);
  make(MountKind::kDev, true, Errno::kReadOnly, kUnlimited, kUnlimited, 0755);
  root().id = 1;
  root().mtime_ns = root().ctime_ns = root().atime_ns = kRootfsMtimeNs;
  if (rootfs_.has_value()) {
    root().directory->pending = true;
    Populate(root());
  }
  Attach(root(), "workspace", &mount_root(MountKind::kWorkspace));
  Attach(root(), "tmp", &mount_root(MountKind::kTmp));
  Attach(root(), "dev", &mount_root(MountKind::kDev));
  MakeDevices();
}

FileSystem::~FileSystem() {
  observer_ = nullptr;
  // Inodes refer to their mounts when they die, so the trees go first.
  root().directory->entries().clear();
  for (auto& mount : mounts_) mount->root.reset();
}

void FileSystem::MakeDevices() {
  Inode& directory = mount_root(MountKind::kDev);
  directory.id = 1;
  std::uint64_t id = 2;
  for (const DeviceNode& node : kDevices) {
    InodePtr inode = NewInode(MountKind::kDev, FileType::kDevice, 0666);
    inode->device = node.device;
    inode->id = id++;
    Attach(directory, node.name, std::move(inode));
  }
}

void FileSystem::Populate(Inode& directory) {
  directory.directory->pending = false;
  const RootfsImage::Node node = rootfs_->At(directory.directory->pending_image_node);
  for (std::uint32_t i = node.first_child; i < node.first_child + node.child_count; ++i) {
    RootfsImage::Node child = rootfs_->At(i);
    if (&directory == &root() && IsMountName(child.name)) continue;
    InodePtr inode = NewInode(MountKind::kRootfs, child.type, child.mode);
    inode->id = std::uint64_t{i} + 1;
    inode->atime_ns = inode->mtime_ns = inode->ctime_ns = child.mtime_ns;
    switch (child.type) {
      case FileType::kDirectory:
        inode->directory->pending = true;
        inode->directory->pending_image_node = i;
        break;
      case FileType::kSymlink:
        inode->SetTarget(child.data.view());
        break;
      default:
        inode->content->SetBytes(std::move(child.data));
        break;
    }
    Attach(directory, child.name, std::move(inode));
  }
}

Directory& FileSystem::Children(Inode& directory) {
  if (directory.directory->pending) [[unlikely]]
    Populate(directory);
  return *directory.directory;
}

Inode* FileSystem::ParentOf(const Inode& directory) const {
  if (directory.entry != nullptr) return directory.entry->parent;
  return &directory == mounts_[0]->root.get() ? mounts_[0]->root.get() : nullptr;
}

std::string FileSystem::PathOf(const Inode& inode) const {
  const Inode* const top = mounts_[0]->root.get();
  if (&inode == top) return "/";
  std::string path;
  std::vector<const DirectoryEntry*> entries;
  for (const Inode* at = &inode; at != top; at = at->entry->parent) {
    if (at->entry == nullptr) return std::string();
    entries.push_back(at->entry);
  }
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    path.append("/").append((*entry)->name);
  }
  return path;
}

InodePtr FileSystem::NewInode(MountKind kind, FileType type, std::uint32_t mode) {
  Mount& owner = mount(kind);
  InodePtr inode(new Inode(owner, type));
  inode->id = next_inode_id_++;
  inode->mode = mode;
  inode->atime_ns = inode->mtime_ns = inode->ctime_ns = Now();
  if (type == FileType::kDirectory) inode->directory = std::make_unique<Directory>();
  if (type == FileType::kRegular) {
    inode->content = std::make_unique<FileContent>(owner.bytes, &owner.sizes);
  }
  return inode;
}

void FileSystem::AddName(DirectoryEntry* entry) {
  Inode& inode = *entry->inode;
  if (inode.entry == nullptr) {
    inode.entry = entry;
  } else {
    inode.more_entries.push_back(entry);
    inode.mount->files.Add(1);  // names cost memory too
  }
  if (inode.content) inode.content->SetNames(inode.link_count());
  if (inode.is_directory()) ++entry->parent->directory->subdirectories;
}

void FileSystem::RemoveName(DirectoryEntry* entry) {
  Inode& inode = *entry->inode;
  if (inode.is_directory()) --entry->parent->directory->subdirectories;
  if (inode.entry == entry) {
    inode.entry = nullptr;
    if (!inode.more_entries.empty()) {
      inode.entry = inode.more_entries.back();
      inode.more_entries.pop_back();
      inode.mount->files.Subtract(1);
    }
  } else {
    inode.mount->files.Subtract(std::erase(inode.more_entries, entry));
  }
  if (inode.content) inode.content->SetNames(inode.link_count());
  if (inode.entry != nullptr) return;
  if (inode.open_count > 0) {
    // From now on nobody else keeps the content; the store may forget it.
    if (inode.content) (void)inode.content->EnsureLoaded(contents_);
    ++private_version_;
  }
  if (observer_ != nullptr && inode.mount->kind == MountKind::kWorkspace) {
    observer_->OnUnlinked(inode);
  }
}

DirectoryEntry* FileSystem::Attach(Inode& directory, std::string_view name, InodePtr inode) {
  DirectoryEntry* const entry = directory.directory->Insert(name, std::move(inode), &directory);
  AddName(entry);
  return entry;
}

void FileSystem::Detach(DirectoryEntry* entry) {
  RemoveName(entry);
  entry->parent->directory->Erase(entry);
}

void FileSystem::Replace(DirectoryEntry* entry, InodePtr inode) {
  RemoveName(entry);
  // The old inode may die here; it has no name that leads to it any more.
  entry->inode = std::move(inode);
  AddName(entry);
}

void FileSystem::NameChanges(Inode& directory, std::string_view name) {
  if (directory.mount->kind == MountKind::kTmp) ++private_version_;
  if (observer_ != nullptr && directory.mount->kind == MountKind::kWorkspace) {
    observer_->OnName(directory, name);
  }
}

void FileSystem::TreeMoves(Inode& directory, std::string_view name) {
  if (observer_ != nullptr && directory.mount->kind == MountKind::kWorkspace) {
    observer_->OnTree(directory, name);
  }
}

void FileSystem::InodeChanged(Inode& inode) {
  if (inode.mount->kind == MountKind::kTmp || inode.unlinked()) {
    ++private_version_;
  } else if (!inode.touched && observer_ != nullptr && inode.mount->kind == MountKind::kWorkspace) {
    inode.touched = true;
    observer_->OnInode(inode);
  }
}

void FileSystem::DirectoryChanged(Inode& directory) {
  directory.mtime_ns = directory.ctime_ns = Now();
  InodeChanged(directory);
}

void FileSystem::Closed(Inode& inode) {
  // The saved private files should stop holding its content.
  if (--inode.open_count == 0 && inode.unlinked()) ++private_version_;
}

FileStat FileSystem::StatOf(const Inode& inode) const {
  return {.device = static_cast<std::uint64_t>(inode.mount->kind) + 1,
          .inode = inode.id,
          .type = inode.type,
          .mode = inode.mode,
          .links = inode.link_count(),
          .size = inode.size(),
          .atime_ns = inode.atime_ns,
          .mtime_ns = inode.mtime_ns,
          .ctime_ns = inode.ctime_ns};
}

MountStat FileSystem::MountStatOf(const Inode& inode) const {
  const Mount& mount = *inode.mount;
  MountStat stat{.device = static_cast<std::uint64_t>(mount.kind) + 1,
                 .read_only = mount.read_only};
  if (mount.read_only) {
    if (mount.kind == MountKind::kRootfs && rootfs_) {
      stat.bytes = rootfs_->size_bytes();
      stat.files = rootfs_->node_count();
    }
    return stat;
  }
  stat.bytes = mount.bytes.limit();
  stat.free_bytes = std::min(mount.bytes.remaining(), mount.sizes.remaining());
  stat.files = mount.files.limit();
  stat.free_files = mount.files.remaining();
  return stat;
}

Errno FileSystem::SetTimes(Inode& inode, TimeChange atime, TimeChange mtime) {
  if (atime.kind == TimeChange::Kind::kKeep && mtime.kind == TimeChange::Kind::kKeep) {
    return Errno::kSuccess;
  }
  if (inode.mount->read_only) return Errno::kReadOnly;
  const std::int64_t now = Now();
  const auto apply = [now](TimeChange change, std::int64_t& time) {
    if (change.kind == TimeChange::Kind::kNow) time = now;
    if (change.kind == TimeChange::Kind::kValue) time = change.value_ns;
  };
  apply(atime, inode.atime_ns);
  apply(mtime, inode.mtime_ns);
  inode.ctime_ns = now;
  InodeChanged(inode);
  return Errno::kSuccess;
}

Errno FileSystem::SetMode(Inode& inode, std::uint32_t mode) {
  if (inode.mount->read_only) return Errno::kReadOnly;
  if (inode.type == FileType::kSymlink) return Errno::kNotSupported;
  inode.mode = mode & 07777;
  inode.ctime_ns = Now();
  InodeChanged(inode);
  return Errno::kSuccess;
}

Errno FileSystem::Read(Inode& file, std::uint64_t offset, std::span<std::byte> out,
                       std::uint64_t& got) {
  got = 0;
  if (file.is_directory()) return Errno::kIsDirectory;
  if (file.type != FileType::kRegular) return Errno::kInvalid;
  const Errno error = file.content->Read(contents_, offset, out, got);
  if (error != Errno::kSuccess || file.mount->read_only) return error;
  // As with Linux's relatime: only when it says something new. Not a change worth saving.
  const std::int64_t now = Now();
  if (file.atime_ns <= file.mtime_ns || file.atime_ns <= file.ctime_ns ||
      file.atime_ns < now - kDayNs) {
    file.atime_ns = now;
  }
  return error;
}

Errno FileSystem::Write(Inode& file, std::uint64_t offset, std::span<const std::byte> in,
                        std::uint64_t& put) {
  put = 0;
  if (file.type != FileType::kRegular) return Errno::kInvalid;
  if (file.mount->read_only) return Errno::kReadOnly;
  if (in.empty()) return Errno::kSuccess;
  if (offset >= limits_.max_file_bytes) return Errno::kFileTooBig;
  const std::uint64_t most = std::min<std::uint64_t>(in.size(), limits_.max_file_bytes - offset);
  const Errno error = file.content->Write(contents_, offset, in.first(most), put);
  if (error == Errno::kNoSpace) {
    return offset > file.mount->sizes.limit() ? Errno::kFileTooBig : file.mount->full;
  }
  if (error != Errno::kSuccess) return error;
  file.mtime_ns = file.ctime_ns = Now();
  InodeChanged(file);
  return Errno::kSuccess;
}

Errno FileSystem::Truncate(Inode& file, std::uint64_t size) {
  if (file.is_directory()) return Errno::kIsDirectory;
  if (file.type != FileType::kRegular) return Errno::kInvalid;
  if (file.mount->read_only) return Errno::kReadOnly;
  if (size > limits_.max_file_bytes || size > file.mount->sizes.limit()) return Errno::kFileTooBig;
  if (size > file.content->max_size()) return file.mount->full;
  file.content->Resize(size);
  file.mtime_ns = file.ctime_ns = Now();
  InodeChanged(file);
  return Errno::kSuccess;
}

Errno FileSystem::Allocate(Inode& file, std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return Errno::kInvalid;
  if (file.type != FileType::kRegular) return Errno::kNotSeekable;
  if (file.mount->read_only) return Errno::kReadOnly;
  if (offset > limits_.max_file_bytes || length > limits_.max_file_bytes - offset) {
    return Errno::kFileTooBig;
  }
  const std::uint64_t end = offset + length;
  const std::uint64_t size = file.content->size();
  if (end <= size) return Errno::kSuccess;
  if (end - std::max(size, offset) > file.mount->bytes.remaining()) return file.mount->full;
  return Truncate(file, end);
}

}  // namespace dormouse::wasi
