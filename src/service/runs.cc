// SPDX-License-Identifier: Apache-2.0
// Runs: from the request to the result.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "service/compaction.h"
#include "service/ids.h"
#include "service/request_json.h"
#include "service/run_events.h"
#include "service/run_report.h"
#include "service/service_impl.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

using scheduler::RunStatus;
using scheduler::StateOutcome;
using SteadyClock = std::chrono::steady_clock;

// Runs that wait for one context. Each holds its source and standard input in memory.
constexpr std::size_t kMaxQueuedRuns = 64;

double MillisecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
}

// Counts a run for as long as it lives.
class RunCount {
 public:
  RunCount(SandboxPtr sandbox, std::atomic<std::uint64_t>& total)
      : sandbox_(std::move(sandbox)), total_(total) {
    ++sandbox_->runs;
    ++total_;
  }
  ~RunCount() {
    --sandbox_->runs;
    --total_;
  }
  RunCount(const RunCount&) = delete;
  RunCount& operator=(const RunCount&) = delete;

 private:
  const SandboxPtr sandbox_;
  std::atomic<std::uint64_t>& total_;
};

Promotion PromotionOf(const RunRequest& request) {
  if (request.artifact_policy != ArtifactPolicy::kPromote) return Promotion::kOff;
  return request.may_create_artifacts ? Promotion::kOn : Promotion::kForbidden;
}

Error NotDuringShutdown() {
  return Error(ErrorCode::kUnavailable, "the server is shutting down");
}

}  // namespace

std::string ServiceImpl::GoneDuring(const RunJob& job) const {
  {
    const std::lock_guard lock(job.sandbox->mutex);
    if (job.sandbox->destroying || job.sandbox->row.destroyed_ms) return "sandbox";
  }
  return job.context->IsDeleted() ? "context" : "";
}

Result<void> ServiceImpl::CheckRunFitsBinding(const RunRequest& request,
                                              const BindingEntry& binding) const {
  const auto over = [&binding](const char* field, std::int64_t value, std::uint64_t limit) {
    return Error(ErrorCode::kInvalidRequest,
                 std::string(field) + " is " + std::to_string(value) + ", the binding " +
                     binding.info.name + " allows at most " + std::to_string(limit),
                 {{"field", field}, {"limit", std::to_string(limit)}});
  };
  if (request.code.size() > binding.info.code_bytes) {
    Error error = over("code", static_cast<std::int64_t>(request.code.size()), binding.info.code_bytes);
    error.code = ErrorCode::kCodeSourceTooLarge;
    return error;
  }
  if (request.timeout_ms && std::cmp_greater(*request.timeout_ms, binding.info.max_timeout_ms)) {
    return over("timeoutMs", *request.timeout_ms, binding.info.max_timeout_ms);
  }
  if (request.fuel_us && binding.info.max_fuel_us != 0 &&
      std::cmp_greater(*request.fuel_us, binding.info.max_fuel_us)) {
    return over("fuel", *request.fuel_us, binding.info.max_fuel_us);
  }
  if (!request.memory_bytes) return {};
  const auto low = static_cast<std::int64_t>(binding.min_memory_bytes);
  const auto high = static_cast<std::int64_t>(binding.info.max_memory_bytes);
  if (*request.memory_bytes >= low && *request.memory_bytes <= high) return {};
  return Error(ErrorCode::kInvalidRequest,
               "memoryBytes is " + std::to_string(*request.memory_bytes) + ", the binding " +
                   binding.info.name + " allows " + std::to_string(low) + " to " +
                   std::to_string(high),
               {{"field", "memoryBytes"}, {"limit", std::to_string(high)}});
}

ServiceImpl::Task<RunResult> ServiceImpl::Run(RunRequest request,
                                              std::shared_ptr<RunListener> listener) {
  if (stopping_) co_return NotDuringShutdown();
  DORMOUSE_CO_TRY(CheckRun(request, config_));
  if (!request.cwd.empty()) {
    DORMOUSE_CO_ASSIGN(request.cwd, CheckWorkingDirectory(request.cwd));
  }
  auto job = std::make_shared<RunJob>();
  DORMOUSE_CO_ASSIGN(job->sandbox, co_await FindLiveSandbox(request.sandbox_id));
  DORMOUSE_CO_ASSIGN(job->context, co_await ResolveContext(job->sandbox, request));
  DORMOUSE_CO_ASSIGN(job->binding, bindings()->ByName(job->context->binding));
  DORMOUSE_CO_TRY(CheckRunFitsBinding(request, *job->binding));
  if (job->context->queue.Length() > kMaxQueuedRuns) {
    co_return Error(ErrorCode::kRateLimited,
                    std::to_string(kMaxQueuedRuns) + " runs wait for this context already",
                    {{"limit", std::to_string(kMaxQueuedRuns)}});
  }
  job->id = NewRunId();
  job->request = std::move(request);
  job->listener = std::move(listener);
  runs_.Begin(job->id, job->sandbox->id);
  // From here on in the order of arrival: no suspension before the place in the queue is taken.
  FifoMutex::Ticket ticket = job->context->queue.Enqueue();
  if (job->listener) job->listener->OnStart(job->id, job->context->id);
  Result<RunResult> result = co_await Detach(RunNow(job, std::move(ticket)));
  if (!result.ok()) {
    // Nothing was begun if the server closed just now; if it was, this changes nothing.
    runs_.End(job->id, std::make_shared<const Result<RunResult>>(result.error()), SteadyClock::now());
  }
  co_return result;
}

