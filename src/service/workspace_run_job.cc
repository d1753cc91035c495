// SPDX-License-Identifier: Apache-2.0
#include "service/workspace_run_job.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "service/program_code.h"

namespace dormouse::service {
namespace {

namespace asio = boost::asio;
using scheduler::RunStatus;
using SteadyClock = std::chrono::steady_clock;

// As a shell reports processes that a signal ended: 128 and its number.
constexpr std::int64_t kExitInterrupted = 130;
constexpr std::int64_t kExitOutOfMemory = 137;
constexpr std::int64_t kExitCrashed = 139;
// Times that a program may put off its end.
constexpr int kMaxEndings = 1'000;
constexpr std::int64_t kExitCpuLimit = 152;

}  // namespace

std::string ContextNameOf(const std::string& run_id) { return "workspace-run " + run_id; }

WorkspaceRunJob::End WorkspaceRunJob::Failed(std::string reason, std::string failure_class) {
  return End{"failed", std::move(reason), std::move(failure_class), std::nullopt};
}

WorkspaceRunJob::MaybeEnd WorkspaceRunJob::EndIfCanceled() {
  if (!state_->IsCanceled()) return std::nullopt;
  return End{"canceled", "", "canceled", std::nullopt};
}

WorkspaceRunJob::End WorkspaceRunJob::EndAtDeadline() {
  log_->AddText("stderr", "dormouse: stopped at the time limit\n");
  return Failed("timeout", "user_command");
}

asio::awaitable<Result<void>> WorkspaceRunJob::EnterStatus(std::string_view status) {
  log_->SetStatus(status);
  return log_->Flush();
}

asio::awaitable<void> WorkspaceRunJob::Run() {
  const bool has_turn = co_await runs_.TakeTurn(state_);
  End end{"canceled", "", "canceled", std::nullopt};
  if (has_turn) {
    try {
      end = co_await RunInTurn();
    } catch (const std::exception& exception) {
      spdlog::error("a workspace run failed: {}", exception.what());
      end = Failed("internal_error", "platform");
    }
  }
  // Whatever went wrong now went wrong because of the stop. The next start ends the run.
  if (!service_.stopping_) co_await Finish(std::move(end));
  if (has_claim_) runs_.ReleaseSandbox(sandbox_id_);
  if (has_turn) runs_.ReleaseTurn();
}

asio::awaitable<WorkspaceRunJob::End> WorkspaceRunJob::RunInTurn() {
  const store::WorkspaceRunRow row = log_->row();
  deadline_ = SteadyClock::now() +
              (row.timeout_ms ? std::chrono::milliseconds(*row.timeout_ms) : service_.config_.default_timeout);
  if (auto end = EndIfCanceled()) co_return *end;
  if (auto end = co_await FindSandbox()) co_return *end;
  if (!(co_await EnterStatus("extracting")).ok()) co_return Failed("internal_error", "platform");
  if (auto end = co_await Extract()) co_return *end;
  if (auto end = EndIfCanceled()) co_return *end;
  if (!(co_await EnterStatus("running")).ok()) co_return Failed("internal_error", "platform");
  End end = co_await RunCommands();
  if (end.status == "canceled" || end.failure_class == "platform") co_return end;
  if (!row.artifacts.empty()) {
    if (!(co_await EnterStatus("collecting")).ok()) co_return Failed("internal_error", "platform");
    co_await Collect();
    if (auto canceled = EndIfCanceled()) co_return *canceled;
  }
  co_return end;
}

asio::awaitable<WorkspaceRunJob::MaybeEnd> WorkspaceRunJob::FindSandbox() {
  const store::WorkspaceRunRow row = log_->row();
  if (row.owns_sandbox) {
    CreateSandbox request;
    request.template_slug = row.template_slug;
    request.project_id = row.project_id;
    request.metadata = {{"workspaceRunId", row.id}};
    const Result<Sandbox> made = co_await service_.Create(std::move(request));
    if (!made.ok()) {
      spdlog::warn("no sandbox for {}: {}", row.id, made.error().message);
      co_return Failed("sandbox_unavailable", "platform");
    }
    sandbox_id_ = made->id;
    log_->Update([&](store::WorkspaceRunRow& changed) { changed.sandbox_id = sandbox_id_; });
  } else {
    if (!(co_await service_.FindLiveSandbox(row.sandbox_id)).ok()) {
      co_return Failed("sandbox_unavailable", "user_input");
    }
    sandbox_id_ = row.sandbox_id;
  }
  has_claim_ = runs_.ClaimSandbox(sandbox_id_);
  if (!has_claim_) co_return Failed("sandbox_conflict", "user_input");
  const std::lock_guard lock(state_->mutex);
  state_->sandbox_id = sandbox_id_;
  co_return std::nullopt;
}

asio::awaitable<WorkspaceRunJob::MaybeEnd> WorkspaceRunJob::Extract() {
  const store::WorkspaceRunRow row = log_->row();
  if (!row.archive || !row.archive_stored) co_return Failed("upload_missing", "user_input");
  const Result<void> extracted =
      co_await service_.ExtractArchive(
          sandbox_id_, row.archive->digest, row.archive->size_bytes,
          [this] { return state_->IsCanceled() || SteadyClock::now() >= deadline_; });
  if (extracted.ok()) co_return std::nullopt;
  if (auto end = EndIfCanceled()) co_return *end;
  if (SteadyClock::now() >= deadline_) co_return EndAtDeadline();
  const Error& error = extracted.error();
  log_->AddText("stderr", "dormouse: " + error.message + "\n");
  switch (error.code) {
    case ErrorCode::kInvalidRequest:
      co_return Failed("archive_invalid", "user_input");
    case ErrorCode::kArchiveTooLarge:
    case ErrorCode::kFileTooLarge:
    case ErrorCode::kQuotaExceeded:
      co_return Failed("archive_too_large", "user_input");
    case ErrorCode::kSandboxDestroyed:
      co_return Failed("sandbox_unavailable", "platform");
    default:
      spdlog::warn("the archive of {} could not be unpacked: {}", row.id, error.message);
      co_return Failed("extraction_failed", "platform");
  }
}

asio::awaitable<WorkspaceRunJob::End> WorkspaceRunJob::RunCommands() {
  const auto steps = ParsePrograms(log_->row().command);
  if (!steps.ok()) co_return Failed("internal_error", "platform");
  exit_code_ = 0;
  for (const CommandStep& step : *steps) {
    MaybeEnd end;
    if (step.is_change) {
      end = co_await ChangeDirectory(step);
    } else {
      end = co_await RunProgram(step.program);
    }
    // A cancellation looks like many things from inside.
    if (auto canceled = EndIfCanceled()) co_return *canceled;
    if (end) co_return *end;
    if (exit_code_ != 0) break;  // && ends here
  }
  End end;
  if (exit_code_ != 0) end = Failed("command_exit", "user_command");
  end.exit_code = exit_code_;
  co_return end;
}

asio::awaitable<WorkspaceRunJob::MaybeEnd> WorkspaceRunJob::ChangeDirectory(const CommandStep& step) {
  const Result<FileInfo> found = co_await service_.StatFile(sandbox_id_, step.directory);
  if (step.directory == "/workspace" || (found.ok() && found->type == FileType::kDirectory)) {
    co_return std::nullopt;
  }
  if (!found.ok() && found.error().code == ErrorCode::kSandboxDestroyed) {
    co_return Failed("sandbox_unavailable", "platform");
  }
  const bool exists = found.ok() || found.error().code == ErrorCode::kPathNotDirectory;
  log_->AddText("stderr", "sh: cd: " + step.written +
                              (exists ? ": Not a directory\n" : ": No such file or directory\n"));
  exit_code_ = 1;
  co_return std::nullopt;
}

asio::awaitable<WorkspaceRunJob::MaybeEnd> WorkspaceRunJob::RunProgram(const Program& program) {
  CreateContext request;
  request.sandbox_id = sandbox_id_;
  request.language = CodeOf(program).language;
  request.name = ContextNameOf(log_->row().id);
  request.cwd = program.directory;
  const Result<Context> context = co_await service_.Create(std::move(request));
  if (!context.ok()) {
    log_->AddText("stderr", "dormouse: " + context.error().message + "\n");
    co_return Failed("sandbox_unavailable", "platform");
  }
  context_id_ = context->id;
  {
    const std::lock_guard lock(state_->mutex);
    state_->context_id = context_id_;
  }
  // Whoever cancels from here on finds the context.
  MaybeEnd end = EndIfCanceled();
  unsaved_.clear();
  if (!end) end = co_await RunCells(program);
  if (!end && !unsaved_.empty()) {
    // The next program, and whoever wants its files, would find what was there before.
    log_->AddText("stderr", "dormouse: what the program did could not be saved: " + unsaved_ + "\n");
    end = Failed("internal_error", "platform");
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->context_id.clear();
  }
  (void)co_await service_.DeleteContext(sandbox_id_, context_id_);
  co_return end;
}

asio::awaitable<Result<RunResult>> WorkspaceRunJob::RunCell(const Program& program,
                                                            const std::string& code) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - SteadyClock::now());
  RunRequest request;
  request.sandbox_id = sandbox_id_;
  request.context_id = context_id_;
  request.code = code;
  for (const auto& [name, value] : program.env) request.env[name] = value;
  std::int64_t most_ms = service_.config_.max_timeout.count();
  if (const auto binding = service_.bindings()->ByLanguage(CodeOf(program).language); binding.ok()) {
    most_ms = static_cast<std::int64_t>((*binding)->info.max_timeout_ms);
  }
  request.timeout_ms = std::clamp<std::int64_t>(left.count(), 1, most_ms);
  Result<RunResult> result = co_await service_.Run(std::move(request), log_);
  if (result.ok()) unsaved_ = result->stale ? result->stale_reason : "";
  co_return result;
}

