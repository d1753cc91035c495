// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/schema.h"

#include <iterator>
#include <string>

namespace dormouse::store::sqlite {
namespace {

// Step n takes a database from version n to n + 1. Released steps never change.
//
// Inline bytes have tables of their own, so that counting references does not rewrite them. `refs` counts the
// generations that list a segment, and the tree entries and artifacts that name a content.
constexpr const char* kSteps[] = {
    R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE api_keys(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, lookup TEXT NOT NULL UNIQUE, secret_sha256 BLOB NOT NULL,
  last4 TEXT NOT NULL, created_ms INTEGER NOT NULL, revoked_ms INTEGER) WITHOUT ROWID;

CREATE TABLE sandboxes(
  id TEXT PRIMARY KEY, org_id TEXT NOT NULL, project_id TEXT NOT NULL, template_slug TEXT NOT NULL,
  ttl_ms INTEGER NOT NULL, expires_ms INTEGER, metadata TEXT NOT NULL, created_ms INTEGER NOT NULL,
  last_used_ms INTEGER NOT NULL, destroyed_ms INTEGER, destroyed_reason TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX sandboxes_by_age ON sandboxes(created_ms DESC, id DESC);
CREATE INDEX sandboxes_by_expiry ON sandboxes(expires_ms)
  WHERE expires_ms IS NOT NULL AND destroyed_ms IS NULL;

CREATE TABLE contexts(
  id TEXT PRIMARY KEY, sandbox_id TEXT NOT NULL, binding TEXT NOT NULL, language TEXT NOT NULL,
  name TEXT NOT NULL, cwd TEXT NOT NULL, env TEXT NOT NULL, is_default INTEGER NOT NULL,
  executions INTEGER NOT NULL, generation INTEGER NOT NULL, reseed INTEGER NOT NULL,
  stale_reason TEXT NOT NULL, created_ms INTEGER NOT NULL, last_used_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX contexts_by_sandbox ON contexts(sandbox_id, created_ms);
CREATE UNIQUE INDEX contexts_by_name ON contexts(sandbox_id, name) WHERE name <> '';
CREATE UNIQUE INDEX contexts_by_default ON contexts(sandbox_id, binding) WHERE is_default = 1;

CREATE TABLE generations(
  context_id TEXT NOT NULL, number INTEGER NOT NULL, executions INTEGER NOT NULL,
  engine_build TEXT NOT NULL, segments BLOB NOT NULL, live_pages INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL, taken_ms INTEGER NOT NULL,
  PRIMARY KEY(context_id, number)) WITHOUT ROWID;
CREATE TABLE segments(
  id INTEGER PRIMARY KEY, refs INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
  checksum INTEGER NOT NULL, file TEXT NOT NULL);
CREATE TABLE segment_bytes(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

CREATE TABLE contents(
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, refs INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL, file TEXT NOT NULL);
CREATE INDEX contents_without_refs ON contents(refs) WHERE refs = 0;
CREATE TABLE content_bytes(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

CREATE TABLE tree(
  sandbox_id TEXT NOT NULL, path TEXT NOT NULL, kind INTEGER NOT NULL, digest BLOB,
  size_bytes INTEGER NOT NULL, mode INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  target TEXT NOT NULL, PRIMARY KEY(sandbox_id, path)) WITHOUT ROWID;
)sql",
    R"sql(
CREATE TABLE artifacts(
  id TEXT PRIMARY KEY, org_id TEXT NOT NULL, project_id TEXT NOT NULL, sandbox_id TEXT NOT NULL,
  run_id TEXT NOT NULL, name TEXT NOT NULL, content_type TEXT NOT NULL,
  active_content INTEGER NOT NULL, digest BLOB, size_bytes INTEGER NOT NULL,
  source_path TEXT NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER,
  deleted_ms INTEGER) WITHOUT ROWID;
CREATE INDEX artifacts_by_sandbox ON artifacts(sandbox_id, created_ms DESC, id DESC);
CREATE INDEX artifacts_by_expiry ON artifacts(expires_ms)
  WHERE expires_ms IS NOT NULL AND deleted_ms IS NULL;
CREATE INDEX artifacts_by_deletion ON artifacts(deleted_ms) WHERE deleted_ms IS NOT NULL;
)sql",
    // Keys with scopes, projects, usage, answers to repeated requests. Keys of before may do everything ('*'), and
    // what was made before belongs to the default project.
    R"sql(
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '*';
ALTER TABLE api_keys ADD COLUMN project_ids TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN last_used_ms INTEGER;

CREATE TABLE projects(
  id TEXT PRIMARY KEY, org_id TEXT NOT NULL, name TEXT NOT NULL, created_ms INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta(key, value) VALUES('org_id', 'org_' || lower(hex(randomblob(10))));
INSERT INTO projects(id, org_id, name, created_ms)
  SELECT 'prj_' || lower(hex(randomblob(10))), value, 'Default',
    CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) FROM meta WHERE key = 'org_id';
INSERT INTO meta(key, value) SELECT 'default_project_id', id FROM projects;
UPDATE sandboxes SET org_id = (SELECT value FROM meta WHERE key = 'org_id'),
  project_id = (SELECT value FROM meta WHERE key = 'default_project_id');
UPDATE artifacts SET org_id = (SELECT value FROM meta WHERE key = 'org_id'),
  project_id = (SELECT value FROM meta WHERE key = 'default_project_id');
CREATE INDEX sandboxes_by_template ON sandboxes(template_slug) WHERE destroyed_ms IS NULL;

CREATE TABLE usage(
  day INTEGER NOT NULL, project_id TEXT NOT NULL, metric TEXT NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY(day, project_id, metric)) WITHOUT ROWID;

CREATE TABLE answers(
  id INTEGER PRIMARY KEY, scope BLOB NOT NULL UNIQUE, fingerprint BLOB NOT NULL, status INTEGER NOT NULL,
  content_type TEXT NOT NULL, body_kept INTEGER NOT NULL, completed_ms INTEGER NOT NULL,
  bytes INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL);
)sql",
    R"sql(
CREATE TABLE workspace_runs(
  id TEXT PRIMARY KEY, org_id TEXT NOT NULL, project_id TEXT NOT NULL, status TEXT NOT NULL,
  command TEXT NOT NULL, template_id TEXT NOT NULL, template_slug TEXT NOT NULL,
  template_version TEXT NOT NULL, template_version_id TEXT NOT NULL, sandbox_id TEXT NOT NULL,
  owns_sandbox INTEGER NOT NULL, keep_sandbox INTEGER NOT NULL, metadata TEXT NOT NULL,
  source_metadata TEXT NOT NULL, artifacts TEXT NOT NULL, timeout_ms INTEGER,
  archive_digest BLOB, archive_bytes INTEGER NOT NULL, uploaded_ms INTEGER NOT NULL,
  archive_stored INTEGER NOT NULL, created_ms INTEGER NOT NULL, started_ms INTEGER,
  finished_ms INTEGER, exit_code INTEGER, failure_reason TEXT NOT NULL,
  failure_class TEXT NOT NULL, cleanup_status TEXT NOT NULL, artifact_ids TEXT NOT NULL,
  artifact_errors TEXT NOT NULL, last_seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX workspace_runs_by_age ON workspace_runs(created_ms DESC, id DESC);
CREATE INDEX workspace_runs_by_end ON workspace_runs(finished_ms) WHERE finished_ms IS NOT NULL;
CREATE INDEX workspace_runs_open ON workspace_runs(created_ms) WHERE finished_ms IS NULL;
CREATE TABLE workspace_run_events(
  run_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, created_ms INTEGER NOT NULL,
  data TEXT NOT NULL, path TEXT NOT NULL, code TEXT NOT NULL, size_bytes INTEGER NOT NULL,
  PRIMARY KEY(run_id, seq)) WITHOUT ROWID;
CREATE TABLE workspace_uploads(
  id TEXT PRIMARY KEY, run_id TEXT NOT NULL, status TEXT NOT NULL, digest BLOB NOT NULL,
  size_bytes INTEGER NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE INDEX workspace_uploads_by_run ON workspace_uploads(run_id);
CREATE INDEX workspace_uploads_by_expiry ON workspace_uploads(expires_ms);
)sql",
};

}  // namespace

Result<void> Migrate(Database& database, std::int64_t target) {
  std::int64_t version = 0;
  {
    Query query(database, "PRAGMA user_version");
    DORMOUSE_ASSIGN(const bool row, query.Step());
    if (row) version = query.IntAt(0);
  }
  const auto newest = static_cast<std::int64_t>(std::size(kSteps));
  if (version > newest) {
    return Error(ErrorCode::kConflict, "the data directory is of schema version " +
                                           std::to_string(version) + ", this server knows up to " +
                                           std::to_string(newest));
  }
  for (; version < (target == kNewestVersion ? newest : target); ++version) {
    const std::string script = "BEGIN IMMEDIATE;" + std::string(kSteps[version]) +
                               "PRAGMA user_version = " + std::to_string(version + 1) + "; COMMIT;";
    const Result<void> migrated = database.Execute(script.c_str());
    if (!migrated.ok()) {
      (void)database.Execute("ROLLBACK");
      return migrated.error();
    }
  }
  return {};
}

}  // namespace dormouse::store::sqlite
