// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/applier.h"

#include "store/sqlite/codec.h"

namespace dormouse::store::sqlite {

Result<void> Applier::Apply(const Transaction& transaction) {
  for (const auto& row : transaction.api_keys) DORMOUSE_TRY(PutApiKey(row));
  for (const auto& id : transaction.dropped_api_keys) DORMOUSE_TRY(DropApiKey(id));
  for (const auto& [id, used_ms] : transaction.used_api_keys) DORMOUSE_TRY(TouchApiKey(id, used_ms));
  for (const auto& row : transaction.projects) DORMOUSE_TRY(AddProject(row));
  for (const auto& row : transaction.sandboxes) DORMOUSE_TRY(PutSandbox(row));
  for (const auto& row : transaction.contexts) DORMOUSE_TRY(PutContext(row));
  for (const auto& touched : transaction.touched) DORMOUSE_TRY(Touch(touched));
  for (const auto& row : transaction.segments) DORMOUSE_TRY(AddSegment(row));
  for (const auto& [id, row] : transaction.generations) DORMOUSE_TRY(AddGeneration(id, row));
  for (const auto& [id, number] : transaction.dropped_generations) {
    DORMOUSE_TRY(DropGeneration(id, number));
  }
  for (const auto& row : transaction.contents) DORMOUSE_TRY(AddContent(row));
  for (const auto& change : transaction.trees) DORMOUSE_TRY(ApplyTree(change));
  for (const auto& row : transaction.artifacts) DORMOUSE_TRY(AddArtifact(row));
  for (const auto& deleted : transaction.deleted_artifacts) DORMOUSE_TRY(DeleteArtifact(deleted));
  for (const auto& id : transaction.dropped_artifacts) {
    Query query(database_, "DELETE FROM artifacts WHERE id = ? AND deleted_ms IS NOT NULL");
    DORMOUSE_TRY(query.Text(id).Run());
  }
  for (const auto& id : transaction.dropped_contexts) DORMOUSE_TRY(DropContext(id));
  for (const auto& id : transaction.dropped_sandbox_data) DORMOUSE_TRY(DropSandboxData(id));
  if (transaction.dropped_usage) {
    Query query(database_, "DELETE FROM usage WHERE day < ?");
    DORMOUSE_TRY(query.Int(*transaction.dropped_usage).Run());
  }
  for (const auto& row : transaction.usage) DORMOUSE_TRY(AddUsage(row));
  for (const auto& scope : transaction.dropped_answers) DORMOUSE_TRY(DropAnswer(scope));
  for (const auto& row : transaction.answers) DORMOUSE_TRY(PutAnswer(row));
  DORMOUSE_TRY(ApplyWorkspaceRuns(transaction));
  DORMOUSE_TRY(SettleSegments());
  return SettleContents();
}


Result<void> Applier::PutSandbox(const SandboxRow& row) {
  const std::string metadata = EncodeMap(row.metadata);
  Query query(database_,
              "INSERT OR REPLACE INTO sandboxes(id, org_id, project_id, template_slug, ttl_ms, "
              "expires_ms, metadata, created_ms, last_used_ms, destroyed_ms, destroyed_reason) "
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.Text(row.id).Text(row.org_id).Text(row.project_id).Text(row.template_slug).Int(row.ttl_ms);
  query.OptionalInt(row.expires_ms);
  query.Text(metadata).Int(row.created_ms).Int(row.last_used_ms);
  query.OptionalInt(row.destroyed_ms);
  query.Text(row.destroyed_reason);
  return query.Run();
}

Result<void> Applier::PutContext(const ContextRow& row) {
  const std::string env = EncodeMap(row.env);
  // An upsert on the id alone: a second name or default must fail, not replace another context.
  Query query(database_,
              "INSERT INTO contexts(id, sandbox_id, binding, language, name, cwd, env, is_default, "
              "executions, generation, reseed, stale_reason, created_ms, last_used_ms) "
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET "
              "name = excluded.name, executions = excluded.executions, "
              "generation = excluded.generation, reseed = excluded.reseed, "
              "stale_reason = excluded.stale_reason, last_used_ms = excluded.last_used_ms");
  query.Text(row.id).Text(row.sandbox_id).Text(row.binding).Text(row.language).Text(row.name);
  query.Text(row.cwd).Text(env).Int(row.is_default ? 1 : 0).Unsigned(row.executions);
  query.Unsigned(row.generation).Int(row.reseed ? 1 : 0).Text(row.stale_reason);
  query.Int(row.created_ms).Int(row.last_used_ms);
  return query.Run();
}

Result<void> Applier::Touch(const Transaction::Touched& touched) {
  {
    Query query(database_, "UPDATE sandboxes SET last_used_ms = ? WHERE id = ?");
    DORMOUSE_TRY(query.Int(touched.last_used_ms).Text(touched.sandbox_id).Run());
  }
  if (touched.context_id.empty()) return {};
  Query query(database_, "UPDATE contexts SET last_used_ms = ? WHERE id = ?");
  return query.Int(touched.last_used_ms).Text(touched.context_id).Run();
}

Result<void> Applier::AddSegment(const SegmentRow& row) {
  {
    Query query(database_,
                "INSERT INTO segments(id, refs, size_bytes, checksum, file) VALUES(?, 0, ?, ?, ?)");
    query.Int(row.id).Unsigned(row.size_bytes).Unsigned(row.checksum).Text(row.file);
    DORMOUSE_TRY(query.Run());
  }
  if (!row.file.empty()) return {};
  Query query(database_, "INSERT INTO segment_bytes(id, bytes) VALUES(?, ?)");
  return query.Int(row.id).Blob(row.bytes).Run();
}

Result<void> Applier::AddGeneration(const std::string& context_id, const GenerationRow& row) {
  const std::string segments = EncodeSegments(row.segments);
  Query query(database_,
              "INSERT INTO generations(context_id, number, executions, engine_build, segments, "
              "live_pages, stored_bytes, taken_ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  query.Text(context_id).Unsigned(row.number).Unsigned(row.executions).Text(row.engine_build);
  query.Blob(segments).Unsigned(row.live_pages).Unsigned(row.stored_bytes).Int(row.taken_ms);
  for (const SegmentRef& segment : row.segments) ++segment_refs_[segment.id];
  return query.Run();
}

Result<void> Applier::DropGeneration(const std::string& context_id, std::uint64_t number) {
  {
    Query query(database_, "SELECT segments FROM generations WHERE context_id = ? AND number = ?");
    query.Text(context_id).Unsigned(number);
    DORMOUSE_ASSIGN(const bool found, query.Step());
    if (!found) return {};
    DORMOUSE_ASSIGN(const auto segments, DecodeSegments(query.TextAt(0)));
    for (const SegmentRef& segment : segments) --segment_refs_[segment.id];
  }
  Query query(database_, "DELETE FROM generations WHERE context_id = ? AND number = ?");
  return query.Text(context_id).Unsigned(number).Run();
}

Result<void> Applier::DropContext(const std::string& context_id) {
  {
    Query query(database_, "SELECT segments FROM generations WHERE context_id = ?");
    query.Text(context_id);
    while (true) {
      DORMOUSE_ASSIGN(const bool row, query.Step());
      if (!row) break;
      DORMOUSE_ASSIGN(const auto segments, DecodeSegments(query.TextAt(0)));
      for (const SegmentRef& segment : segments) --segment_refs_[segment.id];
    }
  }
  {
    Query query(database_, "DELETE FROM generations WHERE context_id = ?");
    DORMOUSE_TRY(query.Text(context_id).Run());
  }
  Query query(database_, "DELETE FROM contexts WHERE id = ?");
  return query.Text(context_id).Run();
}

Result<void> Applier::DropSandboxData(const std::string& sandbox_id) {
  std::vector<std::string> contexts;
  {
    Query query(database_, "SELECT id FROM contexts WHERE sandbox_id = ?");
    query.Text(sandbox_id);
    while (true) {
      DORMOUSE_ASSIGN(const bool row, query.Step());
      if (!row) break;
      contexts.push_back(query.TextAt(0));
    }
  }
  for (const std::string& id : contexts) DORMOUSE_TRY(DropContext(id));
  {
    Query query(database_,
                "SELECT digest, count(*) FROM tree WHERE sandbox_id = ? AND digest IS NOT NULL "
                "GROUP BY digest");
    query.Text(sandbox_id);
    while (true) {
      DORMOUSE_ASSIGN(const bool row, query.Step());
      if (!row) break;
      DORMOUSE_ASSIGN(const Sha256Digest digest, DigestAt(query, 0));
      content_refs_[digest] -= query.IntAt(1);
    }
  }
  Query query(database_, "DELETE FROM tree WHERE sandbox_id = ?");
  return query.Text(sandbox_id).Run();
}

Result<void> Applier::AddContent(const ContentRow& row) {
  {
    Query query(database_,
                "INSERT INTO contents(digest, refs, size_bytes, file) VALUES(?, 0, ?, ?) "
                "ON CONFLICT(digest) DO NOTHING");
    query.Blob(row.digest.View()).Unsigned(row.size_bytes).Text(row.file);
    DORMOUSE_TRY(query.Run());
    if (database_.Changes() == 0) {
      // Another transaction stored the same content first; ours is not needed.
      if (!row.file.empty()) dropped_files_.emplace_back(DataFileKind::kContent, row.file);
      return {};
    }
  }
  if (!row.file.empty()) return {};
  const std::int64_t id = sqlite3_last_insert_rowid(database_.handle());
  Query query(database_, "INSERT INTO content_bytes(id, bytes) VALUES(?, ?)");
  return query.Int(id).Blob(row.bytes).Run();
}

Result<void> Applier::ApplyTree(const TreeChange& change) {
  for (const auto& path : change.deletions) DORMOUSE_TRY(DropTreeEntry(change.sandbox_id, path));
  for (const auto& entry : change.upserts) {
    DORMOUSE_TRY(DropTreeEntry(change.sandbox_id, entry.path));
    DORMOUSE_TRY(PutTreeEntry(change.sandbox_id, entry));
  }
  return {};
}

Result<void> Applier::AddArtifact(const ArtifactRow& row) {
  Query query(database_,
              "INSERT INTO artifacts(id, org_id, project_id, sandbox_id, run_id, name, content_type, "
              "active_content, digest, size_bytes, source_path, created_ms, expires_ms, deleted_ms) "
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.Text(row.id).Text(row.org_id).Text(row.project_id).Text(row.sandbox_id).Text(row.run_id);
  query.Text(row.name).Text(row.content_type).Int(row.active_content ? 1 : 0);
  if (row.digest) {
    query.Blob(row.digest->View());
    ++content_refs_[*row.digest];
  } else {
    query.Null();
  }
  query.Unsigned(row.size_bytes).Text(row.source_path).Int(row.created_ms);
  query.OptionalInt(row.expires_ms);
  query.OptionalInt(row.deleted_ms);
  return query.Run();
}

Result<void> Applier::DeleteArtifact(const Transaction::DeletedArtifact& deleted) {
  {
    Query query(database_, "SELECT digest FROM artifacts WHERE id = ? AND deleted_ms IS NULL");
    DORMOUSE_ASSIGN(const bool found, query.Text(deleted.id).Step());
    if (!found) return {};
    DORMOUSE_ASSIGN(const Sha256Digest digest, DigestAt(query, 0));
    --content_refs_[digest];
  }
  Query query(database_, "UPDATE artifacts SET deleted_ms = ?, digest = NULL WHERE id = ?");
  return query.Int(deleted.deleted_ms).Text(deleted.id).Run();
}

Result<void> Applier::DropTreeEntry(const std::string& sandbox_id, const std::string& path) {
  Query query(database_, "DELETE FROM tree WHERE sandbox_id = ? AND path = ? RETURNING digest");
  query.Text(sandbox_id).Text(path);
  DORMOUSE_ASSIGN(const bool row, query.Step());
  if (!row || query.IsNull(0)) return {};
  DORMOUSE_ASSIGN(const Sha256Digest digest, DigestAt(query, 0));
  --content_refs_[digest];
  return {};
}

Result<void> Applier::PutTreeEntry(const std::string& sandbox_id, const TreeEntry& entry) {
  Query query(database_,
              "INSERT INTO tree(sandbox_id, path, kind, digest, size_bytes, mode, mtime_ns, target) "
              "VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  query.Text(sandbox_id).Text(entry.path).Int(static_cast<int>(entry.kind));
  if (entry.kind == scheduler::FileKind::kFile) {
    query.Blob(entry.digest.View());
    ++content_refs_[entry.digest];
  } else {
    query.Null();
  }
  query.Unsigned(entry.size_bytes).Int(entry.mode).Int(entry.mtime_ns).Text(entry.target);
  return query.Run();
}

Result<void> Applier::SettleSegments() {
  for (const auto& [id, change] : segment_refs_) {
    if (change == 0) continue;
    {
      Query query(database_, "UPDATE segments SET refs = refs + ? WHERE id = ?");
      DORMOUSE_TRY(query.Int(change).Int(id).Run());
      if (database_.Changes() != 1) {
        return Error(ErrorCode::kConflict, "a segment of the generation is gone");
      }
    }
    if (change > 0) continue;
    {
      Query query(database_, "DELETE FROM segments WHERE id = ? AND refs <= 0 RETURNING file");
      DORMOUSE_ASSIGN(const bool removed, query.Int(id).Step());
      if (!removed) continue;
      std::string file = query.TextAt(0);
      if (!file.empty()) {
        dropped_files_.emplace_back(DataFileKind::kSegment, std::move(file));
        continue;
      }
    }
    Query query(database_, "DELETE FROM segment_bytes WHERE id = ?");
    DORMOUSE_TRY(query.Int(id).Run());
  }
  segment_refs_.clear();
  return {};
}

Result<void> Applier::SettleContents() {
  for (const auto& [digest, change] : content_refs_) {
    if (change == 0) continue;
    Query query(database_, "UPDATE contents SET refs = refs + ? WHERE digest = ?");
    DORMOUSE_TRY(query.Int(change).Blob(digest.View()).Run());
    if (database_.Changes() != 1) {
      return Error(ErrorCode::kConflict, "content " + digest.Hex() + " is gone");
    }
  }
  content_refs_.clear();
  return {};
}

Result<void> Applier::SweepContents(std::size_t limit, ContentPins& pins,
                                    std::vector<Sha256Digest>& claimed) {
  std::vector<Sha256Digest> candidates;
  {
    Query query(database_, "SELECT digest FROM contents WHERE refs = 0 LIMIT ?");
    query.Unsigned(limit);
    while (true) {
      DORMOUSE_ASSIGN(const bool row, query.Step());
      if (!row) break;
      if (const auto digest = Sha256Digest::FromBytes(query.TextAt(0))) candidates.push_back(*digest);
    }
  }
  claimed = pins.Claim(candidates);
  for (const Sha256Digest& digest : claimed) {
    std::int64_t id = 0;
    {
      Query query(database_, "DELETE FROM contents WHERE digest = ? RETURNING id, file");
      DORMOUSE_ASSIGN(const bool row, query.Blob(digest.View()).Step());
      if (!row) continue;
      id = query.IntAt(0);
      std::string file = query.TextAt(1);
      if (!file.empty()) {
        dropped_files_.emplace_back(DataFileKind::kContent, std::move(file));
        continue;
      }
    }
    Query query(database_, "DELETE FROM content_bytes WHERE id = ?");
    DORMOUSE_TRY(query.Int(id).Run());
  }
  return {};
}

}  // namespace dormouse::store::sqlite
