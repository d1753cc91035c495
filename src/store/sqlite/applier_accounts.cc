// SPDX-License-Identifier: Apache-2.0
// The Applier's statements for keys, projects, usage and answers.
#include "store/sqlite/applier.h"
#include "store/sqlite/codec.h"

namespace dormouse::store::sqlite {
namespace {

}  // namespace

Result<void> Applier::PutApiKey(const ApiKeyRow& row) {
  const std::string scopes = row.all_scopes ? std::string(kAllScopes) : EncodeNames(row.scopes);
  const std::string project_ids = EncodeNames(row.project_ids);
  Query query(database_,
              "INSERT OR REPLACE INTO api_keys(id, name, lookup, secret_sha256, last4, created_ms, "
              "revoked_ms, scopes, project_ids, created_by, last_used_ms) "
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.Text(row.id).Text(row.name).Text(row.lookup).Blob(row.secret_sha256.View());
  query.Text(row.last4).Int(row.created_ms);
  query.OptionalInt(row.revoked_ms);
  query.Text(scopes).Text(project_ids).Text(row.created_by);
  query.OptionalInt(row.last_used_ms);
  return query.Run();
}

Result<void> Applier::DropApiKey(const std::string& id) {
  Query query(database_, "DELETE FROM api_keys WHERE id = ?");
  return query.Text(id).Run();
}

Result<void> Applier::TouchApiKey(const std::string& id, std::int64_t last_used_ms) {
  Query query(database_, "UPDATE api_keys SET last_used_ms = ? WHERE id = ?");
  return query.Int(last_used_ms).Text(id).Run();
}

Result<void> Applier::AddProject(const ProjectRow& row) {
  Query query(database_, "INSERT INTO projects(id, org_id, name, created_ms) VALUES(?, ?, ?, ?)");
  return query.Text(row.id).Text(row.org_id).Text(row.name).Int(row.created_ms).Run();
}

Result<void> Applier::AddUsage(const UsageRow& row) {
  Query query(database_,
              "INSERT INTO usage(day, project_id, metric, amount) VALUES(?, ?, ?, ?) "
              "ON CONFLICT(day, project_id, metric) DO UPDATE SET amount = amount + excluded.amount");
  return query.Int(row.day).Text(row.project_id).Text(row.metric).Int(row.amount).Run();
}

Result<void> Applier::PutAnswer(const AnswerRow& row) {
  const std::string headers = EncodeHeaders(row.headers);
  Query query(database_,
              "INSERT OR REPLACE INTO answers(scope, fingerprint, status, content_type, body_kept, "
              "completed_ms, bytes, headers, body) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.Blob(row.scope.View()).Blob(row.fingerprint.View()).Int(row.status);
  query.Text(row.content_type).Int(row.body_kept ? 1 : 0).Int(row.completed_ms);
  query.Unsigned(headers.size() + row.body.size()).Text(headers).Blob(row.body);
  return query.Run();
}

Result<void> Applier::DropAnswer(const Sha256Digest& scope) {
  Query query(database_, "DELETE FROM answers WHERE scope = ?");
  return query.Blob(scope.View()).Run();
}

}  // namespace dormouse::store::sqlite
