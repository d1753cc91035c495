// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/database.h"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>

namespace dormouse::store::sqlite {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

ErrorCode CodeOf(sqlite3* handle, int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::kStorageFull;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_CONSTRAINT:
      return ErrorCode::kConflict;
    case SQLITE_IOERR: {
      const int system_error = sqlite3_system_errno(handle);
      return system_error == ENOSPC || system_error == EDQUOT ? ErrorCode::kStorageFull
                                                              : ErrorCode::kInternal;
    }
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

Query::Query(Database& database, std::string_view sql)
    : database_(database), statement_(database.Prepared(sql)) {
  if (statement_ == nullptr) error_ = sqlite3_errcode(database.handle());
}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Query::Check(int code) {
  if (error_ == SQLITE_OK && code != SQLITE_OK) error_ = code;
}

Query& Query::Int(std::int64_t value) {
  if (statement_ != nullptr) Check(sqlite3_bind_int64(statement_, next_parameter_++, value));
  return *this;
}

Query& Query::Text(std::string_view value) {
  // A null pointer would bind NULL.
  const char* data = value.data() == nullptr ? "" : value.data();
  if (statement_ != nullptr) {
    Check(sqlite3_bind_text64(statement_, next_parameter_++, data, value.size(), SQLITE_STATIC,
                              SQLITE_UTF8));
  }
  return *this;
}

Query& Query::Blob(std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();
  if (statement_ != nullptr) {
    Check(sqlite3_bind_blob64(statement_, next_parameter_++, data, value.size(), SQLITE_STATIC));
  }
  return *this;
}

Query& Query::Null() {
  if (statement_ != nullptr) Check(sqlite3_bind_null(statement_, next_parameter_++));
  return *this;
}

Result<bool> Query::Step() {
  if (error_ != SQLITE_OK) return database_.LastError();
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  // The statement is for the operator; the message may reach a client.
  spdlog::warn("sqlite: {} in: {}", sqlite3_errmsg(database_.handle()), sqlite3_sql(statement_));
  return database_.LastError();
}

Result<void> Query::Run() {
  DORMOUSE_ASSIGN([[maybe_unused]] const bool row, Step());
  return {};
}

std::string Query::TextAt(int column) const {
  // The pointer must be asked for before the length.
  const void* data = sqlite3_column_blob(statement_, column);
  const int length = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<std::size_t>(length));
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path, Mode mode) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE |
                    (mode == Mode::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                              : SQLITE_OPEN_READONLY);
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle));
  if (code != SQLITE_OK) return database->LastError();
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

Result<void> Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return LastError();
  return {};
}

Error Database::LastError() const {
  if (handle_ == nullptr) return Error(ErrorCode::kInternal, "the database: out of memory");
  const int code = sqlite3_extended_errcode(handle_);
  std::string message = "the database: " + std::string(sqlite3_errmsg(handle_));
  const int system_error = sqlite3_system_errno(handle_);
  // SQLite says only that it was the disk.
  if ((code & 0xff) == SQLITE_IOERR && system_error != 0) {
    message.append(": ").append(std::strerror(system_error));
  }
  return Error(CodeOf(handle_, code), std::move(message));
}

sqlite3_stmt* Database::Prepared(std::string_view sql) {
  const auto it = statements_.find(sql);
  if (it != statements_.end()) return it->second;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                         &statement, nullptr) != SQLITE_OK) {
    return nullptr;
  }
  statements_.emplace(sql, statement);
  return statement;
}

}  // namespace dormouse::store::sqlite
