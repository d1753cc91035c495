// SPDX-License-Identifier: Apache-2.0
// What the service knows in memory of sandboxes and contexts. Loaded on demand, dropped when unused.
//
// Lock order: ServiceImpl's map, SandboxState::mutex, ContextState::mutex; none is held across a suspension. The FIFO
// locks are taken in the order contexts_lock, queue, tree_lock.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/worker.h"
#include "service/async.h"
#include "service/types.h"
#include "store/rows.h"
#include "workspace/workspace.h"

namespace dormouse::service {

// A run that has its context's turn.
struct ActiveRun {
  std::shared_ptr<scheduler::Worker> worker;  // nothing until it is resident
  bool stop_requested = false;                // by a client, a deletion or the end of the server
};

struct ContextState {
  explicit ContextState(store::ContextRow row_in)
      : id(row_in.id),
        binding(row_in.binding),
        language(row_in.language),
        name(row_in.name),
        is_default(row_in.is_default),
        row(std::move(row_in)) {}

  const std::string id;
  const std::string binding;
  const std::string language;
  const std::string name;
  const bool is_default;
  FifoMutex queue;  // whose turn it is to run, evict, roll back or delete

  // Touched by the holder of `queue` only.
  std::unique_ptr<workspace::Mirror> mirror;
  // What the worker's memory is made of, as the store has it.
  std::vector<store::SegmentRef> resident_segments;
  bool needs_base = false;  // the last run was not saved: the next snapshot must hold everything
  bool newborn = false;     // started from the boot image, and nothing ran yet

  // Guarded by `mutex`. The first four are changed by the holder of `queue` only, who may read them without it.
  mutable std::mutex mutex;
  std::string resident_build;  // of the worker there is or was last
  store::ContextRow row;
  std::vector<store::GenerationRow> generations;  // ascending
  std::shared_ptr<scheduler::Worker> worker;
  std::shared_ptr<ActiveRun> active;
  bool deleted = false;  // being deleted, or gone

  bool IsDeleted() const {
    const std::lock_guard lock(mutex);
    return deleted;
  }
  // Requires: `mutex` is held, or `queue`. The worker knows more than the newest generation.
  bool HasUnsavedMemory() const { return worker && !row.stale_reason.empty(); }
};

struct SandboxState {
  explicit SandboxState(store::SandboxRow row_in)
      : id(row_in.id),
        project_id(row_in.project_id),
        template_slug(row_in.template_slug),
        row(std::move(row_in)) {}

  const std::string id;
  const std::string project_id;
  const std::string template_slug;
  FifoMutex contexts_lock;  // whose turn it is to add or remove contexts, or to destroy
  FifoMutex tree_lock;      // whose turn it is to change the tree
  FifoMutex load_lock;      // whose turn it is to load the tree
  std::atomic<int> runs{0}; // queued or going on

  // Guarded by `mutex`.
  mutable std::mutex mutex;
  store::SandboxRow row;
  std::map<std::string, std::shared_ptr<ContextState>> contexts;  // by id
  std::shared_ptr<workspace::Workspace> workspace;                // nothing until loaded
  bool destroying = false;
  std::uint64_t artifact_bytes = 0;  // charged for its artifacts, stored or about to be
  std::chrono::steady_clock::time_point touched;
};

}  // namespace dormouse::service
