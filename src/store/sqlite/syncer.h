// SPDX-License-Identifier: Apache-2.0
// Syncer: the background thread that brings acknowledged work to the disk within a second, removes files whose last
// reference is gone for good, and checkpoints the write-ahead log so that commits never wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/file_descriptor.h"
#include "store/data_files.h"
#include "store/sqlite/applier.h"
#include "store/sqlite/database.h"

namespace dormouse::store::sqlite {

class Syncer {
 public:
  // Borrows `files`, which must outlive it. `database` is its own connection, `log` a descriptor of the log.
  Syncer(DataFiles& files, std::unique_ptr<Database> database, FileDescriptor log);
  ~Syncer();  // syncs what is left

  // After a commit: files that must reach the disk (empty when they are there already) and files to remove after it.
  void Committed(std::vector<PlacedFile> placed, std::vector<DroppedFile> dropped);
  // The log's length after the last commit.
  void SetLogPages(int pages) { log_pages_.store(pages, std::memory_order_relaxed); }

 private:
  void Loop();
  void SyncOnce(std::vector<PlacedFile> placed, std::vector<DroppedFile> dropped);

  DataFiles& files_;
  const std::unique_ptr<Database> database_;
  const FileDescriptor log_;
  std::atomic<int> log_pages_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  bool dirty_ = false;
  std::vector<PlacedFile> placed_;
  std::vector<DroppedFile> dropped_;

  std::thread thread_;
};

}  // namespace dormouse::store::sqlite
