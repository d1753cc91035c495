// SPDX-License-Identifier: Apache-2.0
// Workspace runs that nobody drives any more: left behind by a server that died, never started, or long over.
#include <spdlog/spdlog.h>

#include "service/workspace_run_job.h"
#include "service/workspace_runs.h"

namespace dormouse::service {
namespace {

namespace asio = boost::asio;

constexpr std::uint32_t kRunsAtOnce = 20;
constexpr std::uint32_t kGiveUpAtOnce = 20;
constexpr std::uint32_t kUploadsAtOnce = 100;
// A run that nobody starts.
constexpr std::chrono::hours kUnstartedKept{24};

}  // namespace

void WorkspaceRuns::Recover() {
  Result<std::vector<WorkspaceRun>> rows = service_.store_->ReadActiveWorkspaceRuns();
  if (!rows.ok()) {
    spdlog::error("cannot look for interrupted workspace runs: {}", rows.error().message);
    return;
  }
  for (WorkspaceRun& row : *rows) Spawn(EndAbandoned(std::move(row)));
}

asio::awaitable<void> WorkspaceRuns::EndAbandoned(WorkspaceRun row) {
  const StatePtr state = StateOf(row.id);
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  row.cleanup_status = "not_requested";
  if (row.owns_sandbox && !row.keep_sandbox && !row.sandbox_id.empty()) {
    const Result<Sandbox> destroyed = co_await service_.DestroySandbox(row.sandbox_id);
    row.cleanup_status = destroyed.ok() ? "succeeded" : "failed";
  } else if (!row.sandbox_id.empty()) {
    const Result<Paged<Context>> contexts = co_await service_.ListContexts(row.sandbox_id, {500, ""});
    if (contexts.ok()) {
      for (const Context& context : contexts->items) {
        if (context.name != ContextNameOf(row.id)) continue;
        (void)co_await service_.DeleteContext(row.sandbox_id, context.id);
      }
    }
  }
  if (service_.stopping_) co_return;
  row.failure_reason = "internal_error";
  row.failure_class = "platform";
  row.finished_ms = service_.NowMs();
  Result<store::Transaction> transaction = co_await DropArchive(row);
  const auto log = MakeLog(state, std::move(row));
  // Not an `error` event: clients take that for the end, and the run's own end comes right after this.
  log->AddText("stderr", "dormouse: the server stopped while the run was going on\n");
  log->SetStatus("failed");
  store::WorkspaceRunEventRow terminal;
  terminal.type = "terminal";
  log->Add(std::move(terminal));
  const Result<void> stored =
      co_await log->Flush(transaction.ok() ? std::move(*transaction) : store::Transaction());
  if (!stored.ok()) spdlog::error("an interrupted workspace run could not be ended: {}", stored.error().message);
}

void WorkspaceRuns::Close() {
  std::vector<StatePtr> states;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, known] : states_) {
      if (StatePtr state = known.lock()) states.push_back(std::move(state));
    }
    for (const StatePtr& state : queue_) {
      const std::lock_guard state_lock(state->mutex);
      if (state->waiting) state->waiting->Set();
    }
    queue_.clear();
  }
  for (const StatePtr& state : states) state->changed.Notify();
}

asio::awaitable<void> WorkspaceRuns::Sweep() {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(states_, [](const auto& known) { return known.second.expired(); });
  }
  co_await ExpireUploads();
  co_await GiveUpForgottenRuns();
  co_await DropOldRuns();
}

asio::awaitable<void> WorkspaceRuns::DropOldRuns() {
  const std::int64_t before_ms = service_.NowMs() - service_.config_.workspace_run_kept.count();
  auto old = co_await OnPool(service_.pool_, [this, before_ms] {
    return service_.store_->ReadOldWorkspaceRuns(before_ms, kRunsAtOnce);
  });
  if (!old.ok() || old->empty()) co_return;
  store::Transaction transaction;
  transaction.dropped_workspace_runs = std::move(*old);
  const Result<void> dropped = co_await service_.store_->Commit(std::move(transaction));
  if (!dropped.ok()) spdlog::warn("old workspace runs could not be dropped: {}", dropped.error().message);
}

asio::awaitable<void> WorkspaceRuns::GiveUp(std::string run_id) {
  const StatePtr state = StateOf(run_id);
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  Result<WorkspaceRun> row = co_await Read(std::move(run_id));
  if (!row.ok() || row->started_ms || HasEnded(*row)) co_return;
  row->failure_reason = "upload_missing";
  row->failure_class = "user_input";
  row->cleanup_status = "not_requested";
  row->finished_ms = service_.NowMs();
  Result<store::Transaction> transaction = co_await DropArchive(*row);
  if (!transaction.ok()) co_return;
  const auto log = MakeLog(state, std::move(*row));
  log->SetStatus("failed");
  store::WorkspaceRunEventRow terminal;
  terminal.type = "terminal";
  log->Add(std::move(terminal));
  (void)co_await log->Flush(std::move(*transaction));
}

asio::awaitable<void> WorkspaceRuns::GiveUpForgottenRuns() {
  const std::int64_t before_ms =
      service_.NowMs() - std::chrono::milliseconds(kUnstartedKept).count();
  const auto forgotten = co_await OnPool(service_.pool_, [this, before_ms] {
    return service_.store_->ReadForgottenWorkspaceRuns(before_ms, kGiveUpAtOnce);
  });
  if (!forgotten.ok()) co_return;
  for (const std::string& id : *forgotten) co_await GiveUp(id);
}

asio::awaitable<void> WorkspaceRuns::ExpireUploads() {
  const std::int64_t now_ms = service_.NowMs();
  auto expired = co_await OnPool(service_.pool_, [this, now_ms] {
    return service_.store_->ReadExpiredWorkspaceUploads(now_ms, kUploadsAtOnce);
  });
  if (!expired.ok()) co_return;
  for (store::WorkspaceUploadRow& upload : *expired) {
    const StatePtr state = StateOf(upload.run_id);
    const auto turn = state->lock.TryLock();
    if (!turn) continue;  // next time
    const auto now = co_await OnPool(service_.pool_, [this, &upload] {
      return service_.store_->ReadWorkspaceUpload(upload.id);
    });
    if (!now.ok() || !*now || (*now)->status == "finalized") continue;
    upload.status = "expired";
    store::Transaction transaction;
    transaction.workspace_uploads.push_back(std::move(upload));
    (void)co_await service_.store_->Commit(std::move(transaction));
  }
}

}  // namespace dormouse::service
