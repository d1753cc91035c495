// SPDX-License-Identifier: Apache-2.0
#include "workspace/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "common/write_all.h"
#include "workspace/path.h"

namespace dormouse::workspace {
namespace {

constexpr std::size_t kReadBytes = 128u << 10;
// Files up to this size are collected in memory, larger ones in a temporary file.
constexpr std::size_t kMemoryBytes = 1u << 20;
// A portion ends beyond either: each content may hold its bytes in memory until it is committed.
constexpr std::size_t kPortionContents = 500;
constexpr std::uint64_t kPortionBytes = 16u << 20;
// Ordinary archives unpack to 3 to 20 times their size.
constexpr std::uint64_t kMostRatio = 200;

constexpr std::int64_t kLatestSecond = 9'000'000'000;  // fits in nanoseconds

std::string Text(const char* utf8, const char* raw) {
  return utf8 != nullptr ? utf8 : raw != nullptr ? raw : "";
}

// The path in normal form; empty for the root itself. Nothing for one that leaves it.
std::optional<std::string> NormalPath(std::string_view path) {
  if (path.starts_with('/')) return std::nullopt;
  std::string normal;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name == "..") return std::nullopt;
    if (name.empty() || name == ".") continue;
    if (!normal.empty()) normal.push_back('/');
    normal.append(name);
  }
  return normal;
}

// Whether a link at `path` leads to a place in /workspace, as far as names tell.
bool StaysInside(std::string_view path, std::string_view target) {
  std::size_t depth = 0;
  if (target.starts_with('/')) {
    if (target != kRoot && !target.starts_with(std::string(kRoot) + "/")) return false;
    target.remove_prefix(kRoot.size());
  } else {
    depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  }
  while (!target.empty()) {
    const std::size_t end = std::min(target.find('/'), target.size());
    const std::string_view name = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      ++depth;
    } else if (depth-- == 0) {
      return false;
    }
  }
  return true;
}

Error TooLarge(const std::string& what, std::uint64_t limit) {
  return Error(ErrorCode::kArchiveTooLarge, what + ", limit " + std::to_string(limit),
               {{"limit", std::to_string(limit)}});
}

}  // namespace

void ArchiveReader::Closer::operator()(struct archive* archive) const { archive_read_free(archive); }

ArchiveReader::ArchiveReader(FileDescriptor file, std::uint64_t archive_bytes, ArchiveLimits limits,
                             store::Store& store, ContentStore& contents,
                             std::function<bool()> is_stopped)
    : file_(std::move(file)),
      archive_bytes_(archive_bytes),
      limits_(limits),
      store_(store),
      contents_(contents),
      is_stopped_(std::move(is_stopped)) {}

ArchiveReader::~ArchiveReader() = default;

Error ArchiveReader::Invalid(const std::string& what) const {
  return Error(ErrorCode::kInvalidRequest, "the archive " + what);
}

Error ArchiveReader::ReadError() const {
  const char* const text = archive_error_string(archive_.get());
  if (archive_errno(archive_.get()) == ENOMEM) return Error(ErrorCode::kUnavailable, "out of memory");
  return Invalid("cannot be read as .tar.gz: " + std::string(text != nullptr ? text : "unknown reason"));
}

Result<void> ArchiveReader::Open() {
  unsigned char magic[2] = {};
  if (::pread(file_.get(), magic, sizeof(magic), 0) != 2 || magic[0] != 0x1F || magic[1] != 0x8B) {
    return Invalid("is not gzip");
  }
  archive_.reset(archive_read_new());
  if (!archive_) return Error(ErrorCode::kUnavailable, "out of memory");
  archive_read_support_filter_gzip(archive_.get());
  archive_read_support_format_tar(archive_.get());
  (void)archive_read_set_options(archive_.get(), "hdrcharset=UTF-8");
  if (archive_read_open_fd(archive_.get(), file_.get(), kReadBytes) != ARCHIVE_OK) return ReadError();
  return {};
}

Result<ArchiveReader::Portion> ArchiveReader::Next() {
  if (!archive_) DORMOUSE_TRY(Open());
  Portion portion;
  const std::uint64_t begin = bytes_;
  while (portion.contents.size() < kPortionContents && bytes_ - begin < kPortionBytes) {
    DORMOUSE_TRY(CheckNotStopped());
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(archive_.get(), &entry);
    if (status == ARCHIVE_EOF) {
      portion.is_last = true;
      return portion;
    }
    // A warning is about names in another character set, which are checked below.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return ReadError();
    if (archive_filter_count(archive_.get()) != 2 ||
        archive_filter_code(archive_.get(), 0) != ARCHIVE_FILTER_GZIP) {
      return Invalid("is not one gzip layer over tar");
    }
    DORMOUSE_TRY(Take(entry, portion));
  }
  return portion;
}

