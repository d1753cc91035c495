// SPDX-License-Identifier: Apache-2.0
#include "store/data_files.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "common/random_id.h"

namespace dormouse::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShards = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kNameCharacters = 26;

std::string_view FolderOf(DataFileKind kind) {
  return kind == DataFileKind::kSegment ? "segments" : "contents";
}

Result<void> MakeDirectory(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("mkdir " + path.string(), errno);
  }
  return {};
}

std::string ReadLockHolder(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof(text) - 1, 0);
  std::string holder(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder.empty() ? "unknown" : holder;
}

Result<FileDescriptor> TakeLock(const fs::path& directory) {
  const fs::path path = directory / "lock";
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return SystemError("open " + path.string(), errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return SystemError("flock " + path.string(), errno);
    return Error(ErrorCode::kConflict, "the data directory " + directory.string() +
                                           " is in use by another server (process " +
                                           ReadLockHolder(lock.get()) + ")");
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return SystemError("write " + path.string(), errno);
  }
  return lock;
}

std::int64_t NanosecondsOf(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

PlacedFile::~PlacedFile() {
  if (files_ != nullptr) files_->Remove(kind_, name_);
}

PlacedFile& PlacedFile::operator=(PlacedFile&& other) noexcept {
  if (this != &other) {
    if (files_ != nullptr) files_->Remove(kind_, name_);
    files_ = std::exchange(other.files_, nullptr);
    kind_ = other.kind_;
    name_ = std::move(other.name_);
    descriptor_ = std::move(other.descriptor_);
  }
  return *this;
}

DataFiles::DataFiles(fs::path directory, FileDescriptor lock, std::int64_t opened_ns)
    : directory_(std::move(directory)), lock_(std::move(lock)), opened_ns_(opened_ns) {}

Result<std::unique_ptr<DataFiles>> DataFiles::Open(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return SystemError("create " + directory.string(), error.value());
  ::chmod(directory.c_str(), 0700);
  DORMOUSE_ASSIGN(FileDescriptor lock, TakeLock(directory));
  for (const DataFileKind kind : {DataFileKind::kSegment, DataFileKind::kContent}) {
    DORMOUSE_TRY(MakeDirectory(directory / FolderOf(kind)));
    for (const char shard : kShards) {
      DORMOUSE_TRY(MakeDirectory(directory / FolderOf(kind) / std::string(1, shard)));
    }
  }
  DORMOUSE_TRY(MakeDirectory(directory / "tmp"));
  for (const auto& entry : fs::directory_iterator(directory / "tmp", error)) {
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
  // File times come from the kernel's coarse clock, so that is what they are compared with.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::unique_ptr<DataFiles>(new DataFiles(directory, std::move(lock), NanosecondsOf(now)));
}

fs::path DataFiles::PathOf(DataFileKind kind, std::string_view name) const {
  return directory_ / FolderOf(kind) / std::string(name.substr(0, 1)) / name;
}

Result<FileDescriptor> DataFiles::CreateTemporary() {
  const fs::path folder = directory_ / "tmp";
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid()) return file;
  // Some file systems know no nameless files. A named one is left to the next start's sweep if it is never placed.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
    return SystemError("create a file in " + folder.string(), errno);
  }
  const fs::path path = folder / RandomId(kNameCharacters);
  FileDescriptor named(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!named.valid()) return SystemError("create " + path.string(), errno);
  return named;
}

Result<PlacedFile> DataFiles::Place(DataFileKind kind, FileDescriptor descriptor) {
  std::string name = RandomId(kNameCharacters);
  const fs::path path = PathOf(kind, name);
  const std::string self = "/proc/self/fd/" + std::to_string(descriptor.get());
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return SystemError("fstat", errno);
  if (!S_ISREG(status.st_mode)) return Error(ErrorCode::kInternal, "not a regular file");
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return SystemError("link " + path.string(), errno);
  }
  if (status.st_nlink > 0) {
    // It had a name in tmp/, which the link in /proc still tells.
    char old_path[4096];
    const ssize_t length = ::readlink(self.c_str(), old_path, sizeof(old_path) - 1);
    if (length > 0) {
      old_path[length] = '\0';
      const fs::path old(old_path);
      if (old.parent_path().filename() == "tmp") ::unlink(old_path);
    }
  }
  return PlacedFile(this, kind, std::move(name), std::move(descriptor));
}

Result<FileDescriptor> DataFiles::OpenForRead(DataFileKind kind, std::string_view name) const {
  const fs::path path = PathOf(kind, name);
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) {
    if (errno == ENOENT) return Error(ErrorCode::kCorrupt, "a data file is missing: " + path.filename().string());
    return SystemError("open " + path.string(), errno);
  }
  return file;
}

void DataFiles::Remove(DataFileKind kind, std::string_view name) {
  const fs::path path = PathOf(kind, name);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    spdlog::warn("cannot remove {}: errno {}", path.string(), errno);
  }
}

Result<void> DataFiles::Sync(const PlacedFile& file) const {
  if (::fdatasync(file.descriptor()) != 0) return SystemError("fdatasync", errno);
  const fs::path folder = PathOf(file.kind(), file.name()).parent_path();
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) {
    return SystemError("fsync " + folder.string(), errno);
  }
  return {};
}

std::size_t DataFiles::SweepOrphans(DataFileKind kind, const std::unordered_set<std::string>& known) {
  std::size_t removed = 0;
  for (const char shard : kShards) {
    std::error_code error;
    const fs::path folder = directory_ / FolderOf(kind) / std::string(1, shard);
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      struct stat status {};
      if (known.contains(name) || ::lstat(entry.path().c_str(), &status) != 0) continue;
      // Linking a file into place changes its status time: anything of this server's life is newer than its start.
      if (NanosecondsOf(status.st_ctim) >= opened_ns_) continue;
      if (::unlink(entry.path().c_str()) == 0) ++removed;
    }
  }
  return removed;
}

}  // namespace dormouse::store
