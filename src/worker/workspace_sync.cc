// SPDX-License-Identifier: Apache-2.0
#include "worker/workspace_sync.h"

#include <unistd.h>

#include <cerrno>

#include "common/write_all.h"

namespace dormouse::worker {
namespace {

// protocol::Entry::kind and protocol::Change::content; see scheduler/worker.h.
enum Kind : std::uint8_t { kFile = 0, kDirectory = 1, kSymlink = 2 };
enum Content : std::uint8_t { kNone = 0, kUnchanged = 1, kBytes = 2, kInFile = 3 };

std::uint8_t KindOf(wasi::FileType type) {
  if (type == wasi::FileType::kDirectory) return kDirectory;
  return type == wasi::FileType::kSymlink ? kSymlink : kFile;
}

wasi::FileType TypeOf(std::uint8_t kind) {
  if (kind == kDirectory) return wasi::FileType::kDirectory;
  return kind == kSymlink ? wasi::FileType::kSymlink : wasi::FileType::kRegular;
}

std::string_view ViewOf(const wasi::FileContent::Extent& extent) {
  return {reinterpret_cast<const char*>(extent.data), extent.length};
}

std::string Gathered(const wasi::FileContent& content) {
  std::string bytes(content.size(), '\0');
  for (const wasi::FileContent::Extent& extent : content.Extents()) {
    if (extent.kind == wasi::FileContent::Extent::Kind::kBytes) {
      bytes.replace(extent.offset, extent.length, ViewOf(extent));
    }
  }
  return bytes;
}

// Writes data where there is data and leaves holes where there are holes.
Result<void> WriteSparse(int fd, const wasi::FileContent& content) {
  for (const wasi::FileContent::Extent& extent : content.Extents()) {
    if (extent.kind != wasi::FileContent::Extent::Kind::kBytes) continue;
    if (::lseek(fd, static_cast<off_t>(extent.offset), SEEK_SET) < 0) return SystemError("lseek", errno);
    DORMOUSE_TRY(WriteAll(fd, ViewOf(extent), "write"));
  }
  if (::ftruncate(fd, static_cast<off_t>(content.size())) != 0) return SystemError("ftruncate", errno);
  return {};
}

}  // namespace

void WorkspaceSync::Gather(protocol::Manifest part) {
  if (part.first != 0) {
    manifest_ = {};
    manifest_.kind = part.full != 0 ? wasi::WorkspaceManifest::Kind::kFull : wasi::WorkspaceManifest::Kind::kDelta;
  }
  for (protocol::Entry& entry : part.upserts) {
    manifest_.upserts.push_back({.path = std::move(entry.path),
                                 .type = TypeOf(entry.kind),
                                 .digest = entry.digest,
                                 .size = entry.size_bytes,
                                 .mode = entry.mode,
                                 .mtime_ns = entry.mtime_ns,
                                 .target = std::move(entry.target)});
  }
  for (std::string& path : part.deletions) manifest_.deletions.push_back(std::move(path));
}

Result<void> WorkspaceSync::Apply() {
  const wasi::WorkspaceManifest manifest = std::move(manifest_);
  manifest_ = {};
  return mirror_.ApplyManifest(manifest);
}

Result<protocol::Change> WorkspaceSync::Describe(const wasi::WorkspaceChange& change) {
  protocol::Change wire;
  wire.entry = {.path = change.entry.path,
                .kind = KindOf(change.entry.type),
                .digest = change.entry.digest,
                .size_bytes = change.entry.size,
                .mode = change.entry.mode,
                .mtime_ns = change.entry.mtime_ns,
                .target = change.entry.target};
  if (change.content == wasi::WorkspaceChange::Content::kKnown) wire.content = kUnchanged;
  if (change.content != wasi::WorkspaceChange::Content::kChanged) return wire;

  wasi::FileContent& content = *change.file->content;
  if (content.EnsureLoaded(&files_) != wasi::Errno::kSuccess) {
    return Error(ErrorCode::kInternal, "the old content of " + change.entry.path + " cannot be had");
  }
  wire.entry.size_bytes = content.size();
  if (content.size() <= protocol::kInlineContentBytes) {
    wire.content = kBytes;
    wire.bytes = Gathered(content);
    reported_.push_back(Sha256(wire.bytes));
    return wire;
  }
  DORMOUSE_ASSIGN(const RemoteFiles::NewFile file, files_.Create());
  DORMOUSE_TRY(WriteSparse(file.descriptor.get(), content));
  DORMOUSE_ASSIGN(const Sha256Digest digest, Sha256OfFile(file.descriptor.get()));
  wire.content = kInFile;
  wire.file = file.number;
  reported_.push_back(digest);
  return wire;
}

Result<void> WorkspaceSync::Report() {
  reported_.clear();
  has_reported_ = false;
  if (!mirror_.MayHaveChanges()) return {};
  const wasi::WorkspaceChanges changes = mirror_.CollectChanges();
  if (changes.empty()) return {};
  protocol::Changes part;
  std::size_t bytes = 0;
  const auto flush = [&](std::size_t limit) {
    if (bytes < limit || (part.changes.empty() && part.deletions.empty())) return;
    link_.Send(protocol::MessageType::kChanges, part.Encode());
    part = {};
    bytes = 0;
  };
  for (const std::string& path : changes.deletions) {
    part.deletions.push_back(path);
    bytes += path.size() + 8;
    flush(protocol::kPartBytes);
  }
  for (const wasi::WorkspaceChange& change : changes.upserts) {
    DORMOUSE_ASSIGN(protocol::Change wire, Describe(change));
    bytes += wire.bytes.size() + wire.entry.path.size() + 128;
    part.changes.push_back(std::move(wire));
    flush(protocol::kPartBytes);
  }
  flush(0);
  has_reported_ = true;
  return {};
}

Result<void> WorkspaceSync::MarkCommitted() {
  if (!has_reported_) return {};
  has_reported_ = false;
  return mirror_.MarkCommitted(reported_);
}

}  // namespace dormouse::worker
