// SPDX-License-Identifier: Apache-2.0
// The queries of SqliteStore that concern artifacts.
#include "store/sqlite/collect.h"
#include "store/sqlite/sqlite_store.h"

namespace dormouse::store::sqlite {
namespace {

constexpr std::string_view kArtifactById =
    "SELECT id, org_id, project_id, sandbox_id, run_id, name, content_type, active_content, digest, "
    "size_bytes, source_path, created_ms, expires_ms, deleted_ms FROM artifacts WHERE id = ?";

constexpr std::string_view kArtifactPage =
    "SELECT id, org_id, project_id, sandbox_id, run_id, name, content_type, active_content, digest, "
    "size_bytes, source_path, created_ms, expires_ms, deleted_ms FROM artifacts "
    "WHERE sandbox_id = ? AND (created_ms, id) < (?, ?) AND (? OR (deleted_ms IS NULL AND "
    "(expires_ms IS NULL OR expires_ms > ?))) ORDER BY created_ms DESC, id DESC LIMIT ?";

constexpr std::string_view kExpiredArtifacts =
    "SELECT id, org_id, project_id, sandbox_id, run_id, name, content_type, active_content, digest, "
    "size_bytes, source_path, created_ms, expires_ms, deleted_ms FROM artifacts "
    "WHERE expires_ms IS NOT NULL AND deleted_ms IS NULL AND expires_ms <= ? "
    "ORDER BY expires_ms LIMIT ?";

Result<ArtifactRow> ArtifactOf(const Query& query) {
  ArtifactRow row;
  row.id = query.TextAt(0);
  row.org_id = query.TextAt(1);
  row.project_id = query.TextAt(2);
  row.sandbox_id = query.TextAt(3);
  row.run_id = query.TextAt(4);
  row.name = query.TextAt(5);
  row.content_type = query.TextAt(6);
  row.active_content = query.IntAt(7) != 0;
  if (!query.IsNull(8)) {
    row.digest = Sha256Digest::FromBytes(query.TextAt(8));
    if (!row.digest) return Error(ErrorCode::kCorrupt, "a stored digest does not decode");
  }
  row.size_bytes = query.UnsignedAt(9);
  row.source_path = query.TextAt(10);
  row.created_ms = query.IntAt(11);
  row.expires_ms = query.OptionalIntAt(12);
  row.deleted_ms = query.OptionalIntAt(13);
  return row;
}

}  // namespace

Result<std::optional<ArtifactRow>> SqliteStore::ReadArtifact(std::string_view id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kArtifactById);
  DORMOUSE_ASSIGN(const bool found, query.Text(id).Step());
  if (!found) return std::optional<ArtifactRow>();
  DORMOUSE_ASSIGN(ArtifactRow row, ArtifactOf(query));
  return std::optional<ArtifactRow>(std::move(row));
}

Result<std::vector<ArtifactRow>> SqliteStore::ReadArtifacts(const ArtifactQuery& request) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kArtifactPage);
  query.Text(request.sandbox_id).Int(request.after ? request.after->first : INT64_MAX);
  query.Text(request.after ? std::string_view(request.after->second) : std::string_view());
  query.Int(request.deleted ? 1 : 0).Int(request.now_ms).Int(request.limit);
  return Collect<ArtifactRow>(query, ArtifactOf);
}

Result<std::uint64_t> SqliteStore::ReadArtifactCharge(std::string_view sandbox_id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT coalesce(sum(max(size_bytes, ?)), 0) FROM artifacts "
              "WHERE sandbox_id = ? AND deleted_ms IS NULL");
  DORMOUSE_ASSIGN([[maybe_unused]] const bool row, query.Unsigned(kSmallestArtifactCharge).Text(sandbox_id).Step());
  return query.UnsignedAt(0);
}

Result<std::vector<ArtifactRow>> SqliteStore::ReadExpiredArtifacts(std::int64_t now_ms,
                                                                   std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kExpiredArtifacts);
  query.Int(now_ms).Int(limit);
  return Collect<ArtifactRow>(query, ArtifactOf);
}

Result<std::vector<std::string>> SqliteStore::ReadOldTombstones(std::int64_t deleted_before_ms,
                                                                std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id FROM artifacts WHERE deleted_ms IS NOT NULL AND deleted_ms < ? "
              "ORDER BY deleted_ms LIMIT ?");
  query.Int(deleted_before_ms).Int(limit);
  return Collect<std::string>(query, FirstText);
}

}  // namespace dormouse::store::sqlite
