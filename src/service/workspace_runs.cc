// SPDX-License-Identifier: Apache-2.0
#include "service/workspace_runs.h"

#include <algorithm>
#include <array>

#include "common/utf8.h"
#include "service/command_line.h"
#include "service/ids.h"
#include "service/program_code.h"
#include "service/validation.h"
#include "service/workspace_run_job.h"

namespace dormouse::service {
namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxArtifacts = 64;
constexpr std::size_t kMaxArtifactText = 4'096;
constexpr std::size_t kMaxSourceMetadata = 16u << 10;
// How long a cancellation waits for the end of the run before it answers.
constexpr std::chrono::seconds kCancelPatience{10};

constexpr std::array<std::string_view, 9> kWorkspaceRunStatuses = {
    "awaiting_archive", "archive_uploaded", "starting",  "extracting", "running",
    "collecting",       "succeeded",        "failed",    "canceled"};

Error NoSuchRun() { return Error(ErrorCode::kNotFound, "there is no such workspace run"); }

Result<void> CheckArtifacts(const std::vector<WantedArtifact>& artifacts) {
  if (artifacts.size() > kMaxArtifacts) {
    return InvalidField("artifacts", "names more than " + std::to_string(kMaxArtifacts) + " files");
  }
  for (const WantedArtifact& wanted : artifacts) {
    for (const std::string& text : {wanted.path, wanted.name}) {
      if (text.size() > kMaxArtifactText || !IsValidUtf8(text) || text.find('\0') != std::string::npos) {
        return InvalidField("artifacts", "holds a path or name that is too long or not UTF-8");
      }
    }
    if (wanted.path.empty()) return InvalidField("artifacts", "holds an empty path");
  }
  return {};
}

}  // namespace

bool HasEnded(const WorkspaceRun& run) { return run.finished_ms.has_value(); }

std::vector<std::string> EnvKeysOf(const WorkspaceRun& run) {
  std::set<std::string> keys;
  const auto steps = ParsePrograms(run.command);
  if (!steps.ok()) return {};
  for (const CommandStep& step : *steps) {
    for (const auto& [name, value] : step.program.env) keys.insert(name);
  }
  return {keys.begin(), keys.end()};
}

std::optional<bool> OrchestrationSucceeded(const WorkspaceRun& run) {
  if (!HasEnded(run)) return std::nullopt;
  if (run.cleanup_status == "failed") return false;
  return run.status == "succeeded" || run.failure_class == "user_command";
}

bool IsWorkspaceRunStatus(std::string_view status) {
  return std::find(kWorkspaceRunStatuses.begin(), kWorkspaceRunStatuses.end(), status) != kWorkspaceRunStatuses.end();
}

WorkspaceRunService& ServiceImpl::workspace_runs() { return *workspace_runs_; }

WorkspaceRuns::StatePtr WorkspaceRuns::StateOf(const std::string& run_id) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<WorkspaceRunState>& known = states_[run_id];
  StatePtr state = known.lock();
  if (!state) known = state = std::make_shared<WorkspaceRunState>();
  return state;
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Read(std::string run_id) {
  if (!run_id.starts_with("wsr_") || run_id.size() > 64) co_return NoSuchRun();
  auto row = co_await OnPool(service_.pool_,
                             [this, &run_id] { return service_.store_->ReadWorkspaceRun(run_id); });
  if (!row.ok()) co_return std::move(row).error();
  if (!*row) co_return NoSuchRun();
  co_return **std::move(row);
}

bool WorkspaceRuns::Spawn(asio::awaitable<void> operation) {
  if (!service_.BeginOperation()) return false;
  service_.Launch(std::move(operation));
  return true;
}

std::shared_ptr<WorkspaceRunLog> WorkspaceRuns::MakeLog(StatePtr state, WorkspaceRun row) {
  WorkspaceRunLog::Options options;
  options.output_bytes = service_.config_.workspace_run_output_bytes;
  options.spawn = [this](asio::awaitable<void> operation) { return Spawn(std::move(operation)); };
  options.now_ms = [this] { return service_.NowMs(); };
  return std::make_shared<WorkspaceRunLog>(*service_.store_, std::move(state), std::move(row),
                                           std::move(options));
}

