// SPDX-License-Identifier: Apache-2.0
// ReaderPool: read-only connections, made on demand, lent to one thread at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "common/result.h"
#include "store/sqlite/database.h"

namespace dormouse::store::sqlite {

class ReaderPool {
 public:
  // A borrowed connection; goes back on destruction.
  class Lease {
   public:
    Lease(ReaderPool* pool, std::unique_ptr<Database> database)
        : pool_(pool), database_(std::move(database)) {}
    ~Lease();
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    Database& operator*() const { return *database_; }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Database> database_;
  };

  explicit ReaderPool(std::filesystem::path path) : path_(std::move(path)) {}

  // Waits while all connections are out.
  Result<Lease> Borrow();

 private:
  void Return(std::unique_ptr<Database> database);

  const std::filesystem::path path_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Database>> idle_;
  std::size_t out_ = 0;
};

}  // namespace dormouse::store::sqlite
