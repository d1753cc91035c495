// SPDX-License-Identifier: Apache-2.0
// Database and Query: the SQLite C API with owners, results and a cache of prepared statements.
//
// Threads: one Database is used by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/result.h"

namespace dormouse::store::sqlite {

class Database;

// One use of a prepared statement, reset at its end. Parameters are numbered from 1, columns from 0.
// Bound text and bytes are borrowed until then. An error in an earlier call is reported by Step.
class Query {
 public:
  Query(Database& database, std::string_view sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& Int(std::int64_t value);
  Query& Unsigned(std::uint64_t value) { return Int(static_cast<std::int64_t>(value)); }
  Query& Text(std::string_view value);
  Query& Blob(std::string_view value);
  Query& Null();
  Query& OptionalInt(const std::optional<std::int64_t>& value) { return value ? Int(*value) : Null(); }

  // True: a row is there.
  Result<bool> Step();
  // For statements without rows.
  Result<void> Run();

  std::int64_t IntAt(int column) const { return sqlite3_column_int64(statement_, column); }
  std::uint64_t UnsignedAt(int column) const { return static_cast<std::uint64_t>(IntAt(column)); }
  std::optional<std::int64_t> OptionalIntAt(int column) const {
    return IsNull(column) ? std::nullopt : std::optional(IntAt(column));
  }
  bool IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string TextAt(int column) const;

 private:
  void Check(int code);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int next_parameter_ = 1;
  int error_ = SQLITE_OK;
};

class Database {
 public:
  enum class Mode { kReadWrite, kReadOnly };
  static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One or more statements without parameters.
  Result<void> Execute(const char* sql);
  // Rows changed by the last statement.
  std::int64_t Changes() const { return sqlite3_changes64(handle_); }
  Error LastError() const;
  sqlite3* handle() const { return handle_; }

 private:
  friend class Query;
  explicit Database(sqlite3* handle) : handle_(handle) {}
  // `sql` must be a literal: the cache is keyed by its text.
  sqlite3_stmt* Prepared(std::string_view sql);

  sqlite3* handle_;
  std::unordered_map<std::string_view, sqlite3_stmt*> statements_;
};

}  // namespace dormouse::store::sqlite