asio::awaitable<WorkspaceRunJob::MaybeEnd> WorkspaceRunJob::RunCells(const Program& program) {
  const ProgramCode code = CodeOf(program);
  bool has_failed = false;
  std::vector<std::string> cells = code.cells;
  // The last cell is repeated while the program finds something left to do.
  int endings_left = code.last_cell_after_success.empty() ? 0 : kMaxEndings;
  if (endings_left > 0) cells.push_back(code.last_cell_after_success);
  for (std::size_t i = 0; i < cells.size();) {
    const Result<RunResult> result = co_await RunCell(program, cells[i]);
    if (!result.ok()) {
      if (auto end = EndIfCanceled()) co_return end;
      log_->AddText("stderr", "dormouse: " + result.error().message + "\n");
      co_return Failed(result.error().code == ErrorCode::kSandboxDestroyed ? "sandbox_unavailable"
                                                                           : "internal_error",
                       "platform");
    }
    if (result->status == RunStatus::kOk) {
      if (i + 1 < cells.size() || --endings_left <= 0) ++i;
      continue;
    }
    if (result->status != RunStatus::kError || has_failed || code.last_cell_after_error.empty()) {
      co_return EndOfCell(*result);
    }
    // The error is the program's own; what it wants to do at its exit comes after it.
    has_failed = true;
    if (result->error) log_->AddText("stderr", TraceOf(*result->error));
    cells = {code.last_cell_after_error};
    endings_left = 0;
    i = 0;
  }
  exit_code_ = has_failed ? 1 : 0;
  co_return std::nullopt;
}

