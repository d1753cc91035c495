// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_package.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "cli/staging.h"
#include "common/file_descriptor.h"
#include "common/write_all.h"
#include "worker/engine_check.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBuildDirectoryCharacters = 16;
constexpr std::uint64_t kMaxPackageFileBytes = std::uint64_t{4} << 30;
constexpr std::size_t kCopyPieceBytes = 1u << 20;

// Copies a regular file, never through a symbolic link, and syncs the copy.
Result<void> CopyFile(const fs::path& from, const fs::path& to) {
  const FileDescriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!source.valid()) return SystemError("opening " + from.string(), errno);
  struct stat status;
  if (::fstat(source.get(), &status) != 0) return SystemError("fstat of " + from.string(), errno);
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kCorrupt, from.string() + " is not a regular file");
  }
  const FileDescriptor copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!copy.valid()) return SystemError("creating " + to.string(), errno);
  std::string piece(kCopyPieceBytes, '\0');
  std::uint64_t total = 0;
  while (true) {
    const ssize_t length = ::read(source.get(), piece.data(), piece.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return SystemError("reading " + from.string(), errno);
    if (length == 0) break;
    total += static_cast<std::uint64_t>(length);
    if (total > kMaxPackageFileBytes) {
      return Error(ErrorCode::kCorrupt, from.string() + " is larger than 4 GiB");
    }
    DORMOUSE_TRY(WriteAll(copy.get(), {piece.data(), static_cast<std::size_t>(length)}, "write"));
  }
  if (::fsync(copy.get()) != 0) return SystemError("fsync of " + to.string(), errno);
  return {};
}

// Copies what makes an engine; other files of the package do not count.
Result<void> CopyPackage(const fs::path& package, const fs::path& to) {
  for (const char* name : {"engine.json", "engine.so", "boot.img"}) {
    DORMOUSE_TRY(CopyFile(package / name, to / name));
  }
  std::error_code none;
  if (fs::symlink_status(package / "rootfs.img", none).type() != fs::file_type::not_found) {
    DORMOUSE_TRY(CopyFile(package / "rootfs.img", to / "rootfs.img"));
  }
  return SyncDirectory(to);
}

}  // namespace

Result<InstalledEngine> InstallEngine(const fs::path& package, const fs::path& engines,
                                      const fs::path& executable, MakeCurrent make_current) {
  DORMOUSE_ASSIGN(const FileDescriptor lock, LockDirectory(engines));
  // Beside its place to be, so that a rename does the rest.
  DORMOUSE_ASSIGN(const StagingDirectory staging, StagingDirectory::Make(engines));
  DORMOUSE_TRY(CopyPackage(package, staging.path()));
  InstalledEngine installed;
  DORMOUSE_ASSIGN(installed.manifest, worker::CheckEngineFiles(staging.path()));
  DORMOUSE_TRY(worker::TryEngine(executable, staging.path()));
  const fs::path engine = engines / installed.manifest.name;
  const std::string build = installed.manifest.build_id.substr(0, kBuildDirectoryCharacters);
  installed.directory = engine / build;
  std::error_code error;
  fs::create_directory(engine, error);
  if (error)
    return Error(ErrorCode::kInternal, "creating " + engine.string() + ": " + error.message());
  installed.was_there = fs::exists(installed.directory / "engine.json", error);
  if (!installed.was_there && ::rename(staging.path().c_str(), installed.directory.c_str()) != 0) {
    return SystemError("renaming to " + installed.directory.string(), errno);
  }
  DORMOUSE_TRY(SyncDirectory(engine));
  if (make_current == MakeCurrent::kYes) DORMOUSE_TRY(PointCurrentAt(engine, build));
  return installed;
}

Result<std::uint64_t> RemoveBuild(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::error_code none;
    if (entry.is_regular_file(none)) bytes += entry.file_size(none);
  }
  // First out of sight: nobody finds half a build.
  const fs::path aside = directory.parent_path() / (".old-" + directory.filename().string());
  if (!error) fs::rename(directory, aside, error);
  if (!error) fs::remove_all(aside, error);
  if (error)
    return Error(ErrorCode::kInternal, "removing " + directory.string() + ": " + error.message());
  return bytes;
}

}  // namespace dormouse::cli
