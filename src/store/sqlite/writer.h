// SPDX-License-Identifier: Apache-2.0
// Writer: the one thread that writes the database. Transactions that wait together are committed together.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "common/result.h"
#include "store/sqlite/database.h"
#include "store/sqlite/syncer.h"
#include "store/store.h"

namespace dormouse::store::sqlite {

class Writer {
 public:
  struct Job {
    Transaction transaction;
    std::optional<std::size_t> sweep_limit;  // instead of a transaction
    // Called on the writer's thread with the number of swept contents.
    std::function<void(Result<std::size_t>)> done;
  };

  // Borrows `files`, `pins` and `syncer`, which must outlive it.
  Writer(std::unique_ptr<Database> database, DataFiles& files, ContentPins& pins, Syncer& syncer,
         StoreOptions::Sync sync, std::function<void(std::string_view)> step_hook);
  ~Writer();  // finishes queued jobs

  void Submit(Job job);

 private:
  struct Applied;
  void Loop();
  void CommitBatch(std::vector<Job> jobs);
  // Applies one job inside the batch's transaction.
  void ApplyJob(Job& job, Applied& applied);
  void Step(std::string_view step) const {
    if (step_hook_) step_hook_(step);
  }

  const std::unique_ptr<Database> database_;
  DataFiles& files_;
  ContentPins& pins_;
  Syncer& syncer_;
  const StoreOptions::Sync sync_;
  const std::function<void(std::string_view)> step_hook_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::vector<Job> queue_;

  std::thread thread_;
};

}  // namespace dormouse::store::sqlite
