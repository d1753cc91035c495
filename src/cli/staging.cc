// SPDX-License-Identifier: Apache-2.0
#include "cli/staging.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dormouse::cli {

namespace fs = std::filesystem;

Result<StagingDirectory> StagingDirectory::Make(const fs::path& parent) {
  std::string pattern = (parent / ".add-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return SystemError("mkdtemp in " + parent.string(), errno);
  ::chmod(pattern.c_str(), 0755);
  return StagingDirectory(pattern);
}

StagingDirectory::StagingDirectory(StagingDirectory&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

StagingDirectory::~StagingDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<FileDescriptor> LockDirectory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return Error(ErrorCode::kInternal, "creating " + directory.string() + ": " + error.message());
  }
  FileDescriptor lock(
      ::open((directory / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock.valid()) return SystemError("opening " + (directory / ".lock").string(), errno);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return SystemError("locking " + directory.string(), errno);
  }
  return lock;
}

Result<void> SyncDirectory(const fs::path& directory) {
  const FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0)
    return SystemError("fsync of " + directory.string(), errno);
  return {};
}

Result<void> PointCurrentAt(const fs::path& directory, const std::string& target) {
  const fs::path aside = directory / ".current";
  ::unlink(aside.c_str());
  if (::symlink(target.c_str(), aside.c_str()) != 0)
    return SystemError("symlink " + aside.string(), errno);
  if (::rename(aside.c_str(), (directory / "current").c_str()) != 0) {
    return SystemError("renaming " + aside.string(), errno);
  }
  return SyncDirectory(directory);
}

}  // namespace dormouse::cli
