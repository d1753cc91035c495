// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/syncer.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iterator>

namespace dormouse::store::sqlite {
namespace {

// Half of the promised second, so that the sync itself has the other half.
constexpr std::chrono::milliseconds kInterval{500};
constexpr int kCheckpointPages = 1'000;
// The log has grown although passive checkpoints ran: readers hold it. Wait for them this time.
constexpr int kForcedCheckpointPages = 16'000;

}  // namespace

Syncer::Syncer(DataFiles& files, std::unique_ptr<Database> database, FileDescriptor log)
    : files_(files), database_(std::move(database)), log_(std::move(log)) {
  thread_ = std::thread([this] { Loop(); });
}

Syncer::~Syncer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Syncer::Committed(std::vector<PlacedFile> placed, std::vector<DroppedFile> dropped) {
  const std::lock_guard lock(mutex_);
  std::move(placed.begin(), placed.end(), std::back_inserter(placed_));
  std::move(dropped.begin(), dropped.end(), std::back_inserter(dropped_));
  if (!dirty_) wake_.notify_one();
  dirty_ = true;
}

void Syncer::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || dirty_; });
    // Gather what comes within the interval, then sync it at once.
    wake_.wait_for(lock, kInterval, [this] { return stop_; });
    const bool stop = stop_;
    if (dirty_) {
      dirty_ = false;
      std::vector<PlacedFile> placed = std::exchange(placed_, {});
      std::vector<DroppedFile> dropped = std::exchange(dropped_, {});
      lock.unlock();
      SyncOnce(std::move(placed), std::move(dropped));
      lock.lock();
    }
    if (stop && !dirty_) return;
  }
}

void Syncer::SyncOnce(std::vector<PlacedFile> placed, std::vector<DroppedFile> dropped) {
  for (const PlacedFile& file : placed) {
    const Result<void> synced = files_.Sync(file);
    if (!synced.ok()) spdlog::error("sync of {} failed: {}", file.name(), synced.error().message);
  }
  // The log after the files: a row on the disk then finds its file there.
  if (log_.valid() && ::fdatasync(log_.get()) != 0) {
    spdlog::error("sync of the database log failed: errno {}", errno);
  }
  for (const auto& [kind, name] : dropped) files_.Remove(kind, name);
  const int pages = log_pages_.load(std::memory_order_relaxed);
  if (pages < kCheckpointPages) return;
  const int mode = pages < kForcedCheckpointPages ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
  const int code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, mode, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
    spdlog::error("checkpoint failed: {}", database_->LastError().message);
  }
}

}  // namespace dormouse::store::sqlite