WorkspaceRuns::Task<void> WorkspaceRuns::CheckAccess(Caller caller, std::string run_id) {
  if (!caller.IsRestricted()) co_return Result<void>();
  DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(std::move(run_id)));
  if (caller.MaySee(row.project_id)) co_return Result<void>();
  co_return NoSuchRun();
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Create(CreateWorkspaceRun request) {
  DORMOUSE_CO_TRY(CheckMetadata(request.metadata));
  DORMOUSE_CO_TRY(CheckArtifacts(request.artifacts));
  if (request.source_metadata.size() > kMaxSourceMetadata) {
    co_return InvalidField("sourceMetadata", "has more than " + std::to_string(kMaxSourceMetadata) + " bytes");
  }
  DORMOUSE_CO_ASSIGN(const Template* const preset,
                     service_.templates_.Choose(request.template_slug, request.template_version_id));
  const std::int64_t most = service_.config_.max_timeout.count();
  if (request.timeout_ms && (*request.timeout_ms < 1 || *request.timeout_ms > most)) {
    co_return InvalidField("timeoutMs", "must be from 1 to " + std::to_string(most));
  }
  DORMOUSE_CO_ASSIGN(const std::vector<CommandStep> steps, ParsePrograms(request.command));
  for (const CommandStep& step : steps) {
    if (step.is_change) continue;
    DORMOUSE_CO_TRY(CheckEnvironment({step.program.env.begin(), step.program.env.end()}));
    DORMOUSE_CO_TRY(service_.bindings()->ByLanguage(CodeOf(step.program).language));
  }
  if (!request.sandbox_id.empty()) {
    DORMOUSE_CO_TRY(co_await service_.CheckAccess(request.caller, request.sandbox_id));
    DORMOUSE_CO_ASSIGN(const SandboxPtr sandbox, co_await service_.FindLiveSandbox(request.sandbox_id));
    if (!request.project_id.empty() && request.project_id != sandbox->project_id) {
      co_return InvalidField("projectId", "is not the project of the sandbox");
    }
    request.project_id = sandbox->project_id;
  }
  DORMOUSE_CO_ASSIGN(request.project_id, service_.ChooseProject(request.caller, request.project_id));
  WorkspaceRun row;
  row.id = NewWorkspaceRunId();
  row.org_id = service_.organization_.id;
  row.project_id = std::move(request.project_id);
  row.command = std::move(request.command);
  row.template_id = preset->id;
  row.template_slug = preset->slug;
  row.template_version = preset->version;
  row.template_version_id = preset->version_id;
  row.owns_sandbox = request.sandbox_id.empty();
  row.sandbox_id = std::move(request.sandbox_id);
  row.keep_sandbox = request.keep_sandbox;
  row.metadata = std::move(request.metadata);
  row.source_metadata = std::move(request.source_metadata);
  row.artifacts = std::move(request.artifacts);
  row.timeout_ms = request.timeout_ms;
  row.created_ms = service_.NowMs();
  co_return co_await service_.Detach(CreateNow(std::move(row), std::move(request.answer)));
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::CreateNow(WorkspaceRun row,
                                                           Answerer<WorkspaceRun> answer) {
  const auto log = MakeLog(StateOf(row.id), row);
  log->SetStatus("awaiting_archive");
  store::Transaction transaction;
  if (answer) service_.answers_.AddTo(transaction, answer(log->row()), row.created_ms);
  DORMOUSE_CO_TRY(co_await log->Flush(std::move(transaction)));
  co_return log->row();
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Get(std::string run_id) {
  return Read(std::move(run_id));
}

WorkspaceRuns::Task<Paged<WorkspaceRun>> WorkspaceRuns::List(ListWorkspaceRuns request) {
  DORMOUSE_CO_TRY(CheckPage(request.page));
  if (!request.status.empty() && !IsWorkspaceRunStatus(request.status)) {
    co_return InvalidField("status", "is not one that workspace runs have");
  }
  store::WorkspaceRunQuery query;
  query.project_id = request.project_id;
  if (request.caller.IsRestricted()) query.project_ids = request.caller.grants->project_ids;
  query.status = request.status;
  query.metadata = request.metadata;
  query.limit = request.page.limit + 1;  // one more tells whether there is a next page
  if (!request.page.cursor.empty()) {
    DORMOUSE_CO_ASSIGN(query.after, DecodeCursor(request.page.cursor));
  }
  auto rows = co_await OnPool(service_.pool_,
                              [this, &query] { return service_.store_->ReadWorkspaceRuns(query); });
  if (!rows.ok()) co_return std::move(rows).error();
  Paged<WorkspaceRun> page;
  page.items = std::move(*rows);
  if (page.items.size() > request.page.limit) {
    page.items.pop_back();
    page.next_cursor = EncodeCursor(page.items.back().created_ms, page.items.back().id);
  }
  co_return page;
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Start(std::string run_id) {
  DORMOUSE_CO_ASSIGN(WorkspaceRun row, co_await Read(run_id));
  if (row.started_ms) co_return row;
  if (service_.stopping_) co_return Error(ErrorCode::kUnavailable, "the server is shutting down");
  StatePtr state = StateOf(run_id);
  co_return co_await service_.Detach(StartNow(std::move(run_id), std::move(state)));
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::StartNow(std::string run_id, StatePtr state) {
  FifoMutex::Guard turn = co_await state->lock.Lock();
  DORMOUSE_CO_ASSIGN(WorkspaceRun row, co_await Read(run_id));
  if (row.started_ms) co_return row;
  if (HasEnded(row)) {
    co_return Error(ErrorCode::kConflict, "the workspace run is " + row.status + " and cannot be started");
  }
  if (!row.archive) {
    co_return Error(ErrorCode::kUploadIncomplete, "the archive of the workspace run is not uploaded yet");
  }
  row.started_ms = service_.NowMs();
  const auto log = MakeLog(state, std::move(row));
  log->SetStatus("starting");
  DORMOUSE_CO_TRY(co_await log->Flush());
  auto job = std::make_shared<WorkspaceRunJob>(*this, service_, state, log);
  (void)Spawn([](std::shared_ptr<WorkspaceRunJob> self, FifoMutex::Guard held) -> asio::awaitable<void> {
    co_await self->Run();
    held.Release();
  }(job, std::move(turn)));
  co_return log->row();
}

void WorkspaceRuns::RequestStop(const StatePtr& state) {
  std::string sandbox_id;
  std::string context_id;
  std::shared_ptr<Event> waiting;
  {
    const std::lock_guard lock(state->mutex);
    state->cancel_requested = true;
    sandbox_id = state->sandbox_id;
    context_id = state->context_id;
    waiting = state->waiting;
  }
  if (waiting) {
    {
      const std::lock_guard lock(mutex_);
      std::erase(queue_, state);
    }
    waiting->Set();
  }
  if (context_id.empty()) return;
  // The context is the run's own: deleting it stops what runs there, by force if need be.
  Spawn([](ServiceImpl& service, std::string sandbox, std::string context) -> asio::awaitable<void> {
    (void)co_await service.DeleteContext(std::move(sandbox), std::move(context));
  }(service_, std::move(sandbox_id), std::move(context_id)));
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::Cancel(std::string run_id) {
  DORMOUSE_CO_ASSIGN(WorkspaceRun row, co_await Read(run_id));
  if (HasEnded(row)) co_return row;
  StatePtr state = StateOf(run_id);
  RequestStop(state);
  if (!row.started_ms) co_return co_await service_.Detach(CancelUnstarted(std::move(run_id), std::move(state)));
  const SteadyClock::time_point deadline = SteadyClock::now() + kCancelPatience;
  while (!service_.stopping_) {
    Signal::Listener listener = state->changed.Listen();
    DORMOUSE_CO_ASSIGN(row, co_await Read(run_id));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (HasEnded(row) || left.count() <= 0) break;
    co_await listener.WaitFor(left);
  }
  co_return row;
}

WorkspaceRuns::Task<store::Transaction> WorkspaceRuns::DropArchive(WorkspaceRun& row) {
  row.archive_stored = false;
  auto uploads = co_await OnPool(
      service_.pool_, [this, &row] { return service_.store_->ReadWorkspaceUploads(row.id); });
  if (!uploads.ok()) co_return std::move(uploads).error();
  store::Transaction transaction;
  for (const store::WorkspaceUploadRow& upload : *uploads) {
    transaction.dropped_workspace_uploads.push_back(upload.id);
  }
  co_return transaction;
}

WorkspaceRuns::Task<WorkspaceRun> WorkspaceRuns::CancelUnstarted(std::string run_id, StatePtr state) {
  const FifoMutex::Guard turn = co_await state->lock.Lock();
  DORMOUSE_CO_ASSIGN(WorkspaceRun row, co_await Read(run_id));
  if (HasEnded(row)) co_return row;
  row.failure_class = "canceled";
  row.cleanup_status = "not_requested";
  row.finished_ms = service_.NowMs();
  DORMOUSE_CO_ASSIGN(store::Transaction transaction, co_await DropArchive(row));
  const auto log = MakeLog(state, std::move(row));
  log->SetStatus("canceled");
  store::WorkspaceRunEventRow terminal;
  terminal.type = "terminal";
  log->Add(std::move(terminal));
  DORMOUSE_CO_TRY(co_await log->Flush(std::move(transaction)));
  co_return log->row();
}

WorkspaceRuns::Task<WorkspaceRunEvents> WorkspaceRuns::Events(std::string run_id,
                                                              std::int64_t after_seq,
                                                              std::uint32_t limit) {
  DORMOUSE_CO_TRY(co_await Read(run_id));
  auto rows = co_await OnPool(service_.pool_, [&, this] {
    return service_.store_->ReadWorkspaceRunEvents(run_id, after_seq, limit + 1);
  });
  if (!rows.ok()) co_return std::move(rows).error();
  WorkspaceRunEvents events{std::move(*rows), false};
  if (events.items.size() > limit) {
    events.items.pop_back();
    events.has_more = true;
  }
  co_return events;
}

WorkspaceRuns::Task<WorkspaceRunEvents> WorkspaceRuns::WaitForEvents(
    std::string run_id, std::int64_t after_seq, std::uint32_t limit,
    std::chrono::milliseconds patience) {
  const SteadyClock::time_point deadline = SteadyClock::now() + patience;
  const StatePtr state = StateOf(run_id);
  while (true) {
    Signal::Listener listener = state->changed.Listen();
    DORMOUSE_CO_ASSIGN(WorkspaceRunEvents events, co_await Events(run_id, after_seq, limit));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (!events.items.empty() || left.count() <= 0 || service_.stopping_) co_return events;
    DORMOUSE_CO_ASSIGN(const WorkspaceRun row, co_await Read(run_id));
    if (HasEnded(row)) co_return co_await Events(run_id, after_seq, limit);
    co_await listener.WaitFor(left);
  }
}

asio::awaitable<bool> WorkspaceRuns::TakeTurn(StatePtr state) {
  auto granted = std::make_shared<Event>();
  {
    const std::scoped_lock lock(mutex_, state->mutex);
    if (state->cancel_requested || service_.stopping_) co_return false;
    if (turns_ < service_.config_.workspace_runs_at_once) {
      ++turns_;
      co_return true;
    }
    state->waiting = granted;
    queue_.push_back(state);
  }
  co_await granted->Wait();
  const std::lock_guard lock(state->mutex);
  // A turn that was given is taken, so that it is given back; who was canceled first has none.
  co_return std::exchange(state->waiting, nullptr) == nullptr;
}

void WorkspaceRuns::ReleaseTurn() {
  std::shared_ptr<Event> next;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) {
      --turns_;
      return;
    }
    const StatePtr state = std::move(queue_.front());
    queue_.pop_front();
    const std::lock_guard state_lock(state->mutex);
    next = std::exchange(state->waiting, nullptr);
  }
  next->Set();
}

bool WorkspaceRuns::ClaimSandbox(const std::string& sandbox_id) {
  const std::lock_guard lock(mutex_);
  return busy_sandboxes_.insert(sandbox_id).second;
}

void WorkspaceRuns::ReleaseSandbox(const std::string& sandbox_id) {
  const std::lock_guard lock(mutex_);
  busy_sandboxes_.erase(sandbox_id);
}

}  // namespace dormouse::service