WorkspaceRunJob::MaybeEnd WorkspaceRunJob::EndOfCell(const RunResult& result) {
  const auto say = [this](const std::string& what) { log_->AddText("stderr", "dormouse: " + what + "\n"); };
  switch (result.status) {
    case RunStatus::kOk:
      exit_code_ = 0;
      return std::nullopt;
    case RunStatus::kExited:
      exit_code_ = result.exit_code.value_or(0);
      return std::nullopt;
    case RunStatus::kError:
      if (result.error) log_->AddText("stderr", TraceOf(*result.error));
      exit_code_ = 1;
      return std::nullopt;
    case RunStatus::kTimeout:
      return EndAtDeadline();
    case RunStatus::kFuelExhausted:
      say("stopped at the CPU limit");
      exit_code_ = kExitCpuLimit;
      return std::nullopt;
    case RunStatus::kInterrupted:
      say("interrupted");
      exit_code_ = kExitInterrupted;
      return std::nullopt;
    case RunStatus::kOutOfMemory:
      say("out of memory");
      exit_code_ = kExitOutOfMemory;
      return std::nullopt;
    case RunStatus::kCrashed:
      say("the interpreter crashed");
      exit_code_ = kExitCrashed;
      return std::nullopt;
  }
  return std::nullopt;
}