ServiceImpl::Task<RunResult> ServiceImpl::RunNow(std::shared_ptr<RunJob> job,
                                                 FifoMutex::Ticket ticket) {
  const RunCount count(job->sandbox, runs_in_progress_);
  FifoMutex::Guard turn = co_await ticket.Wait();
  Result<RunResult> result = Error(ErrorCode::kInternal, "the run did not end");
  try {
    result = co_await RunInTurn(*job);
  } catch (const std::exception& exception) {
    // What the worker holds is not known any more.
    DropWorker(*job->context, Memory::kLost);
    result = Error(ErrorCode::kInternal, exception.what());
  }
  if (result.ok() && job->request.answer && !job->answered) {
    // Nothing of it was stored, or it could not be: the answer alone, for as long as that works.
    const Result<void> stored = co_await StoreAnswer(job->request.answer(*result));
    if (!stored.ok()) spdlog::warn("the answer of {} could not be stored: {}", job->id, stored.error().message);
  }
  turn.Release();
  if (result.ok()) metrics_.RunEnded(*result);
  runs_.End(job->id, std::make_shared<const Result<RunResult>>(result), SteadyClock::now());
  job->listener.reset();
  EvictOverBudget();
  co_return result;
}

ServiceImpl::Task<RunResult> ServiceImpl::RunInTurn(RunJob& job) {
  if (stopping_) co_return NotDuringShutdown();
  DORMOUSE_CO_TRY(CheckLive(*job.sandbox));
  auto active = std::make_shared<ActiveRun>();
  {
    const std::lock_guard lock(job.context->mutex);
    if (job.context->deleted) co_return Error(ErrorCode::kNotFound, "the context was deleted");
    job.context->active = active;
  }
  {
    const std::lock_guard lock(job.sandbox->mutex);
    job.sandbox->touched = SteadyClock::now();
  }
  // Whatever happens, nobody may stop this run once it is over.
  struct EndOfRun {
    ContextState& context;
    ActiveRun& active;
    ~EndOfRun() {
      std::shared_ptr<scheduler::Worker> worker;
      const std::lock_guard lock(context.mutex);
      worker = std::move(active.worker);
      context.active.reset();
    }
  };
  const EndOfRun end_of_run{*job.context, *active};
  co_return co_await RunOnWorker(job, active);
}

std::chrono::milliseconds ServiceImpl::TimeoutOf(const RunJob& job) const {
  if (job.request.timeout_ms) return std::chrono::milliseconds(*job.request.timeout_ms);
  const Binding& binding = job.binding->info;
  const auto preset = binding.default_timeout_ms != 0
                          ? std::chrono::milliseconds(binding.default_timeout_ms)
                          : templates_.Of(job.sandbox->template_slug).default_timeout;
  return std::min(preset, std::chrono::milliseconds(binding.max_timeout_ms));
}

scheduler::RunSpec ServiceImpl::MakeSpec(const RunJob& job, std::uint64_t execution, bool born) const {
  const RunRequest& request = job.request;
  const ContextState& context = *job.context;
  GuestRequest guest;
  guest.code = request.code;
  guest.language = context.language;
  guest.execution = execution;
  guest.cwd = request.cwd;
  guest.env = &request.env;
  if (born) {
    // Neither changes after the context is made.
    guest.context_cwd = context.row.cwd;
    guest.context_env = &context.row.env;
  }
  scheduler::RunSpec spec;
  spec.request_json = ToJson(guest);
  spec.stdin_bytes = request.stdin_bytes;
  spec.timeout = TimeoutOf(job);
  spec.fuel_us = request.fuel_us ? static_cast<std::uint64_t>(*request.fuel_us)
                                 : job.binding->info.fuel_us;
  spec.memory_bytes = request.memory_bytes ? static_cast<std::uint64_t>(*request.memory_bytes)
                                           : job.binding->info.memory_bytes;
  spec.previous_committed = !context.needs_base;
  spec.compact = context.needs_base || WantsCompaction(context.resident_segments);
  spec.manifest = context.mirror->NextManifest();
  spec.keep = job.stateless                ? scheduler::Keep::kNothing
              : job.binding->info.contexts ? scheduler::Keep::kAll
                                           : scheduler::Keep::kFiles;
  return spec;
}

