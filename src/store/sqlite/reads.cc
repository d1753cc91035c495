// SPDX-License-Identifier: Apache-2.0
// The queries of SqliteStore that turn rows into values.
#include <unordered_set>

#include "store/sqlite/codec.h"
#include "store/sqlite/collect.h"
#include "store/sqlite/sqlite_store.h"

namespace dormouse::store::sqlite {
namespace {

constexpr std::string_view kSandboxById =
    "SELECT id, org_id, project_id, template_slug, ttl_ms, expires_ms, metadata, created_ms, "
    "last_used_ms, destroyed_ms, destroyed_reason FROM sandboxes WHERE id = ?";

// The metadata filter arrives as one JSON object: a sandbox matches if none of its pairs is missing.
constexpr std::string_view kSandboxPage =
    "SELECT id, org_id, project_id, template_slug, ttl_ms, expires_ms, metadata, created_ms, "
    "last_used_ms, destroyed_ms, destroyed_reason FROM sandboxes s "
    "WHERE (created_ms, id) < (?, ?) AND (? OR destroyed_ms IS NULL) AND (? = '' OR project_id = ?) "
    "AND (? = '[]' OR project_id IN (SELECT value FROM json_each(?))) "
    "AND NOT EXISTS (SELECT 1 FROM json_each(?) f WHERE NOT EXISTS ("
    "SELECT 1 FROM json_each(s.metadata) m WHERE m.key = f.key AND m.value = f.value)) "
    "ORDER BY created_ms DESC, id DESC LIMIT ?";

Result<SandboxRow> SandboxOf(const Query& query) {
  SandboxRow row;
  row.id = query.TextAt(0);
  row.org_id = query.TextAt(1);
  row.project_id = query.TextAt(2);
  row.template_slug = query.TextAt(3);
  row.ttl_ms = query.IntAt(4);
  row.expires_ms = query.OptionalIntAt(5);
  DORMOUSE_ASSIGN(row.metadata, DecodeMap(query.TextAt(6)));
  row.created_ms = query.IntAt(7);
  row.last_used_ms = query.IntAt(8);
  row.destroyed_ms = query.OptionalIntAt(9);
  row.destroyed_reason = query.TextAt(10);
  return row;
}

Result<ContextRow> ContextOf(const Query& query) {
  ContextRow row;
  row.id = query.TextAt(0);
  row.sandbox_id = query.TextAt(1);
  row.binding = query.TextAt(2);
  row.language = query.TextAt(3);
  row.name = query.TextAt(4);
  row.cwd = query.TextAt(5);
  DORMOUSE_ASSIGN(row.env, DecodeMap(query.TextAt(6)));
  row.is_default = query.IntAt(7) != 0;
  row.executions = query.UnsignedAt(8);
  row.generation = query.UnsignedAt(9);
  row.reseed = query.IntAt(10) != 0;
  row.stale_reason = query.TextAt(11);
  row.created_ms = query.IntAt(12);
  row.last_used_ms = query.IntAt(13);
  return row;
}

}  // namespace

Result<std::optional<SandboxRow>> SqliteStore::ReadSandbox(std::string_view id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, kSandboxById);
  DORMOUSE_ASSIGN(const bool found, query.Text(id).Step());
  if (!found) return std::optional<SandboxRow>();
  DORMOUSE_ASSIGN(SandboxRow row, SandboxOf(query));
  return std::optional<SandboxRow>(std::move(row));
}

Result<std::vector<SandboxRow>> SqliteStore::ReadSandboxes(const SandboxQuery& request) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  const std::string filter = EncodeMap(request.metadata);
  const std::string projects = EncodeList(request.project_ids);
  Query query(*database, kSandboxPage);
  query.Int(request.after ? request.after->first : INT64_MAX);
  query.Text(request.after ? std::string_view(request.after->second) : std::string_view());
  query.Int(request.destroyed ? 1 : 0).Text(request.project_id).Text(request.project_id);
  query.Text(projects).Text(projects).Text(filter).Int(request.limit);
  return Collect<SandboxRow>(query, SandboxOf);
}

Result<std::vector<std::string>> SqliteStore::ReadExpiredSandboxes(std::int64_t now_ms,
                                                                   std::uint32_t limit) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id FROM sandboxes WHERE expires_ms IS NOT NULL AND destroyed_ms IS NULL "
              "AND expires_ms <= ? ORDER BY expires_ms LIMIT ?");
  query.Int(now_ms).Int(limit);
  return Collect<std::string>(query, FirstText);
}

Result<std::vector<ContextRow>> SqliteStore::ReadContexts(std::string_view sandbox_id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT id, sandbox_id, binding, language, name, cwd, env, is_default, executions, "
              "generation, reseed, stale_reason, created_ms, last_used_ms FROM contexts "
              "WHERE sandbox_id = ? ORDER BY created_ms, id");
  query.Text(sandbox_id);
  return Collect<ContextRow>(query, ContextOf);
}

