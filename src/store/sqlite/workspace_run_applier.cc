// SPDX-License-Identifier: Apache-2.0
// What a Transaction says of workspace runs, as statements.
#include "store/sqlite/applier.h"
#include "store/sqlite/codec.h"

namespace dormouse::store::sqlite {
namespace {

using Table = std::vector<std::vector<std::string>>;

// The content that the row at hand refers to, if any.
Result<std::optional<Sha256Digest>> ContentAt(const Query& query, int digest, bool refers) {
  if (!refers || query.IsNull(digest)) return std::optional<Sha256Digest>();
  DORMOUSE_ASSIGN(const Sha256Digest content, DigestAt(query, digest));
  return std::optional(content);
}

}  // namespace

Result<void> Applier::ApplyWorkspaceRuns(const Transaction& transaction) {
  for (const auto& row : transaction.workspace_runs) DORMOUSE_TRY(PutWorkspaceRun(row));
  for (const auto& row : transaction.workspace_run_events) DORMOUSE_TRY(AddWorkspaceRunEvent(row));
  for (const auto& row : transaction.workspace_uploads) DORMOUSE_TRY(PutWorkspaceUpload(row));
  for (const auto& id : transaction.dropped_workspace_uploads) DORMOUSE_TRY(DropWorkspaceUpload(id));
  for (const auto& id : transaction.dropped_workspace_runs) DORMOUSE_TRY(DropWorkspaceRun(id));
  return {};
}

Result<void> Applier::PutWorkspaceRun(const WorkspaceRunRow& row) {
  {
    Query query(database_, "SELECT archive_digest, archive_stored FROM workspace_runs WHERE id = ?");
    DORMOUSE_ASSIGN(const bool found, query.Text(row.id).Step());
    if (found) {
      DORMOUSE_ASSIGN(const auto old, ContentAt(query, 0, query.IntAt(1) != 0));
      if (old) --content_refs_[*old];
    }
  }
  if (row.archive && row.archive_stored) ++content_refs_[row.archive->digest];
  Table artifacts;
  for (const WantedArtifact& wanted : row.artifacts) artifacts.push_back({wanted.path, wanted.name});
  Table ids;
  for (const std::string& id : row.artifact_ids) ids.push_back({id});
  Table errors;
  for (const ArtifactFailure& failure : row.artifact_errors) {
    errors.push_back({failure.path, failure.code, failure.message});
  }
  const std::string metadata = EncodeMap(row.metadata);
  const std::string wanted_text = EncodeTable(artifacts);
  const std::string ids_text = EncodeTable(ids);
  const std::string errors_text = EncodeTable(errors);
  Query query(database_,
              "INSERT OR REPLACE INTO workspace_runs(id, org_id, project_id, status, command, "
              "template_slug, sandbox_id, owns_sandbox, keep_sandbox, metadata, source_metadata, "
              "artifacts, timeout_ms, archive_digest, archive_bytes, uploaded_ms, archive_stored, "
              "created_ms, started_ms, finished_ms, exit_code, failure_reason, failure_class, "
              "cleanup_status, artifact_ids, artifact_errors, last_seq, template_id, "
              "template_version, template_version_id) "
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
              "?)");
  query.Text(row.id).Text(row.org_id).Text(row.project_id).Text(row.status).Text(row.command);
  query.Text(row.template_slug).Text(row.sandbox_id).Int(row.owns_sandbox ? 1 : 0);
  query.Int(row.keep_sandbox ? 1 : 0).Text(metadata).Text(row.source_metadata).Text(wanted_text);
  query.OptionalInt(row.timeout_ms);
  if (row.archive) {
    query.Blob(row.archive->digest.View()).Unsigned(row.archive->size_bytes);
    query.Int(row.archive->uploaded_ms);
  } else {
    query.Null().Int(0).Int(0);
  }
  query.Int(row.archive && row.archive_stored ? 1 : 0).Int(row.created_ms);
  query.OptionalInt(row.started_ms);
  query.OptionalInt(row.finished_ms);
  query.OptionalInt(row.exit_code);
  query.Text(row.failure_reason).Text(row.failure_class).Text(row.cleanup_status).Text(ids_text);
  query.Text(errors_text).Int(row.last_seq).Text(row.template_id);
  query.Text(row.template_version).Text(row.template_version_id);
  return query.Run();
}

Result<void> Applier::AddWorkspaceRunEvent(const WorkspaceRunEventRow& row) {
  Query query(database_,
              "INSERT INTO workspace_run_events(run_id, seq, type, created_ms, data, path, code, "
              "size_bytes) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  query.Text(row.run_id).Int(row.seq).Text(row.type).Int(row.created_ms).Text(row.data);
  query.Text(row.path).Text(row.code).Unsigned(row.size_bytes);
  return query.Run();
}

Result<void> Applier::PutWorkspaceUpload(const WorkspaceUploadRow& row) {
  DORMOUSE_TRY(DropWorkspaceUpload(row.id));
  if (row.status == "uploaded") ++content_refs_[row.digest];
  Query query(database_,
              "INSERT INTO workspace_uploads(id, run_id, status, digest, size_bytes, created_ms, "
              "expires_ms) VALUES(?, ?, ?, ?, ?, ?, ?)");
  query.Text(row.id).Text(row.run_id).Text(row.status).Blob(row.digest.View());
  query.Unsigned(row.size_bytes).Int(row.created_ms).Int(row.expires_ms);
  return query.Run();
}

Result<void> Applier::DropWorkspaceUpload(const std::string& id) {
  Query query(database_, "DELETE FROM workspace_uploads WHERE id = ? RETURNING digest, status");
  DORMOUSE_ASSIGN(const bool found, query.Text(id).Step());
  if (!found) return {};
  DORMOUSE_ASSIGN(const auto content, ContentAt(query, 0, query.TextAt(1) == "uploaded"));
  if (content) --content_refs_[*content];
  return {};
}

Result<void> Applier::DropWorkspaceRun(const std::string& id) {
  std::vector<std::string> uploads;
  {
    Query query(database_, "SELECT id FROM workspace_uploads WHERE run_id = ?");
    query.Text(id);
    while (true) {
      DORMOUSE_ASSIGN(const bool row, query.Step());
      if (!row) break;
      uploads.push_back(query.TextAt(0));
    }
  }
  for (const std::string& upload : uploads) DORMOUSE_TRY(DropWorkspaceUpload(upload));
  {
    Query query(database_, "DELETE FROM workspace_run_events WHERE run_id = ?");
    DORMOUSE_TRY(query.Text(id).Run());
  }
  Query query(database_,
              "DELETE FROM workspace_runs WHERE id = ? RETURNING archive_digest, archive_stored");
  DORMOUSE_ASSIGN(const bool found, query.Text(id).Step());
  if (!found) return {};
  DORMOUSE_ASSIGN(const auto content, ContentAt(query, 0, query.IntAt(1) != 0));
  if (content) --content_refs_[*content];
  return {};
}

}  // namespace dormouse::store::sqlite
