// SPDX-License-Identifier: Apache-2.0
// Runs without a sandbox. Each gets a sandbox and a context that only this process knows, for as
// long as it takes: so it goes the way of every run, with the same limits, and ends with its worker
// instead of a commit.
#include <spdlog/spdlog.h>

#include "service/ids.h"
#include "service/service_impl.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

using SteadyClock = std::chrono::steady_clock;

Error NoSuchStatelessRun() {
  return Error(ErrorCode::kNotFound, "there is no such run, or it ended too long ago");
}

// Ids of sandboxes own runs, too.
bool IsProject(const std::string& owner_id) { return owner_id.starts_with("prj_"); }

}  // namespace

ServiceImpl::Task<std::shared_ptr<ServiceImpl::RunJob>> ServiceImpl::MakeStatelessJob(
    StatelessRun request) {
  DORMOUSE_CO_TRY(CheckRun(request.run, config_));
  if (!request.run.cwd.empty()) {
    DORMOUSE_CO_ASSIGN(request.run.cwd, CheckWorkingDirectory(request.run.cwd));
  }
  store::SandboxRow sandbox;
  DORMOUSE_CO_ASSIGN(sandbox.project_id, ChooseProject(request.caller, request.project_id));
  sandbox.org_id = organization_.id;
  sandbox.template_slug = config_.default_template;
  auto job = std::make_shared<RunJob>();
  job->stateless = true;
  job->sandbox = std::make_shared<SandboxState>(std::move(sandbox));
  job->sandbox->workspace =
      std::make_shared<workspace::Workspace>(workspace::Tree(), store_->pins());
  DORMOUSE_CO_ASSIGN(job->binding,
                     ChooseBinding(*job->sandbox, request.run.language, request.run.binding));
  DORMOUSE_CO_TRY(CheckRunFitsBinding(request.run, *job->binding));
  store::ContextRow context;
  context.binding = job->binding->info.name;
  context.language = job->binding->info.language;
  context.cwd = "/workspace";
  context.env = templates_.Of(config_.default_template).env;
  job->context = std::make_shared<ContextState>(std::move(context));
  job->id = NewRunId();
  job->request = std::move(request.run);
  co_return job;
}

ServiceImpl::Task<RunResult> ServiceImpl::Run(StatelessRun request,
                                              std::shared_ptr<RunListener> listener) {
  if (stopping_) co_return Error(ErrorCode::kUnavailable, "the server is shutting down");
  DORMOUSE_CO_ASSIGN(const std::shared_ptr<RunJob> job,
                     co_await MakeStatelessJob(std::move(request)));
  DORMOUSE_CO_TRY(ReserveStateless(*job));
  job->listener = std::move(listener);
  runs_.Begin(job->id, job->sandbox->project_id);
  FifoMutex::Ticket ticket = job->context->queue.Enqueue();
  if (job->listener) job->listener->OnStart(job->id, "");
  Result<RunResult> result = co_await Detach(RunStatelessNow(job, std::move(ticket)));
  if (!result.ok()) {
    // Nothing was begun if the server closed just now; if it was, this changes nothing.
    ReleaseStateless(*job);
    runs_.End(job->id, std::make_shared<const Result<RunResult>>(result.error()),
              SteadyClock::now());
  }
  co_return result;
}

ServiceImpl::Task<RunResult> ServiceImpl::RunStatelessNow(std::shared_ptr<RunJob> job,
                                                          FifoMutex::Ticket ticket) {
  Result<RunResult> result = co_await RunNow(job, std::move(ticket));
  // Also where the run never came to its end.
  DropWorker(*job->context, Memory::kSaved);
  ReleaseStateless(*job);
  co_return result;
}

Result<void> ServiceImpl::ReserveStateless(const RunJob& job) {
  const std::lock_guard lock(mutex_);
  if (stateless_runs_.size() >= config_.stateless_runs) {
    const std::string limit = std::to_string(config_.stateless_runs);
    return Error(ErrorCode::kRateLimited, limit + " stateless runs go on already",
                 {{"limit", limit}});
  }
  stateless_runs_.emplace(job.id, job.context);
  return {};
}

void ServiceImpl::ReleaseStateless(const RunJob& job) {
  const std::lock_guard lock(mutex_);
  stateless_runs_.erase(job.id);
}

boost::asio::awaitable<void> ServiceImpl::Discard(RunJob& job, RunResult& result) {
  DropWorker(*job.context, Memory::kSaved);
  store::Transaction transaction;
  AddAccount(job, result, transaction);
  const Result<void> committed = co_await store_->Commit(std::move(transaction));
  job.answered = committed.ok();
  if (!committed.ok()) {
    spdlog::warn("the usage of {} could not be stored: {}", job.id, committed.error().message);
  }
}

ServiceImpl::Task<RunResult> ServiceImpl::GetStatelessRun(Caller caller, std::string run_id) {
  const std::string owner_id = runs_.OwnerOf(run_id);
  if (!IsProject(owner_id) || !caller.MaySee(owner_id)) co_return NoSuchStatelessRun();
  co_return runs_.Find(run_id, owner_id);
}

ServiceImpl::Task<bool> ServiceImpl::InterruptStatelessRun(Caller caller, std::string run_id) {
  const std::string owner_id = runs_.OwnerOf(run_id);
  if (!IsProject(owner_id) || !caller.MaySee(owner_id)) co_return NoSuchStatelessRun();
  ContextPtr context;
  {
    const std::lock_guard lock(mutex_);
    const auto it = stateless_runs_.find(run_id);
    if (it != stateless_runs_.end()) context = it->second;
  }
  if (context) StopRun(context, std::nullopt);
  co_return context != nullptr;
}

}  // namespace dormouse::service
