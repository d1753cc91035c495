// SPDX-License-Identifier: Apache-2.0
#include "worker/snapshotter.h"

#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "common/write_all.h"

namespace dormouse::worker {

using snapshot::kPageBytes;
using snapshot::PageIndex;
using snapshot::RecordTag;

namespace {

// The bytes of a segment, inline or mapped.
Result<wasi::SharedBytes> BytesOf(const protocol::SegmentSource& source, std::vector<FileDescriptor>& files,
                                  std::size_t& next_file) {
  if (!source.bytes.empty()) return wasi::SharedBytes::FromString(source.bytes);
  if (next_file >= files.size()) return Error(ErrorCode::kCorrupt, "a segment has neither bytes nor a file");
  return wasi::SharedBytes::FromFile(files[next_file++], source.size_bytes);
}

}  // namespace

Result<void> Snapshotter::Restore(const std::vector<protocol::SegmentSource>& segments,
                                  std::vector<FileDescriptor> files) {
  if (segments.empty()) return {};
  std::vector<wasi::SharedBytes> bytes;
  std::size_t next_file = 0;
  for (const protocol::SegmentSource& source : segments) {
    DORMOUSE_ASSIGN(wasi::SharedBytes piece, BytesOf(source, files, next_file));
    bytes.push_back(std::move(piece));
  }
  engine::LinearMemory& memory = instance_.memory();
  snapshot::SegmentReader reader(memory.base(), [&memory, this](std::uint32_t pages) -> Result<void> {
    if (pages < memory.pages() || pages > instance_.module().abi().max_pages) {
      return Error(ErrorCode::kCorrupt, "a snapshot segment has a memory size the engine cannot have");
    }
    if (!memory.Grow(pages - memory.pages(), pages)) {
      return Error(ErrorCode::kUnavailable, "no memory for a context of " + std::to_string(pages) + " pages");
    }
    return {};
  });
  for (std::size_t i = segments.size(); i-- > 0;) {
    DORMOUSE_TRY(reader.Add(bytes[i].view(), segments[i].checksum));
    if (reader.content().base) break;
  }
  DORMOUSE_TRY(instance_.module().RestoreGlobals(reader.content().globals));
  stored_.assign(memory.size_bytes() / kPageBytes, false);
  const std::vector<PageIndex> pages = reader.StoredPages();
  for (const PageIndex page : pages) stored_[page] = true;
  live_pages_ = pages.size();
  const auto& records = reader.content().records;
  if (const auto found = records.find(RecordTag::kDescriptors); found != records.end()) {
    descriptors_to_restore_ = found->second;
  }
  if (const auto found = records.find(RecordTag::kPrivateFiles); found != records.end()) {
    private_files_to_restore_ = found->second;
    has_private_files_ = true;
  }
  // What was just written is in the chain already.
  return dirty_->Collect(memory.size_bytes()).ok()
             ? Result<void>()
             : Error(ErrorCode::kInternal, "dirty pages cannot be found");
}

Result<void> Snapshotter::RestoreHostState() {
  if (private_files_to_restore_) {
    DORMOUSE_TRY(instance_.wasi().state().RestorePrivateFiles(
        wasi::SharedBytes::FromString(std::move(*private_files_to_restore_))));
    private_files_to_restore_.reset();
  }
  if (descriptors_to_restore_) {
    DORMOUSE_TRY(instance_.wasi().state().RestoreDescriptors(*descriptors_to_restore_));
    descriptors_to_restore_.reset();
  }
  return {};
}

void Snapshotter::MakeResident(const std::vector<EngineManifest::PageRun>& pages) {
  engine::LinearMemory& memory = instance_.memory();
  const std::uint64_t limit = memory.size_bytes() / kPageBytes;
  for (const EngineManifest::PageRun& run : pages) {
    if (run.first >= limit || run.count > limit - run.first) continue;
    // Best effort: a kernel without it (before 5.14) faults the pages in one by one.
    ::madvise(memory.base() + std::uint64_t{run.first} * kPageBytes, run.count * kPageBytes,
              MADV_POPULATE_WRITE);
  }
  [[maybe_unused]] const auto clean = dirty_->Collect(memory.size_bytes());
}

Result<std::vector<PageIndex>> Snapshotter::PagesToStore(bool base) {
  engine::LinearMemory& memory = instance_.memory();
  DORMOUSE_ASSIGN(const std::vector<PageIndex> dirty, dirty_->Collect(memory.size_bytes()));
  std::vector<PageIndex> candidates = dirty;
  if (base) {
    DORMOUSE_ASSIGN(candidates, dirty_->CollectPrivate(memory.size_bytes()));
    stored_.clear();
    live_pages_ = 0;
  }
  stored_.resize(memory.size_bytes() / kPageBytes, false);
  std::vector<PageIndex> pages;
  for (const PageIndex page : candidates) {
    const std::byte* now = memory.base() + std::uint64_t{page} * kPageBytes;
    // A page that is as at boot again must still cover what older segments hold of it.
    if (!stored_[page] && std::memcmp(now, boot_.Page(page), kPageBytes) == 0) continue;
    if (!stored_[page]) ++live_pages_;
    stored_[page] = true;
    pages.push_back(page);
  }
  return pages;
}

Result<snapshot::SegmentContent> Snapshotter::Content(bool base) {
  snapshot::SegmentContent content;
  content.base = base;
  content.memory_pages = instance_.memory().pages();
  content.globals = instance_.module().SaveGlobals();
  wasi::HostState& state = instance_.wasi().state();
  content.records[RecordTag::kDescriptors] = state.SaveDescriptors();
  wrote_private_files_ = state.private_files_dirty() || (base && has_private_files_);
  if (wrote_private_files_) {
    DORMOUSE_ASSIGN(content.records[RecordTag::kPrivateFiles], state.SavePrivateFiles());
    has_private_files_ = true;
  }
  return content;
}

Result<void> Snapshotter::TryTake(bool compact, RemoteFiles& files, protocol::Done& done) {
  const bool base = compact || force_base_ || stored_.empty();
  DORMOUSE_ASSIGN(const std::vector<PageIndex> pages, PagesToStore(base));
  DORMOUSE_ASSIGN(const snapshot::SegmentContent content, Content(base));
  std::string inline_bytes;
  std::optional<RemoteFiles::NewFile> file;
  const auto sink = [&](std::string_view bytes) -> Result<void> {
    if (!file && inline_bytes.size() + bytes.size() > protocol::kInlineSegmentBytes) {
      DORMOUSE_ASSIGN(file, files.Create());
      DORMOUSE_TRY(WriteAll(file->descriptor.get(), inline_bytes, "write"));
      inline_bytes.clear();
    }
    if (file) return WriteAll(file->descriptor.get(), bytes, "write");
    inline_bytes.append(bytes);
    return {};
  };
  DORMOUSE_ASSIGN(const snapshot::WrittenSegment written,
                  snapshot::WriteSegment(content, pages, instance_.memory().base(), boot_, sink));
  done.has_snapshot = 1;
  done.snapshot_base = base ? 1 : 0;
  done.snapshot_in_file = file ? 1 : 0;
  done.snapshot_file = file ? file->number : 0;
  done.snapshot_bytes = std::move(inline_bytes);
  done.snapshot_size = written.size_bytes;
  done.snapshot_checksum = written.checksum;
  done.snapshot_pages = pages.size();
  done.live_pages = live_pages_;
  force_base_ = false;
  return {};
}

void Snapshotter::Take(bool compact, RemoteFiles& files, protocol::Done& done) {
  const auto start = std::chrono::steady_clock::now();
  const Result<void> taken = TryTake(compact, files, done);
  if (!taken.ok()) {
    done.has_snapshot = 0;
    done.snapshot_error = taken.error().message;
    // The pages found dirty are no longer marked so; only a whole snapshot is sure to hold them.
    force_base_ = true;
  }
  done.snapshot_us = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
          .count());
}

void Snapshotter::MarkCommitted() {
  if (wrote_private_files_) instance_.wasi().state().MarkPrivateFilesSaved();
  wrote_private_files_ = false;
}

}  // namespace dormouse::worker
