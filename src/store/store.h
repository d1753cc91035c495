// SPDX-License-Identifier: Apache-2.0
// Store: everything that must outlive the server, behind one interface.
//
// Writing: a Transaction is applied as a whole or not at all. Transactions are applied one after the other in the order of
// their Commit calls; those that wait together share one disk sync (group commit). An acknowledged transaction survives
// the death of any process; with StoreOptions::Sync::kPower also that of the machine, else it is synced within a second.
//
// Reading: the Read calls block for the time of a few disk reads, and see every acknowledged transaction.
//
// Large bytes lie in files (data_files.h). They are placed before the transaction that refers to them, and removed after
// the transaction that drops the last reference is on the disk.
//
// Threads: every call may be made from any thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"
#include "store/content_pins.h"
#include "store/data_files.h"
#include "store/rows.h"
#include "store/workspace_run_rows.h"

namespace dormouse::store {

// Segments and contents up to these sizes lie in the database, so that one sync covers them.
inline constexpr std::uint64_t kInlineSegmentBytes = 64u << 10;
inline constexpr std::uint64_t kInlineContentBytes = 16u << 10;

// What changes together. Applied in the order of the members.
struct Transaction {
  std::vector<ApiKeyRow> api_keys;    // new or replaced
  std::vector<std::string> dropped_api_keys;
  std::vector<std::pair<std::string, std::int64_t>> used_api_keys;  // ids, and when; unknown ones are ignored
  std::vector<ProjectRow> projects;   // new
  std::vector<SandboxRow> sandboxes;  // new or replaced
  std::vector<ContextRow> contexts;   // new or replaced
  struct Touched {                    // a last use, of a context too if `context_id` is not empty
    std::string sandbox_id;
    std::string context_id;
    std::int64_t last_used_ms = 0;
  };
  std::vector<Touched> touched;
  std::vector<SegmentRow> segments;  // new
  // New. Fails as a whole with kConflict when a segment it lists is gone.
  std::vector<std::pair<std::string, GenerationRow>> generations;  // by context id
  std::vector<std::pair<std::string, std::uint64_t>> dropped_generations;
  std::vector<ContentRow> contents;  // known ones are ignored
  // Fails as a whole with kConflict when a content that an upsert names is gone.
  std::vector<TreeChange> trees;
  // New. Fails as a whole with kConflict when a content that one names is gone.
  std::vector<ArtifactRow> artifacts;
  struct DeletedArtifact {
    std::string id;
    std::int64_t deleted_ms = 0;
  };
  std::vector<DeletedArtifact> deleted_artifacts;  // become tombstones; those that are one already are ignored
  std::vector<std::string> dropped_artifacts;      // tombstones that go for good
  std::vector<std::string> dropped_contexts;       // with their generations
  std::vector<std::string> dropped_sandbox_data;   // contexts, generations and tree; the row stays
  std::optional<std::int64_t> dropped_usage;       // of the days before this one
  std::vector<UsageRow> usage;                     // added to what is there
  std::vector<AnswerRow> answers;                  // new or replaced
  std::vector<Sha256Digest> dropped_answers;       // by scope
  // New or replaced. An archive that is stored, and an upload whose status is "uploaded", refer to their content:
  // the transaction fails as a whole with kConflict when that is gone.
  std::vector<WorkspaceRunRow> workspace_runs;
  std::vector<WorkspaceRunEventRow> workspace_run_events;  // new
  std::vector<WorkspaceUploadRow> workspace_uploads;       // new or replaced
  std::vector<std::string> dropped_workspace_uploads;
  std::vector<std::string> dropped_workspace_runs;  // with events and uploads

  // The files that `segments` and `contents` name. Removed when the transaction fails.
  std::vector<PlacedFile> files;
  // Held until the transaction is done.
  std::vector<ContentPin> pins;
};

// Up to `limit` sandboxes, newest first.
struct SandboxQuery {
  std::string project_id;  // empty: all
  StringMap metadata;      // exact matches
  bool destroyed = false;  // also those
  std::uint32_t limit = 50;
  // Continue after this one.
  std::optional<std::pair<std::int64_t, std::string>> after;  // created_ms, id
  std::vector<std::string> project_ids;                       // any of them; empty: all
};

// Up to `limit` artifacts of a sandbox, newest first.
struct ArtifactQuery {
  std::string sandbox_id;
  bool deleted = false;     // also tombstones, and those whose retention is over
  std::int64_t now_ms = 0;  // what is over
  std::uint32_t limit = 50;
  // Continue after this one.
  std::optional<std::pair<std::int64_t, std::string>> after;  // created_ms, id
};

// A segment as a worker needs it: bytes or an open file.
struct LoadedSegment {
  std::string bytes;
  FileDescriptor file;
  std::uint64_t size_bytes = 0;
  std::uint64_t checksum = 0;
};

struct StoreTotals {
  std::uint64_t sandboxes = 0;  // not destroyed
  std::uint64_t contexts = 0;
  std::uint64_t segments = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t contents = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t artifacts = 0;  // not deleted
  std::uint64_t artifact_bytes = 0;
};

class Store {
 public:
  virtual ~Store() = default;  // waits for queued transactions, then syncs

  // Fails with the reason of the first part that failed; nothing of the transaction is visible then.
  virtual boost::asio::awaitable<Result<void>> Commit(Transaction transaction) = 0;

  virtual std::int64_t NextSegmentId() = 0;
  virtual DataFiles& files() = 0;
  virtual ContentPins& pins() = 0;

