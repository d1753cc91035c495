// SPDX-License-Identifier: Apache-2.0
// Taking a run's outcome into the store: memory and files in one transaction, or neither.
//
// When that fails the result is delivered all the same, with `stale` and the reason, and the context keeps its worker: it goes
// on with what it has in memory, and nobody else sees its files. Its newest generation is marked stale until a later run is
// saved, which then brings along the files and a whole base. Such a context is not evicted for lack of memory or use. If its
// worker ends before that, the context is back at its newest generation, memory and files alike.
//
// A worker whose report is malformed is not trusted further: it is ended, and the run is rolled back.
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include "service/service_impl.h"
#include "service/usage.h"
#include "workspace/draft.h"
#include "workspace/file_operations.h"
#include "workspace/path.h"

namespace dormouse::service {
namespace {

using scheduler::FileChange;
using scheduler::FileKind;
using scheduler::RunStatus;
using scheduler::StateOutcome;

constexpr std::size_t kMaxListedFiles = 1'000;

// kCorrupt tells Settle that the worker has gone wrong.
Error BadOutcome(std::string what) {
  return Error(ErrorCode::kCorrupt, "the worker's report is malformed: " + std::move(what));
}

Result<std::uint64_t> ChecksumOfFile(int fd, std::uint64_t size_bytes) {
  struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_64bits_reset(state.get());
  std::vector<char> chunk(256u << 10);
  std::uint64_t offset = 0;
  while (offset < size_bytes) {
    const ssize_t got = ::pread(fd, chunk.data(), chunk.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read a segment", errno);
    if (got == 0) break;
    XXH3_64bits_update(state.get(), chunk.data(), static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return static_cast<std::uint64_t>(XXH3_64bits_digest(state.get()));
}

// Which files of `changes` differ from the tree in more than metadata, for the client to know.
void NoteFiles(const workspace::Tree& tree, const workspace::RunChanges& changes, RunResult& result) {
  for (const workspace::TreeEntry& entry : changes.upserts) {
    if (result.files_written.size() == kMaxListedFiles) break;
    if (entry.kind == FileKind::kDirectory) continue;
    const workspace::TreeEntry* old = tree.Find(entry.path);
    const bool same = old != nullptr && old->kind == entry.kind && old->digest == entry.digest &&
                      old->target == entry.target;
    if (!same) result.files_written.push_back(workspace::AbsolutePath(entry.path));
  }
  for (const std::string& path : changes.deletions) {
    if (result.files_deleted.size() == kMaxListedFiles) break;
    result.files_deleted.push_back(workspace::AbsolutePath(path));
  }
}

}  // namespace

Result<void> ServiceImpl::PrepareSegment(scheduler::SnapshotDelta& snapshot,
                                         const BindingEntry& binding, RunEffects& effects) {
  scheduler::Segment& segment = snapshot.segment;
  const std::uint64_t most = binding.info.max_memory_bytes + config_.tmp_bytes + (64ull << 20);
  if (segment.size_bytes == 0 || segment.size_bytes > most) return BadOutcome("a segment's size");
  store::SegmentRow row;
  row.id = store_->NextSegmentId();
  row.size_bytes = segment.size_bytes;
  row.checksum = segment.checksum;
  if (!segment.file.valid()) {
    if (segment.bytes.size() != segment.size_bytes ||
        XXH3_64bits(segment.bytes.data(), segment.bytes.size()) != segment.checksum) {
      return BadOutcome("a segment's checksum");
    }
    if (segment.bytes.size() <= store::kInlineSegmentBytes) {
      row.bytes = std::move(segment.bytes);
      effects.segment = std::move(row);
      return {};
    }
    DORMOUSE_ASSIGN(segment.file, store_->files().CreateTemporary());
    if (::pwrite(segment.file.get(), segment.bytes.data(), segment.bytes.size(), 0) !=
        static_cast<ssize_t>(segment.bytes.size())) {
      return SystemError("write a segment", errno);
    }
  } else {
    struct stat status {};
    if (::fstat(segment.file.get(), &status) != 0) return SystemError("fstat", errno);
    if (static_cast<std::uint64_t>(status.st_size) != segment.size_bytes) {
      return BadOutcome("a segment's size");
    }
    DORMOUSE_ASSIGN(const std::uint64_t checksum,
                    ChecksumOfFile(segment.file.get(), segment.size_bytes));
    if (checksum != segment.checksum) return BadOutcome("a segment's checksum");
  }
  DORMOUSE_ASSIGN(effects.segment_file, store_->files().Place(store::DataFileKind::kSegment,
                                                              std::move(segment.file)));
  row.file = effects.segment_file->name();
  effects.segment = std::move(row);
  return {};
}

Result<ServiceImpl::RunEffects> ServiceImpl::PrepareBlocking(const RunJob& job,
                                                             scheduler::RunOutcome& outcome) {
  RunEffects effects;
  // What hashing may cost: files made of holes cost their guest nothing.
  std::uint64_t room_bytes = config_.workspace_bytes;
  for (FileChange& change : outcome.changes) {
    workspace::TreeEntry entry = std::move(change.entry);
    const bool is_file = entry.kind == FileKind::kFile;
    if (is_file == (change.content == FileChange::Content::kNone)) return BadOutcome("a change's content");
    if (change.content == FileChange::Content::kUnchanged) {
      // Only what this workspace had: a hash alone must not open other sandboxes' files.
      if (!job.context->mirror->MayRead(entry.digest)) return BadOutcome("a content it does not have");
      workspace::StagedContent content;
      content.digest = entry.digest;
      content.pin = store_->pins().Acquire(entry.digest).pin;
      DORMOUSE_ASSIGN(const auto size, store_->ReadContentSize(entry.digest));
      if (!size) return BadOutcome("a content it does not have");
      entry.size_bytes = *size;
      effects.contents.push_back(std::move(content));
    } else if (is_file) {
      DORMOUSE_ASSIGN(workspace::StagedContent content,
                      change.content == FileChange::Content::kBytes
                          ? contents_.Stage(change.bytes)
                          : contents_.StageFile(change.file.get(), room_bytes));
      room_bytes -= std::min(room_bytes, content.size_bytes);
      entry.digest = content.digest;
      entry.size_bytes = content.size_bytes;
      effects.contents.push_back(std::move(content));
    }
    effects.changes.upserts.push_back(std::move(entry));
  }
  effects.changes.deletions = std::move(outcome.deletions);
  const Result<void> legal = workspace::CheckRunChanges(effects.changes);
  if (!legal.ok()) return BadOutcome(legal.error().message);
  if (outcome.snapshot && job.binding->info.contexts) {
    DORMOUSE_TRY(PrepareSegment(*outcome.snapshot, *job.binding, effects));
  }
  return effects;
}

ServiceImpl::Task<ServiceImpl::RunEffects> ServiceImpl::Prepare(const RunJob& job,
                                                                scheduler::RunOutcome& outcome) {
  // A small snapshot and no files, the usual case, is not worth a trip to another thread.
  const bool small = outcome.changes.empty() &&
                     (!outcome.snapshot || !outcome.snapshot->segment.file.valid());
  if (small) co_return PrepareBlocking(job, outcome);
  co_return co_await OnPool(pool_, [this, &job, &outcome] { return PrepareBlocking(job, outcome); });
}

store::GenerationRow ServiceImpl::NextGeneration(const ContextState& context,
                                                 const store::ContextRow& row,
                                                 const scheduler::SnapshotDelta& snapshot,
                                                 const store::SegmentRow& segment,
                                                 const std::string& engine_build) const {
  store::GenerationRow generation;
  // Also above those that a missing engine hides.
  generation.number = 1 + (context.generations.empty() ? row.generation
                                                       : context.generations.back().number);
  generation.executions = row.executions;
  generation.engine_build = engine_build;
  if (!snapshot.base) generation.segments = context.resident_segments;
  generation.segments.push_back({segment.id, segment.size_bytes});
  for (const store::SegmentRef& ref : generation.segments) generation.stored_bytes += ref.size_bytes;
  generation.live_pages = snapshot.live_pages;
  generation.taken_ms = NowMs();
  return generation;
}

ServiceImpl::Task<void> ServiceImpl::CommitEffects(RunJob& job, const scheduler::RunOutcome& outcome,
                                                   RunEffects effects, RunResult& result) {
  ContextState& context = *job.context;
  store::Transaction transaction;
  store::ContextRow row = context.row;
  std::vector<store::GenerationRow> generations = context.generations;
  row.executions = result.execution_count;
  row.last_used_ms = NowMs();
  row.stale_reason.clear();
  if (effects.segment) {
    row.reseed = false;
    generations.push_back(NextGeneration(context, row, *outcome.snapshot, *effects.segment,
                                         context.resident_build));
    row.generation = generations.back().number;
    transaction.generations.emplace_back(row.id, generations.back());
    const auto outdated = [installed = bindings()](const store::GenerationRow& generation) {
      return !installed->IsInstalled(generation.engine_build);
    };
    // The oldest go, and those that no engine can read any more. Not the one of this run, also if its engine was removed
    // while the worker lived.
    while (generations.size() > config_.generations_kept ||
           (generations.size() > 1 && outdated(generations.front()))) {
      transaction.dropped_generations.emplace_back(row.id, generations.front().number);
      generations.erase(generations.begin());
    }
    transaction.segments.push_back(std::move(*effects.segment));
    if (effects.segment_file) transaction.files.push_back(std::move(*effects.segment_file));
  }
  transaction.contexts.push_back(row);
  transaction.touched.push_back({job.sandbox->id, "", row.last_used_ms});
  for (workspace::StagedContent& content : effects.contents) std::move(content).AddTo(transaction);
  if (job.artifacts) job.artifacts->AddTo(transaction);

  FifoMutex::Guard tree_turn;
  std::shared_ptr<workspace::Workspace> workspace;
  store::TreeChange change;
  if (!effects.changes.empty()) {
    DORMOUSE_CO_ASSIGN(workspace, co_await LoadWorkspace(job.sandbox));
    tree_turn = co_await job.sandbox->tree_lock.Lock();
    NoteFiles(workspace->Current(), effects.changes, result);
    workspace::Draft draft(workspace->Current());
    workspace::MergeRun(draft, std::move(effects.changes), row.last_used_ms * 1'000'000);
    DORMOUSE_CO_TRY(workspace::CheckQuota(workspace->Current().totals(), draft.totals(),
                                          {config_.workspace_bytes, config_.workspace_files}));
    change = draft.Change(job.sandbox->id);
    transaction.trees.push_back(change);
  }
  // What leaves the tree is pinned until the workspace holds its own pins.
  std::vector<store::ContentPin> pins;
  if (workspace) pins = workspace->PinsFor(change);
  if (job.binding->info.contexts && outcome.snapshot) {
    result.snapshot_ms = outcome.snapshot_us / 1e3;
    result.snapshot_bytes = transaction.generations.back().second.segments.back().size_bytes;
  }
  result.generation = row.generation;
  AddAccount(job, result, transaction);
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  job.answered = true;
  if (workspace) workspace->Applied(change);
  if (job.artifacts) job.artifacts->Committed();
  {
    const std::lock_guard lock(job.sandbox->mutex);
    job.sandbox->row.last_used_ms = row.last_used_ms;
  }
  const std::lock_guard lock(context.mutex);
  context.row = std::move(row);
  context.generations = std::move(generations);
  if (job.binding->info.contexts && outcome.snapshot) {
    context.resident_segments = context.generations.back().segments;
    context.needs_base = false;
  }
  co_return Result<void>();
}

void ServiceImpl::AddAccount(const RunJob& job, const RunResult& result,
                             store::Transaction& transaction) {
  const std::string& project_id = job.sandbox->project_id;
  const std::int64_t now_ms = NowMs();
  transaction.usage.push_back(UsageOf(project_id, metric::kCodeRuns, 1, now_ms));
  transaction.usage.push_back(UsageOf(project_id, metric::kComputeSeconds,
                                      std::llround(result.duration_ms), now_ms));
  if (job.request.answer) answers_.AddTo(transaction, job.request.answer(result), now_ms);
}

boost::asio::awaitable<void> ServiceImpl::CommitCount(RunJob& job, std::string stale_reason,
                                                      RunResult& result) {
  ContextState& context = *job.context;
  store::ContextRow row = context.row;
  row.executions = result.execution_count;
  row.last_used_ms = NowMs();
  if (result.state == StateOutcome::kRolledBack) {
    // What is there is the newest generation.
    row.stale_reason.clear();
  } else if (!stale_reason.empty()) {
    row.stale_reason = std::move(stale_reason);
    // Whoever starts from the newest generation now repeats what this memory has drawn.
    row.reseed = true;
  }
  store::Transaction transaction;
  transaction.contexts.push_back(row);
  transaction.touched.push_back({job.sandbox->id, "", row.last_used_ms});
  result.generation = row.generation;
  AddAccount(job, result, transaction);
  const Result<void> committed = co_await store_->Commit(std::move(transaction));
  job.answered = committed.ok();
  if (!committed.ok()) {
    spdlog::warn("the count of {} could not be stored: {}", context.id, committed.error().message);
  }
  // In memory all the same: the next commit stores it.
  const std::lock_guard lock(context.mutex);
  context.row = std::move(row);
}

boost::asio::awaitable<void> ServiceImpl::Settle(RunJob& job, scheduler::RunOutcome outcome,
                                                 RunResult& result) {
  if (job.stateless) co_return co_await Discard(job, result);
  ContextState& context = *job.context;
  const bool durable = job.binding->info.contexts;
  // Of the runs before this one.
  const bool unsaved = context.HasUnsavedMemory();
  Result<void> saved = Error(ErrorCode::kInternal, "");
  if (result.state == StateOutcome::kKept) {
    saved = co_await Save(job, outcome, result);
    if (!saved.ok()) ReportUnsaved(saved.error(), durable, result);
  }
  const std::shared_ptr<scheduler::Worker> worker = context.worker;
  const bool alive = worker && worker->alive();
  // A worker that died has taken along what was not saved.
  if (!saved.ok() && !alive) result.state = StateOutcome::kRolledBack;
  if (!saved.ok()) {
    if (result.state == StateOutcome::kRolledBack) {
      result.state_lost = result.state_lost || unsaved;
      DropWorker(context, Memory::kLost);
    } else {
      context.needs_base = true;
    }
    WithdrawArtifacts(job, result);
    co_await CommitCount(job, result.stale_reason, result);
  } else if (!durable || !alive) {
    DropWorker(context, Memory::kSaved);
  }
  if (context.worker) {
    residency_.Use(job.context, worker->resident_bytes(), std::chrono::steady_clock::now());
  }
  result.generation = context.row.generation;
}

ServiceImpl::Task<void> ServiceImpl::Save(RunJob& job, scheduler::RunOutcome& outcome,
                                          RunResult& result) {
  const bool durable = job.binding->info.contexts;
  if (!outcome.snapshot_error.empty()) co_return Error(ErrorCode::kInternal, outcome.snapshot_error);
  if (durable && !outcome.snapshot) co_return Error(ErrorCode::kInternal, "the worker took no snapshot");
  if (durable && job.context->needs_base && !outcome.snapshot->base) {
    co_return BadOutcome("a snapshot that builds on one that was lost");
  }
  if (job.artifacts && job.artifacts->has_captured()) {
    co_await OnPool(pool_, [&job, &result] {
      job.artifacts->FinishStreams(result);
      return true;
    });
  }
  DORMOUSE_CO_ASSIGN(RunEffects effects, co_await Prepare(job, outcome));
  co_return co_await CommitEffects(job, outcome, std::move(effects), result);
}

void ServiceImpl::ReportUnsaved(const Error& error, bool durable, RunResult& result) {
  metrics_.CommitFailed();
  spdlog::warn("run {} in {} could not be saved: {}", result.run_id, result.context_id, error.message);
  result.stale = true;
  result.stale_reason = error.message;
  result.snapshot_ms = 0;
  result.snapshot_bytes = 0;
  result.files_written.clear();
  result.files_deleted.clear();
  if (durable && error.code != ErrorCode::kCorrupt) return;
  result.state = StateOutcome::kRolledBack;
  if (result.error) return;
  // The run itself ended well, but it might as well not have run.
  result.status = RunStatus::kError;
  result.error.emplace();
  result.error->name = "StorageError";
  result.error->message = "The effects of the run could not be saved: " + error.message;
}

}  // namespace dormouse::service
