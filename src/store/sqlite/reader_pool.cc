// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/reader_pool.h"

namespace dormouse::store::sqlite {
namespace {

constexpr std::size_t kConnections = 4;

}  // namespace

ReaderPool::Lease::~Lease() {
  if (database_) pool_->Return(std::move(database_));
}

Result<ReaderPool::Lease> ReaderPool::Borrow() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !idle_.empty() || out_ < kConnections; });
    ++out_;
    if (!idle_.empty()) {
      auto database = std::move(idle_.back());
      idle_.pop_back();
      return Lease(this, std::move(database));
    }
  }
  // Opened read-write, since a reader of a write-ahead log must write to its shared index.
  Result<std::unique_ptr<Database>> opened = Database::Open(path_, Database::Mode::kReadWrite);
  Result<void> ready = opened.ok() ? opened.value()->Execute("PRAGMA query_only = 1")
                                   : Result<void>(opened.error());
  if (!ready.ok()) {
    const std::lock_guard lock(mutex_);
    --out_;
    returned_.notify_one();
    return std::move(ready).error();
  }
  return Lease(this, std::move(opened).value());
}

void ReaderPool::Return(std::unique_ptr<Database> database) {
  // Wakes before it unlocks: the pool may go as soon as its last connection is back.
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(database));
  --out_;
  returned_.notify_one();
}

}  // namespace dormouse::store::sqlite