Result<void> ArchiveReader::Take(archive_entry* entry, Portion& portion) {
  if (++seen_entries_ > limits_.entries) {
    return TooLarge("the archive has more entries than a workspace may hold", limits_.entries);
  }
  const std::string written = Text(archive_entry_pathname_utf8(entry), archive_entry_pathname(entry));
  const std::string shown = "entry " + std::to_string(seen_entries_);
  const std::optional<std::string> path = NormalPath(written);
  if (!path) return Invalid(shown + " leaves the workspace by its path");
  store::TreeEntry made;
  made.path = *path;
  made.mode = static_cast<std::uint32_t>(archive_entry_perm(entry)) & 0777;
  made.mtime_ns =
      std::clamp<std::int64_t>(archive_entry_mtime(entry), 0, kLatestSecond) * 1'000'000'000;
  const auto type = archive_entry_filetype(entry);
  const std::string hard_link = Text(archive_entry_hardlink_utf8(entry), archive_entry_hardlink(entry));
  if (path->empty()) {
    if (type == AE_IFDIR && hard_link.empty()) return {};
    return Invalid(shown + " has no name");
  }
  if (!CheckEntryPath(*path).ok()) return Invalid(shown + " has a path that is too long or not UTF-8");
  if (!hard_link.empty()) {
    const auto target = NormalPath(hard_link);
    const auto found = target ? entries_.find(*target) : entries_.end();
    if (found == entries_.end() || found->second.kind != scheduler::FileKind::kFile) {
      return Invalid(shown + " is a hard link to no earlier file of it");
    }
    DORMOUSE_TRY(Count(found->second.size_bytes));
    made = found->second;
    made.path = *path;
  } else if (type == AE_IFDIR) {
    made.kind = scheduler::FileKind::kDirectory;
    made.mode |= 0700;
  } else if (type == AE_IFLNK) {
    made.kind = scheduler::FileKind::kSymlink;
    made.mode = 0777;
    made.target = Text(archive_entry_symlink_utf8(entry), archive_entry_symlink(entry));
    if (!CheckLinkTarget(made.target).ok() || !StaysInside(*path, made.target)) {
      return Invalid(shown + " is a link that leaves the workspace");
    }
  } else if (type == AE_IFREG) {
    const std::int64_t announced = archive_entry_size(entry);
    DORMOUSE_ASSIGN(StagedContent content, TakeFile(static_cast<std::uint64_t>(std::max<std::int64_t>(announced, 0))));
    made.digest = content.digest;
    made.size_bytes = content.size_bytes;
    portion.contents.push_back(std::move(content));
  } else {
    return Invalid(shown + " is neither file, directory nor link");
  }
  entries_.insert_or_assign(*path, std::move(made));
  return {};
}

Result<void> ArchiveReader::CheckNotStopped() const {
  if (is_stopped_ && is_stopped_()) return Error(ErrorCode::kUnavailable, "unpacking was stopped");
  return {};
}

Result<void> ArchiveReader::Count(std::uint64_t bytes) {
  DORMOUSE_TRY(CheckNotStopped());
  bytes_ += bytes;
  if (bytes_ > limits_.bytes) {
    return TooLarge("the archive unpacks to more bytes than a workspace may hold", limits_.bytes);
  }
  if (bytes_ > limits_.harmless_bytes && bytes_ / kMostRatio > archive_bytes_) {
    return TooLarge("the archive unpacks to more than " + std::to_string(kMostRatio) + " times its size",
                    archive_bytes_ * kMostRatio);
  }
  return {};
}

Result<StagedContent> ArchiveReader::TakeFile(std::uint64_t announced) {
  // Before anything is read: an announcement alone may be over the limits.
  if (announced > limits_.bytes) DORMOUSE_TRY(Count(announced));
  std::string bytes;
  FileDescriptor file;
  char piece[kReadBytes];
  while (true) {
    const ssize_t length = archive_read_data(archive_.get(), piece, sizeof(piece));
    if (length < 0) return ReadError();
    if (length == 0) break;
    DORMOUSE_TRY(Count(static_cast<std::uint64_t>(length)));
    bytes.append(piece, static_cast<std::size_t>(length));
    if (bytes.size() < kMemoryBytes) continue;
    if (!file.valid()) {
      DORMOUSE_ASSIGN(file, store_.files().CreateTemporary());
    }
    DORMOUSE_TRY(WriteAll(file.get(), bytes, "write a file of an archive"));
    bytes.clear();
  }
  if (!file.valid()) return contents_.Stage(bytes);
  DORMOUSE_TRY(WriteAll(file.get(), bytes, "write a file of an archive"));
  return contents_.StageFile(file.get(), limits_.bytes);
}

std::vector<store::TreeEntry> ArchiveReader::TakeEntries() {
  std::vector<store::TreeEntry> entries;
  entries.reserve(entries_.size());
  for (auto& [path, entry] : entries_) entries.push_back(std::move(entry));
  entries_.clear();
  return entries;
}

}  // namespace dormouse::workspace
