// SPDX-License-Identifier: Apache-2.0
// The queries of SqliteStore about workspace runs.
#include "store/sqlite/codec.h"
#include "store/sqlite/collect.h"
#include "store/sqlite/sqlite_store.h"

namespace dormouse::store::sqlite {
namespace {

#define DORMOUSE_RUN_COLUMNS                                                                     \
  "SELECT id, org_id, project_id, status, command, template_slug, sandbox_id, owns_sandbox, "    \
  "keep_sandbox, metadata, source_metadata, artifacts, timeout_ms, archive_digest, "             \
  "archive_bytes, uploaded_ms, archive_stored, created_ms, started_ms, finished_ms, exit_code, " \
  "failure_reason, failure_class, cleanup_status, artifact_ids, artifact_errors, last_seq, "     \
  "template_id, template_version, template_version_id FROM workspace_runs r "
#define DORMOUSE_UPLOAD_COLUMNS \
  "SELECT id, run_id, status, digest, size_bytes, created_ms, expires_ms FROM workspace_uploads "

constexpr std::string_view kRunById = DORMOUSE_RUN_COLUMNS "WHERE id = ?";
constexpr std::string_view kRunPage = DORMOUSE_RUN_COLUMNS
    "WHERE (created_ms, id) < (?, ?) AND (? = '' OR project_id = ?) AND (? = '' OR status = ?) "
    "AND (? = '[]' OR project_id IN (SELECT value FROM json_each(?))) "
    "AND NOT EXISTS (SELECT 1 FROM json_each(?) f WHERE NOT EXISTS ("
    "SELECT 1 FROM json_each(r.metadata) m WHERE m.key = f.key AND m.value = f.value)) "
    "ORDER BY created_ms DESC, id DESC LIMIT ?";
constexpr std::string_view kActiveRuns = DORMOUSE_RUN_COLUMNS
    "WHERE finished_ms IS NULL AND started_ms IS NOT NULL ORDER BY created_ms";
constexpr std::string_view kUploadById = DORMOUSE_UPLOAD_COLUMNS "WHERE id = ?";
constexpr std::string_view kUploadsOfRun =
    DORMOUSE_UPLOAD_COLUMNS "WHERE run_id = ? ORDER BY created_ms";
constexpr std::string_view kExpiredUploads =
    DORMOUSE_UPLOAD_COLUMNS "WHERE expires_ms <= ? AND status IN ('pending', 'uploaded') ORDER BY expires_ms "
    "LIMIT ?";

Result<void> ReadLists(const Query& query, WorkspaceRunRow& row) {
  DORMOUSE_ASSIGN(auto artifacts, DecodeTable(query.TextAt(11), 2));
  for (auto& cells : artifacts) row.artifacts.push_back({std::move(cells[0]), std::move(cells[1])});
  DORMOUSE_ASSIGN(auto ids, DecodeTable(query.TextAt(24), 1));
  for (auto& cells : ids) row.artifact_ids.push_back(std::move(cells[0]));
  DORMOUSE_ASSIGN(auto errors, DecodeTable(query.TextAt(25), 3));
  for (auto& cells : errors) {
    row.artifact_errors.push_back(
        {std::move(cells[0]), std::move(cells[1]), std::move(cells[2])});
  }
  return {};
}

Result<WorkspaceRunRow> RunOf(const Query& query) {
  WorkspaceRunRow row;
  row.id = query.TextAt(0);
  row.org_id = query.TextAt(1);
  row.project_id = query.TextAt(2);
  row.status = query.TextAt(3);
  row.command = query.TextAt(4);
  row.template_slug = query.TextAt(5);
  row.sandbox_id = query.TextAt(6);
  row.owns_sandbox = query.IntAt(7) != 0;
  row.keep_sandbox = query.IntAt(8) != 0;
  DORMOUSE_ASSIGN(row.metadata, DecodeMap(query.TextAt(9)));
  row.source_metadata = query.TextAt(10);
  row.timeout_ms = query.OptionalIntAt(12);
  if (!query.IsNull(13)) {
    ArchiveInfo archive;
    DORMOUSE_ASSIGN(archive.digest, DigestAt(query, 13));
    archive.size_bytes = query.UnsignedAt(14);
    archive.uploaded_ms = query.IntAt(15);
    row.archive = archive;
  }
  row.archive_stored = query.IntAt(16) != 0;
  row.created_ms = query.IntAt(17);
  row.started_ms = query.OptionalIntAt(18);
  row.finished_ms = query.OptionalIntAt(19);
  row.exit_code = query.OptionalIntAt(20);
  row.failure_reason = query.TextAt(21);
  row.failure_class = query.TextAt(22);
  row.cleanup_status = query.TextAt(23);
  row.last_seq = query.IntAt(26);
  row.template_id = query.TextAt(27);
  row.template_version = query.TextAt(28);
  row.template_version_id = query.TextAt(29);
  DORMOUSE_TRY(ReadLists(query, row));
  return row;
}

Result<WorkspaceUploadRow> UploadOf(const Query& query) {
  WorkspaceUploadRow row;
  row.id = query.TextAt(0);
  row.run_id = query.TextAt(1);
  row.status = query.TextAt(2);
  DORMOUSE_ASSIGN(row.digest, DigestAt(query, 3));
  row.size_bytes = query.UnsignedAt(4);
  row.created_ms = query.IntAt(5);
  row.expires_ms = query.IntAt(6);
  return row;
}

Result<WorkspaceRunEventRow> EventOf(const Query& query) {
  WorkspaceRunEventRow row;
  row.run_id = query.TextAt(0);
  row.seq = query.IntAt(1);
  row.type = query.TextAt(2);
  row.created_ms = query.IntAt(3);
  row.data = query.TextAt(4);
  row.path = query.TextAt(5);
  row.code = query.TextAt(6);
  row.size_bytes = query.UnsignedAt(7);
  return row;
}

// The only row of `query`, or nothing.
template <typename Row>
Result<std::optional<Row>> One(Query& query, Result<Row> (*make)(const Query&)) {
  DORMOUSE_ASSIGN(const bool found, query.Step());
  if (!found) return std::optional<Row>();
  DORMOUSE_ASSIGN(Row row, make(query));
  return std::optional<Row>(std::move(row));
}

}  // namespace

Result<std::optional<WorkspaceRunRow>> SqliteStore::ReadWorkspaceRun(std::string_view id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kRunById);
  query.Text(id);
  return One(query, RunOf);
}

