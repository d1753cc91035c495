// SPDX-License-Identifier: Apache-2.0
// The queries of SqliteStore for keys, projects, usage and answers.
#include "store/sqlite/codec.h"
#include "store/sqlite/collect.h"
#include "store/sqlite/sqlite_store.h"

namespace dormouse::store::sqlite {
namespace {

Result<ApiKeyRow> ApiKeyOf(const Query& query) {
  ApiKeyRow key;
  key.id = query.TextAt(0);
  key.name = query.TextAt(1);
  key.lookup = query.TextAt(2);
  DORMOUSE_ASSIGN(key.secret_sha256, DigestAt(query, 3));
  key.last4 = query.TextAt(4);
  key.created_ms = query.IntAt(5);
  key.revoked_ms = query.OptionalIntAt(6);
  const std::string scopes = query.TextAt(7);
  key.all_scopes = scopes == kAllScopes;
  if (!key.all_scopes) key.scopes = DecodeNames(scopes);
  key.project_ids = DecodeNames(query.TextAt(8));
  key.created_by = query.TextAt(9);
  key.last_used_ms = query.OptionalIntAt(10);
  return key;
}

Result<std::string> MetaValue(Database& database, std::string_view key) {
  Query query(database, "SELECT value FROM meta WHERE key = ?");
  DORMOUSE_ASSIGN(const bool found, query.Text(key).Step());
  if (!found) return Error(ErrorCode::kCorrupt, "the store has no " + std::string(key));
  return query.TextAt(0);
}

}  // namespace

Result<std::vector<ApiKeyRow>> SqliteStore::ReadApiKeys() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id, name, lookup, secret_sha256, last4, created_ms, revoked_ms, scopes, "
              "project_ids, created_by, last_used_ms FROM api_keys ORDER BY created_ms");
  return Collect<ApiKeyRow>(query, ApiKeyOf);
}

Result<OrganizationRow> SqliteStore::ReadOrganization() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  OrganizationRow row;
  DORMOUSE_ASSIGN(row.id, MetaValue(*database, "org_id"));
  DORMOUSE_ASSIGN(row.default_project_id, MetaValue(*database, "default_project_id"));
  return row;
}

Result<std::vector<ProjectRow>> SqliteStore::ReadProjects() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, "SELECT id, org_id, name, created_ms FROM projects ORDER BY created_ms, id");
  return Collect<ProjectRow>(query, [](const Query& row) -> Result<ProjectRow> {
    return ProjectRow{row.TextAt(0), row.TextAt(1), row.TextAt(2), row.IntAt(3)};
  });
}

Result<std::vector<UsageRow>> SqliteStore::ReadUsage(std::int64_t first_day) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT day, project_id, metric, amount FROM usage WHERE day >= ? "
              "ORDER BY day DESC, project_id, metric");
  query.Int(first_day);
  return Collect<UsageRow>(query, [](const Query& row) -> Result<UsageRow> {
    return UsageRow{row.IntAt(0), row.TextAt(1), row.TextAt(2), row.IntAt(3)};
  });
}

Result<std::vector<AnswerInfo>> SqliteStore::ReadAnswerInfos() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, "SELECT scope, bytes, completed_ms FROM answers ORDER BY completed_ms, id");
  return Collect<AnswerInfo>(query, [](const Query& row) -> Result<AnswerInfo> {
    DORMOUSE_ASSIGN(const Sha256Digest scope, DigestAt(row, 0));
    return AnswerInfo{scope, row.UnsignedAt(1), row.IntAt(2)};
  });
}

Result<std::optional<AnswerRow>> SqliteStore::ReadAnswer(const Sha256Digest& scope) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT fingerprint, status, content_type, body_kept, completed_ms, headers, body "
              "FROM answers WHERE scope = ?");
  DORMOUSE_ASSIGN(const bool found, query.Blob(scope.View()).Step());
  if (!found) return std::optional<AnswerRow>();
  AnswerRow row;
  row.scope = scope;
  DORMOUSE_ASSIGN(row.fingerprint, DigestAt(query, 0));
  row.status = static_cast<int>(query.IntAt(1));
  row.content_type = query.TextAt(2);
  row.body_kept = query.IntAt(3) != 0;
  row.completed_ms = query.IntAt(4);
  DORMOUSE_ASSIGN(row.headers, DecodeHeaders(query.TextAt(5)));
  row.body = query.TextAt(6);
  return std::optional<AnswerRow>(std::move(row));
}

Result<std::vector<std::string>> SqliteStore::ReadIdleSandboxes(std::string_view template_slug,
                                                                std::int64_t unused_since_ms,
                                                                std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id FROM sandboxes WHERE destroyed_ms IS NULL AND template_slug = ? "
              "AND last_used_ms <= ? LIMIT ?");
  query.Text(template_slug).Int(unused_since_ms).Int(limit);
  return Collect<std::string>(query, FirstText);
}

}  // namespace dormouse::store::sqlite
