// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/writer.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

namespace dormouse::store::sqlite {
namespace {

// Bounds how long the first transaction of a batch waits for the last.
constexpr std::size_t kBatchJobs = 128;

}  // namespace

struct Writer::Applied {
  std::optional<Error> error;
  std::vector<DroppedFile> dropped;
  std::vector<Sha256Digest> claimed;
};

Writer::Writer(std::unique_ptr<Database> database, DataFiles& files, ContentPins& pins,
               Syncer& syncer, StoreOptions::Sync sync,
               std::function<void(std::string_view)> step_hook)
    : database_(std::move(database)),
      files_(files),
      pins_(pins),
      syncer_(syncer),
      sync_(sync),
      step_hook_(std::move(step_hook)) {
  sqlite3_wal_hook(
      database_->handle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Writer*>(self)->syncer_.SetLogPages(pages);
        return SQLITE_OK;
      },
      this);
  thread_ = std::thread([this] { Loop(); });
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Writer::Submit(Job job) {
  // Wakes before it unlocks: once the job is done the writer may be destroyed, also before this returns.
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(job));
  wake_.notify_one();
}

void Writer::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::vector<Job> jobs;
    const std::size_t count = std::min(queue_.size(), kBatchJobs);
    std::move(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count),
              std::back_inserter(jobs));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    lock.unlock();
    CommitBatch(std::move(jobs));
    lock.lock();
  }
}

void Writer::ApplyJob(Job& job, Applied& applied) {
  if (applied.error) return;
  Result<void> result = database_->Execute("SAVEPOINT job");
  if (result.ok()) {
    Applier applier(*database_);
    result = job.sweep_limit ? applier.SweepContents(*job.sweep_limit, pins_, applied.claimed)
                             : applier.Apply(job.transaction);
    applied.dropped = std::move(applier.dropped_files());
  }
  if (!result.ok()) {
    applied.error = result.error();
    applied.dropped.clear();
    // A full disk may have ended the whole transaction already; CommitBatch sees that.
    if (sqlite3_get_autocommit(database_->handle()) == 0) {
      (void)database_->Execute("ROLLBACK TO job");
    }
  }
  if (sqlite3_get_autocommit(database_->handle()) == 0) (void)database_->Execute("RELEASE job");
}

void Writer::CommitBatch(std::vector<Job> jobs) {
  Step("begin");
  std::vector<Applied> applied(jobs.size());
  if (sync_ == StoreOptions::Sync::kPower) {
    // Start all writes, then wait for each: the disk sees them together.
    for (const Job& job : jobs) {
      for (const PlacedFile& file : job.transaction.files) {
        (void)::sync_file_range(file.descriptor(), 0, 0, SYNC_FILE_RANGE_WRITE);
      }
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (const PlacedFile& file : jobs[i].transaction.files) {
        const Result<void> synced = files_.Sync(file);
        if (!synced.ok()) applied[i].error = synced.error();
      }
    }
  }
  Step("synced");
  Result<void> whole = database_->Execute("BEGIN IMMEDIATE");
  for (std::size_t i = 0; whole.ok() && i < jobs.size(); ++i) {
    ApplyJob(jobs[i], applied[i]);
    if (sqlite3_get_autocommit(database_->handle()) != 0) {
      whole = applied[i].error ? *applied[i].error
                               : Error(ErrorCode::kInternal, "the transaction ended early");
    }
  }
  Step("applied");
  if (whole.ok()) whole = database_->Execute("COMMIT");
  if (!whole.ok() && sqlite3_get_autocommit(database_->handle()) == 0) {
    (void)database_->Execute("ROLLBACK");
  }
  Step("committed");

  std::vector<PlacedFile> placed;
  std::vector<DroppedFile> dropped;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!whole.ok() && !applied[i].error) applied[i].error = whole.error();
    pins_.Forget(applied[i].claimed);
    if (applied[i].error) continue;
    for (PlacedFile& file : jobs[i].transaction.files) {
      file.Keep();
      if (sync_ == StoreOptions::Sync::kProcess) placed.push_back(std::move(file));
    }
    std::move(applied[i].dropped.begin(), applied[i].dropped.end(), std::back_inserter(dropped));
  }
  syncer_.Committed(std::move(placed), std::move(dropped));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    // Pins and files of a failed transaction go before its caller hears of it.
    jobs[i].transaction = Transaction();
    if (applied[i].error) {
      jobs[i].done(std::move(*applied[i].error));
    } else {
      jobs[i].done(applied[i].claimed.size());
    }
  }
  Step("acknowledged");
}

}  // namespace dormouse::store::sqlite