  virtual Result<std::vector<ApiKeyRow>> ReadApiKeys() = 0;
  virtual Result<OrganizationRow> ReadOrganization() = 0;
  virtual Result<std::vector<ProjectRow>> ReadProjects() = 0;
  // Sums from `first_day` on, newest day first.
  virtual Result<std::vector<UsageRow>> ReadUsage(std::int64_t first_day) = 0;
  // All stored answers, oldest first.
  virtual Result<std::vector<AnswerInfo>> ReadAnswerInfos() = 0;
  virtual Result<std::optional<AnswerRow>> ReadAnswer(const Sha256Digest& scope) = 0;
  virtual Result<std::optional<SandboxRow>> ReadSandbox(std::string_view id) = 0;
  virtual Result<std::vector<SandboxRow>> ReadSandboxes(const SandboxQuery& query) = 0;
  // Not yet destroyed ones whose time has come.
  virtual Result<std::vector<std::string>> ReadExpiredSandboxes(std::int64_t now_ms,
                                                                std::uint32_t limit) = 0;
  // Not destroyed ones of a template that nobody has used since.
  virtual Result<std::vector<std::string>> ReadIdleSandboxes(std::string_view template_slug,
                                                             std::int64_t unused_since_ms,
                                                             std::uint32_t limit) = 0;
  virtual Result<std::vector<ContextRow>> ReadContexts(std::string_view sandbox_id) = 0;
  virtual Result<std::vector<GenerationRow>> ReadGenerations(std::string_view context_id) = 0;
  virtual Result<std::vector<EngineUse>> ReadEngineUses() = 0;
  // kCorrupt when one is missing. Checksums are the reader's business.
  virtual Result<std::vector<LoadedSegment>> ReadSegments(const std::vector<SegmentRef>& refs) = 0;
  virtual Result<std::vector<TreeEntry>> ReadTree(std::string_view sandbox_id) = 0;
  // The size of a content, if the store has it.
  virtual Result<std::optional<std::uint64_t>> ReadContentSize(const Sha256Digest& digest) = 0;
  // A readable descriptor of a content: a file, or sealed memory. kNotFound.
  virtual Result<FileDescriptor> OpenContent(const Sha256Digest& digest) = 0;
  virtual Result<std::optional<ArtifactRow>> ReadArtifact(std::string_view id) = 0;
  virtual Result<std::vector<ArtifactRow>> ReadArtifacts(const ArtifactQuery& query) = 0;
  // What a sandbox's artifacts that are not deleted count against its quota (ChargeOf).
  virtual Result<std::uint64_t> ReadArtifactCharge(std::string_view sandbox_id) = 0;
  // Not yet deleted ones whose retention is over.
  virtual Result<std::vector<ArtifactRow>> ReadExpiredArtifacts(std::int64_t now_ms,
                                                                std::uint32_t limit) = 0;
  // Tombstones from before `deleted_before_ms`.
  virtual Result<std::vector<std::string>> ReadOldTombstones(std::int64_t deleted_before_ms,
                                                             std::uint32_t limit) = 0;
  virtual Result<StoreTotals> ReadTotals() = 0;

  virtual Result<std::optional<WorkspaceRunRow>> ReadWorkspaceRun(std::string_view id) = 0;
  virtual Result<std::vector<WorkspaceRunRow>> ReadWorkspaceRuns(const WorkspaceRunQuery& query) = 0;
  // Those with a status between "started" and "ended".
  virtual Result<std::vector<WorkspaceRunRow>> ReadActiveWorkspaceRuns() = 0;
  // Ended before `ended_before_ms`.
  virtual Result<std::vector<std::string>> ReadOldWorkspaceRuns(std::int64_t ended_before_ms,
                                                                std::uint32_t limit) = 0;
  // Never started, and made before `created_before_ms`.
  virtual Result<std::vector<std::string>> ReadForgottenWorkspaceRuns(
      std::int64_t created_before_ms, std::uint32_t limit) = 0;
  // In order, those after `after_seq`.
  virtual Result<std::vector<WorkspaceRunEventRow>> ReadWorkspaceRunEvents(
      std::string_view run_id, std::int64_t after_seq, std::uint32_t limit) = 0;
  virtual Result<std::optional<WorkspaceUploadRow>> ReadWorkspaceUpload(std::string_view id) = 0;
  virtual Result<std::vector<WorkspaceUploadRow>> ReadWorkspaceUploads(std::string_view run_id) = 0;
  virtual Result<std::vector<WorkspaceUploadRow>> ReadExpiredWorkspaceUploads(
      std::int64_t now_ms, std::uint32_t limit) = 0;

  // Removes up to `limit` contents that nothing stored refers to and nobody pins. Returns how many.
  virtual boost::asio::awaitable<Result<std::size_t>> SweepContents(std::size_t limit) = 0;
  // Removes files that a crash left without a row. Blocks; meant for a background thread soon after the start.
  virtual Result<std::size_t> SweepOrphanFiles() = 0;
};

struct StoreOptions {
  std::filesystem::path directory;
  enum class Sync {
    kProcess,  // acknowledged before the sync, synced within a second
    kPower,    // synced before the acknowledgement
  };
  Sync sync = Sync::kProcess;
  // Tests stop the process at these steps of a commit: "begin", "applied", "synced", "committed", "acknowledged".
  std::function<void(std::string_view step)> step_hook;
};

// Opens or makes the SQLite store in `options.directory`. After a server that did not close it, every context is marked
// to take fresh randomness at its next start, since a run may have shown numbers that no snapshot knows of.
// kConflict: in use by another server, or written by a newer version.
Result<std::unique_ptr<Store>> OpenSqliteStore(StoreOptions options);

}  // namespace dormouse::store
