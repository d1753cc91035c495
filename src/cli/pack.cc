// SPDX-License-Identifier: Apache-2.0
#include "cli/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;

struct ArchiveCloser {
  void operator()(struct archive* archive) const { archive_write_free(archive); }
};
struct EntryCloser {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using ArchivePtr = std::unique_ptr<struct archive, ArchiveCloser>;
using EntryPtr = std::unique_ptr<archive_entry, EntryCloser>;

Error ArchiveError(struct archive* archive) {
  const char* const text = archive_error_string(archive);
  return Error(ErrorCode::kInternal,
               std::string("packing: ") + (text != nullptr ? text : "failed"));
}

Result<FileDescriptor> TemporaryFile() {
  const char* const directory = std::getenv("TMPDIR");
  std::string name = std::string(directory != nullptr ? directory : "/tmp") + "/dormouse-XXXXXX";
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) return SystemError("making a temporary file", errno);
  ::unlink(name.c_str());
  return file;
}

Result<void> AddContent(struct archive* archive, const fs::path& path, std::uint64_t size,
                        Progress& progress) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return SystemError("opening " + path.string(), errno);
  char piece[65536];
  // A file that grows meanwhile is cut at the size its header tells; one that shrinks is an error.
  while (size > 0) {
    const ssize_t length = ::read(file.get(), piece, std::min<std::uint64_t>(sizeof(piece), size));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return SystemError("reading " + path.string(), errno);
    if (length == 0)
      return Error(ErrorCode::kInternal, path.string() + " changed while it was packed");
    if (archive_write_data(archive, piece, static_cast<std::size_t>(length)) < 0) {
      return ArchiveError(archive);
    }
    size -= static_cast<std::uint64_t>(length);
    progress.Add(static_cast<std::uint64_t>(length));
  }
  return {};
}

Result<void> AddPath(struct archive* archive, const fs::path& root, const fs::path& path,
                     Progress& progress) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return SystemError("looking at " + path.string(), errno);
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !S_ISLNK(status.st_mode)) return {};
  const EntryPtr entry(archive_entry_new());
  const std::string name = path.lexically_relative(root).string();
  archive_entry_copy_pathname(entry.get(), name.c_str());
  archive_entry_set_mode(entry.get(), status.st_mode);
  archive_entry_set_mtime(entry.get(), status.st_mtim.tv_sec, 0);
  std::uint64_t size = 0;
  if (S_ISLNK(status.st_mode)) {
    std::error_code failure;
    const fs::path target = fs::read_symlink(path, failure);
    if (failure) return SystemError("reading " + path.string(), failure.value());
    archive_entry_copy_symlink(entry.get(), target.c_str());
  } else if (S_ISREG(status.st_mode)) {
    size = static_cast<std::uint64_t>(status.st_size);
  }
  archive_entry_set_size(entry.get(), static_cast<std::int64_t>(size));
  if (archive_write_header(archive, entry.get()) < ARCHIVE_WARN) return ArchiveError(archive);
  return AddContent(archive, path, size, progress);
}

Result<void> AddTree(struct archive* archive, const fs::path& root, Progress& progress) {
  std::error_code failure;
  fs::recursive_directory_iterator it(root, failure);
  for (; !failure && it != fs::recursive_directory_iterator(); it.increment(failure)) {
    if (it->path().filename() == ".git") {
      it.disable_recursion_pending();
      continue;
    }
    DORMOUSE_TRY(AddPath(archive, root, it->path(), progress));
  }
  if (failure) return SystemError("reading " + root.string(), failure.value());
  return {};
}

Result<void> PackInto(int fd, const fs::path& root, Progress::Audience audience) {
  Progress progress("packing", audience);
  const ArchivePtr archive(archive_write_new());
  archive_write_add_filter_gzip(archive.get());
  archive_write_set_format_pax_restricted(archive.get());
  // Names are bytes here and UTF-8 there.
  (void)archive_write_set_options(archive.get(), "hdrcharset=BINARY");
  if (archive_write_open_fd(archive.get(), fd) != ARCHIVE_OK) return ArchiveError(archive.get());
  DORMOUSE_TRY(AddTree(archive.get(), root, progress));
  if (archive_write_close(archive.get()) != ARCHIVE_OK) return ArchiveError(archive.get());
  return {};
}

}  // namespace

Result<PackedArchive> Pack(const std::string& source, Progress::Audience audience) {
  PackedArchive packed;
  std::error_code failure;
  if (fs::is_directory(source, failure)) {
    DORMOUSE_ASSIGN(packed.file, TemporaryFile());
    DORMOUSE_TRY(PackInto(packed.file.get(), fs::path(source), audience));
  } else {
    packed.file = FileDescriptor(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!packed.file.valid()) return SystemError("opening " + source, errno);
  }
  DORMOUSE_ASSIGN(packed.digest, Sha256OfFile(packed.file.get()));
  struct stat status{};
  if (::fstat(packed.file.get(), &status) != 0) return SystemError("looking at " + source, errno);
  packed.size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (::lseek(packed.file.get(), 0, SEEK_SET) < 0) return SystemError("reading " + source, errno);
  return packed;
}

}  // namespace dormouse::cli