asio::awaitable<void> WorkspaceRunJob::Collect() {
  for (const WantedArtifact& wanted : log_->row().artifacts) {
    if (state_->IsCanceled()) co_return;
    const Result<Artifact> made =
        co_await service_.Create(CreateArtifact{sandbox_id_, wanted.path, wanted.name});
    store::WorkspaceRunEventRow event;
    event.path = wanted.path;
    if (made.ok()) {
      event.type = "artifact_collected";
      event.data = made->id;
      log_->Update([&](store::WorkspaceRunRow& row) { row.artifact_ids.push_back(made->id); });
    } else {
      event.type = "artifact_error";
      event.code = std::string(InfoOf(made.error().code).api_name);
      event.data = made.error().message;
      log_->Update([&](store::WorkspaceRunRow& row) {
        row.artifact_errors.push_back({wanted.path, event.code, event.data});
      });
    }
    log_->Add(std::move(event));
    (void)co_await log_->Flush();
  }
}

asio::awaitable<void> WorkspaceRunJob::CleanUp() {
  const store::WorkspaceRunRow row = log_->row();
  std::string status = "not_requested";
  if (row.owns_sandbox && !row.keep_sandbox && !sandbox_id_.empty()) {
    const Result<Sandbox> destroyed = co_await service_.DestroySandbox(sandbox_id_);
    status = destroyed.ok() ? "succeeded" : "failed";
    if (!destroyed.ok()) {
      spdlog::warn("the sandbox of {} could not be destroyed: {}", row.id, destroyed.error().message);
    }
  }
  log_->Update([&](store::WorkspaceRunRow& changed) { changed.cleanup_status = status; });
}

asio::awaitable<void> WorkspaceRunJob::Finish(End end) {
  co_await CleanUp();
  store::WorkspaceRunRow row = log_->row();
  Result<store::Transaction> transaction = co_await runs_.DropArchive(row);
  log_->Update([&](store::WorkspaceRunRow& changed) {
    changed.archive_stored = false;
    changed.finished_ms = service_.NowMs();
    changed.exit_code = end.exit_code;
    changed.failure_reason = end.reason;
    changed.failure_class = end.failure_class;
  });
  log_->SetStatus(end.status);
  store::WorkspaceRunEventRow terminal;
  terminal.type = "terminal";
  log_->Add(std::move(terminal));
  const Result<void> stored =
      co_await log_->Flush(transaction.ok() ? std::move(*transaction) : store::Transaction());
  // The run stays as it was last stored; the next start of the server ends it.
  if (!stored.ok()) spdlog::error("the end of {} could not be stored: {}", row.id, stored.error().message);
}

}  // namespace dormouse::service