Result<std::vector<GenerationRow>> SqliteStore::ReadGenerations(std::string_view context_id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT number, executions, engine_build, segments, live_pages, stored_bytes, taken_ms "
              "FROM generations WHERE context_id = ? ORDER BY number");
  query.Text(context_id);
  return Collect<GenerationRow>(query, [](const Query& row) -> Result<GenerationRow> {
    GenerationRow generation;
    generation.number = row.UnsignedAt(0);
    generation.executions = row.UnsignedAt(1);
    generation.engine_build = row.TextAt(2);
    DORMOUSE_ASSIGN(generation.segments, DecodeSegments(row.TextAt(3)));
    generation.live_pages = row.UnsignedAt(4);
    generation.stored_bytes = row.UnsignedAt(5);
    generation.taken_ms = row.IntAt(6);
    return generation;
  });
}

Result<std::vector<EngineUse>> SqliteStore::ReadEngineUses() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT engine_build, COUNT(DISTINCT context_id) FROM generations GROUP BY engine_build");
  return Collect<EngineUse>(query, [](const Query& row) -> Result<EngineUse> {
    return EngineUse{row.TextAt(0), row.UnsignedAt(1)};
  });
}

Result<std::vector<TreeEntry>> SqliteStore::ReadTree(std::string_view sandbox_id) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT path, kind, digest, size_bytes, mode, mtime_ns, target FROM tree "
              "WHERE sandbox_id = ? ORDER BY path");
  query.Text(sandbox_id);
  return Collect<TreeEntry>(query, [](const Query& row) -> Result<TreeEntry> {
    TreeEntry entry;
    entry.path = row.TextAt(0);
    const std::int64_t kind = row.IntAt(1);
    if (kind < 0 || kind > 2) return Error(ErrorCode::kCorrupt, "a stored tree entry does not decode");
    entry.kind = static_cast<scheduler::FileKind>(kind);
    if (entry.kind == scheduler::FileKind::kFile) {
      const auto digest = Sha256Digest::FromBytes(row.TextAt(2));
      if (!digest) return Error(ErrorCode::kCorrupt, "a stored digest does not decode");
      entry.digest = *digest;
    }
    entry.size_bytes = row.UnsignedAt(3);
    entry.mode = static_cast<std::uint32_t>(row.IntAt(4));
    entry.mtime_ns = row.IntAt(5);
    entry.target = row.TextAt(6);
    return entry;
  });
}

Result<std::optional<std::uint64_t>> SqliteStore::ReadContentSize(const Sha256Digest& digest) {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database, "SELECT size_bytes FROM contents WHERE digest = ?");
  DORMOUSE_ASSIGN(const bool found, query.Blob(digest.View()).Step());
  if (!found) return std::optional<std::uint64_t>();
  return std::optional<std::uint64_t>(query.UnsignedAt(0));
}

Result<StoreTotals> SqliteStore::ReadTotals() {
  DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
  Query query(*database,
              "SELECT (SELECT count(*) FROM sandboxes WHERE destroyed_ms IS NULL), "
              "(SELECT count(*) FROM contexts), "
              "(SELECT count(*) FROM segments), (SELECT coalesce(sum(size_bytes), 0) FROM segments), "
              "(SELECT count(*) FROM contents), (SELECT coalesce(sum(size_bytes), 0) FROM contents), "
              "count(*), coalesce(sum(size_bytes), 0) FROM artifacts WHERE deleted_ms IS NULL");
  DORMOUSE_ASSIGN([[maybe_unused]] const bool row, query.Step());
  StoreTotals totals;
  totals.sandboxes = query.UnsignedAt(0);
  totals.contexts = query.UnsignedAt(1);
  totals.segments = query.UnsignedAt(2);
  totals.segment_bytes = query.UnsignedAt(3);
  totals.contents = query.UnsignedAt(4);
  totals.content_bytes = query.UnsignedAt(5);
  totals.artifacts = query.UnsignedAt(6);
  totals.artifact_bytes = query.UnsignedAt(7);
  return totals;
}

Result<std::size_t> SqliteStore::SweepOrphanFiles() {
  std::unordered_set<std::string> segments;
  std::unordered_set<std::string> contents;
  {
    DORMOUSE_ASSIGN(const ReaderPool::Lease database, readers_.Borrow());
    Query query(*database,
                "SELECT 0, file FROM segments WHERE file <> '' "
                "UNION ALL SELECT 1, file FROM contents WHERE file <> ''");
    while (true) {
      DORMOUSE_ASSIGN(const bool row, query.Step());
      if (!row) break;
      (query.IntAt(0) == 0 ? segments : contents).insert(query.TextAt(1));
    }
  }
  return files_->SweepOrphans(DataFileKind::kSegment, segments) +
         files_->SweepOrphans(DataFileKind::kContent, contents);
}

}  // namespace dormouse::store::sqlite