ServiceImpl::Task<RunResult> ServiceImpl::RunOnWorker(RunJob& job, std::shared_ptr<ActiveRun> active) {
  ContextState& context = *job.context;
  RunResult result;
  result.stateless = job.stateless;
  result.run_id = job.id;
  result.sandbox_id = job.sandbox->id;
  result.context_id = context.id;
  result.language = context.language;
  result.binding = context.binding;
  std::uint64_t execution = 0;
  {
    const std::lock_guard lock(context.mutex);
    execution = context.row.executions + 1;
  }
  bool born = false;
  std::optional<RunEvents> events;
  scheduler::RunOutcome outcome;
  RunEnd end;
  // A worker may have died since it was last seen alive; then the snapshot serves, once.
  for (int attempt = 0;; ++attempt) {
    DORMOUSE_CO_ASSIGN(const Residence residence, co_await MakeResident(job));
    result.resumed = residence.started && !residence.born;
    result.resume_ms = residence.started ? residence.start_ms : 0;
    result.state_lost = result.state_lost || residence.state_lost;
    born = residence.started ? residence.born : context.newborn;
    context.newborn = born;
    {
      const std::lock_guard lock(context.mutex);
      if (active->stop_requested) {
        result.status = RunStatus::kInterrupted;
        result.execution_count = context.row.executions;
        result.generation = context.row.generation;
        break;
      }
      active->worker = residence.worker;
    }
    scheduler::RunSpec spec = MakeSpec(job, execution, born);
    end.timeout_ms = spec.timeout.count();
    end.fuel_us = spec.fuel_us;
    end.memory_bytes = spec.memory_bytes;
    job.artifacts = MakeRunArtifacts(job);
    events.emplace(config_, *store_, *context.mirror, job.listener, PromotionOf(job.request),
                   job.artifacts.get());
    const SteadyClock::time_point begin = SteadyClock::now();
    Result<scheduler::RunOutcome> ran = co_await residence.worker->Run(std::move(spec), *events);
    result.duration_ms = MillisecondsSince(begin);
    if (ran.ok()) {
      outcome = std::move(ran).value();
      break;
    }
    if (residence.started || attempt > 0) {
      // A fresh worker, or the second: the run itself must be what ends them. It ends as crashed.
      outcome.message = std::move(ran).error().message;
      break;
    }
    bool unsaved = false;
    {
      const std::lock_guard lock(context.mutex);
      active->worker.reset();
      unsaved = context.HasUnsavedMemory();
    }
    DropWorker(context, unsaved ? Memory::kLost : Memory::kSaved);
  }
  end.gone = GoneDuring(job);
  result.state_lost = result.state_lost || !end.gone.empty();
  if (events) {
    context.newborn = false;
    events->Finish(result);
    end.guest_error = events->guest_error();
    end.guest_exit = events->guest_exit();
    result.execution_count = execution;
    result.status = outcome.status;
    result.state = outcome.state;
    result.usage = outcome.usage;
    end.message = outcome.message;
    end.exit_code = outcome.exit_code;
  }
  end.status = result.status;
  result.error = ErrorOf(end);
  if (result.status == RunStatus::kExited) {
    result.exit_code = end.exit_code ? *end.exit_code : end.guest_exit ? end.guest_exit->code : 0;
  }
  if (events) {
    const std::size_t delivered = events->delivered_outputs();
    // The events borrow the mirror, which a lost worker takes with it.
    events.reset();
    co_await Settle(job, std::move(outcome), result);
    SettleOutputs(job, delivered, result);
  }
  if (job.listener && result.error) job.listener->OnError(*result.error);
  co_return result;
}

ServiceImpl::Task<RunResult> ServiceImpl::GetRun(std::string sandbox_id, std::string run_id) {
  DORMOUSE_CO_ASSIGN(const SandboxPtr sandbox, co_await FindSandbox(std::move(sandbox_id)));
  co_return runs_.Find(run_id, sandbox->id);
}

}  // namespace dormouse::service