Result<std::vector<WorkspaceRunRow>> SqliteStore::ReadWorkspaceRuns(
    const WorkspaceRunQuery& request) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  const std::string filter = EncodeMap(request.metadata);
  const std::string projects = EncodeList(request.project_ids);
  Query query(*database, kRunPage);
  query.Int(request.after ? request.after->first : INT64_MAX);
  query.Text(request.after ? std::string_view(request.after->second) : std::string_view());
  query.Text(request.project_id).Text(request.project_id);
  query.Text(request.status).Text(request.status).Text(projects).Text(projects);
  query.Text(filter).Int(request.limit);
  return Collect<WorkspaceRunRow>(query, RunOf);
}

Result<std::vector<WorkspaceRunRow>> SqliteStore::ReadActiveWorkspaceRuns() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kActiveRuns);
  return Collect<WorkspaceRunRow>(query, RunOf);
}

Result<std::vector<std::string>> SqliteStore::ReadOldWorkspaceRuns(std::int64_t ended_before_ms,
                                                                   std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id FROM workspace_runs WHERE finished_ms IS NOT NULL AND finished_ms < ? "
              "ORDER BY finished_ms LIMIT ?");
  query.Int(ended_before_ms).Int(limit);
  return Collect<std::string>(query, FirstText);
}

Result<std::vector<std::string>> SqliteStore::ReadForgottenWorkspaceRuns(
    std::int64_t created_before_ms, std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id FROM workspace_runs WHERE finished_ms IS NULL AND started_ms IS NULL "
              "AND created_ms < ? ORDER BY created_ms LIMIT ?");
  query.Int(created_before_ms).Int(limit);
  return Collect<std::string>(query, FirstText);
}

Result<std::vector<WorkspaceRunEventRow>> SqliteStore::ReadWorkspaceRunEvents(
    std::string_view run_id, std::int64_t after_seq, std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT run_id, seq, type, created_ms, data, path, code, size_bytes "
              "FROM workspace_run_events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?");
  query.Text(run_id).Int(after_seq).Int(limit);
  return Collect<WorkspaceRunEventRow>(query, EventOf);
}

Result<std::optional<WorkspaceUploadRow>> SqliteStore::ReadWorkspaceUpload(std::string_view id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kUploadById);
  query.Text(id);
  return One(query, UploadOf);
}

Result<std::vector<WorkspaceUploadRow>> SqliteStore::ReadWorkspaceUploads(std::string_view run_id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kUploadsOfRun);
  query.Text(run_id);
  return Collect<WorkspaceUploadRow>(query, UploadOf);
}

Result<std::vector<WorkspaceUploadRow>> SqliteStore::ReadExpiredWorkspaceUploads(
    std::int64_t now_ms, std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kExpiredUploads);
  query.Int(now_ms).Int(limit);
  return Collect<WorkspaceUploadRow>(query, UploadOf);
}

}  // namespace dormouse::store::sqlite
