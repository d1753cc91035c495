// SPDX-License-Identifier: Apache-2.0
// Snapshotter: takes the context's state after a run and brings it back when the worker starts.
//
// Threads: the guest thread, while no guest code runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/engine_manifest.h"
#include "protocol/messages.h"
#include "snapshot/boot_image.h"
#include "snapshot/dirty_pages.h"
#include "snapshot/segment.h"
#include "worker/instance.h"
#include "worker/remote_files.h"

namespace dormouse::worker {

class Snapshotter {
 public:
  // Borrows all. `dirty` must have watched the instance's memory since it was mapped.
  Snapshotter(Instance& instance, const snapshot::BootImage& boot, std::unique_ptr<snapshot::DirtyPages> dirty)
      : instance_(instance), boot_(boot), dirty_(std::move(dirty)) {}

  // Restores memory and globals from `segments` (oldest first; files carry the bytes that are not inline). The host's
  // state is kept until RestoreHostState, which wants the workspace in place first.
  Result<void> Restore(const std::vector<protocol::SegmentSource>& segments,
                       std::vector<FileDescriptor> files);
  Result<void> RestoreHostState();
  // What a first run touches anyway is made private now, and counts as clean.
  void MakeResident(const std::vector<EngineManifest::PageRun>& pages);

  // Writes a segment and fills `done`. A failure is reported in done.snapshot_error: the run itself ended well.
  void Take(bool compact, RemoteFiles& files, protocol::Done& done);
  // What became of the last segment.
  void MarkCommitted();
  void MarkLost() { force_base_ = true; }

  std::uint64_t live_pages() const { return live_pages_; }

 private:
  Result<void> TryTake(bool compact, RemoteFiles& files, protocol::Done& done);
  Result<std::vector<snapshot::PageIndex>> PagesToStore(bool base);
  Result<snapshot::SegmentContent> Content(bool base);

  Instance& instance_;
  const snapshot::BootImage& boot_;
  std::unique_ptr<snapshot::DirtyPages> dirty_;
  std::vector<bool> stored_;  // pages that some segment of the chain holds
  std::uint64_t live_pages_ = 0;
  std::optional<std::string> descriptors_to_restore_;
  std::optional<std::string> private_files_to_restore_;
  bool has_private_files_ = false;  // some segment of the chain has that record
  bool wrote_private_files_ = false;
  bool force_base_ = false;  // a segment was lost: what it held is no longer known to be dirty
};

}  // namespace dormouse::worker
