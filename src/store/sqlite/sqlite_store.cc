// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "store/sqlite/schema.h"

namespace dormouse::store {

Result<std::unique_ptr<Store>> OpenSqliteStore(StoreOptions options) {
  return sqlite::SqliteStore::Open(std::move(options));
}

}  // namespace dormouse::store

namespace dormouse::store::sqlite {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kCleanKey = "closed_cleanly";

// The writer's connection. Checkpoints are the syncer's work.
Result<std::unique_ptr<Database>> OpenConnection(const std::filesystem::path& path,
                                                 StoreOptions::Sync sync) {
  DORMOUSE_ASSIGN(auto database, Database::Open(path, Database::Mode::kReadWrite));
  DORMOUSE_TRY(database->Execute("PRAGMA journal_mode = WAL"));
  DORMOUSE_TRY(database->Execute(sync == StoreOptions::Sync::kPower ? "PRAGMA synchronous = FULL"
                                                                    : "PRAGMA synchronous = NORMAL"));
  DORMOUSE_TRY(database->Execute("PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
                                 "PRAGMA cache_size = -8192"));
  return database;
}

// Whether the last server closed the store. Forgets it, so that a crash of this one shows.
Result<bool> TakeCleanMark(Database& database) {
  Query query(database, "DELETE FROM meta WHERE key = ? RETURNING value");
  DORMOUSE_ASSIGN(const bool found, query.Text(kCleanKey).Step());
  return found;
}

Result<void> MarkUncleanClose(Database& database) {
  DORMOUSE_ASSIGN(const bool clean, TakeCleanMark(database));
  if (clean) return {};
  return database.Execute("UPDATE contexts SET reseed = 1 WHERE reseed = 0");
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<DataFiles> files, std::filesystem::path database)
    : files_(std::move(files)), path_(std::move(database)), readers_(path_) {}

Result<std::unique_ptr<Store>> SqliteStore::Open(StoreOptions options) {
  DORMOUSE_ASSIGN(auto files, DataFiles::Open(options.directory));
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(files), options.directory / "dormouse.db"));
  DORMOUSE_TRY(store->Prepare(std::move(options)));
  return std::unique_ptr<Store>(std::move(store));
}

Result<void> SqliteStore::Prepare(StoreOptions options) {
  DORMOUSE_ASSIGN(auto database, OpenConnection(path_, options.sync));
  DORMOUSE_TRY(Migrate(*database));
  DORMOUSE_TRY(MarkUncleanClose(*database));
  {
    Query query(*database, "SELECT coalesce(max(id), 0) FROM segments");
    DORMOUSE_ASSIGN([[maybe_unused]] const bool row, query.Step());
    next_segment_id_ = query.IntAt(0) + 1;
  }
  DORMOUSE_ASSIGN(auto checkpoints, OpenConnection(path_, options.sync));
  // Exists by now, and stays the same file for as long as a connection is open.
  const std::string log_path = path_.string() + "-wal";
  FileDescriptor log(::open(log_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!log.valid()) return SystemError("open " + log_path, errno);
  syncer_ = std::make_unique<Syncer>(*files_, std::move(checkpoints), std::move(log));
  writer_ = std::make_unique<Writer>(std::move(database), *files_, pins_, *syncer_, options.sync,
                                     std::move(options.step_hook));
  return {};
}

SqliteStore::~SqliteStore() {
  if (!writer_) return;
  writer_.reset();
  syncer_.reset();
  const auto database = OpenConnection(path_, StoreOptions::Sync::kPower);
  if (!database.ok()) return;
  Query query(*database.value(), "INSERT OR REPLACE INTO meta(key, value) VALUES(?, '1')");
  const Result<void> marked = query.Text(kCleanKey).Run();
  if (!marked.ok()) spdlog::warn("cannot note the clean close: {}", marked.error().message);
}

asio::awaitable<Result<std::size_t>> SqliteStore::Submit(Writer::Job job) {
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(Result<std::size_t>)>(
      [this](auto handler, Writer::Job submitted) {
        // std::function wants a copyable callable; the handler is used once.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        submitted.done = [shared](Result<std::size_t> result) {
          const auto executor = asio::get_associated_executor(*shared);
          asio::post(executor, [shared, result = std::move(result)]() mutable {
            std::move (*shared)(std::move(result));
          });
        };
        writer_->Submit(std::move(submitted));
      },
      asio::use_awaitable, std::move(job));
}

asio::awaitable<Result<void>> SqliteStore::Commit(Transaction transaction) {
  Writer::Job job;
  job.transaction = std::move(transaction);
  Result<std::size_t> done = co_await Submit(std::move(job));
  if (!done.ok()) co_return std::move(done).error();
  co_return Result<void>();
}

asio::awaitable<Result<std::size_t>> SqliteStore::SweepContents(std::size_t limit) {
  Writer::Job job;
  job.sweep_limit = limit;
  return Submit(std::move(job));
}

Result<std::vector<LoadedSegment>> SqliteStore::ReadSegments(const std::vector<SegmentRef>& refs) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  std::vector<LoadedSegment> segments;
  for (const SegmentRef& ref : refs) {
    Query query(*database,
                "SELECT s.size_bytes, s.checksum, s.file, b.bytes FROM segments s "
                "LEFT JOIN segment_bytes b ON b.id = s.id WHERE s.id = ?");
    DORMOUSE_ASSIGN(const bool found, query.Int(ref.id).Step());
    if (!found) {
      return Error(ErrorCode::kCorrupt, "segment " + std::to_string(ref.id) + " is missing");
    }
    LoadedSegment segment;
    segment.size_bytes = query.UnsignedAt(0);
    segment.checksum = query.UnsignedAt(1);
    const std::string file = query.TextAt(2);
    if (file.empty()) {
      segment.bytes = query.TextAt(3);
      if (segment.bytes.size() != segment.size_bytes) {
        return Error(ErrorCode::kCorrupt, "segment " + std::to_string(ref.id) + " is cut short");
      }
    } else {
      DORMOUSE_ASSIGN(segment.file, files_->OpenForRead(DataFileKind::kSegment, file));
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

Result<FileDescriptor> SqliteStore::OpenContent(const Sha256Digest& digest) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT c.file, b.bytes FROM contents c LEFT JOIN content_bytes b ON b.id = c.id "
              "WHERE c.digest = ?");
  DORMOUSE_ASSIGN(const bool found, query.Blob(digest.View()).Step());
  if (!found) return Error(ErrorCode::kNotFound, "content " + digest.Hex() + " is not stored");
  const std::string file = query.TextAt(0);
  if (!file.empty()) return files_->OpenForRead(DataFileKind::kContent, file);
  const std::string bytes = query.TextAt(1);
  FileDescriptor memory(::memfd_create("content", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return SystemError("memfd_create", errno);
  if (::pwrite(memory.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return SystemError("write a content to memory", errno);
  }
  // Whoever gets the descriptor shares this memory: nobody may change it.
  if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return SystemError("seal a content", errno);
  }
  return memory;
}

}  // namespace dormouse::store::sqlite
