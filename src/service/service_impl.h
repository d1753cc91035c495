// SPDX-License-Identifier: Apache-2.0
// ServiceImpl: the one implementation of Service. Split over files by idea: open, accounts, sandboxes, engines, contexts, runs, stateless_runs, commit,
// files, artifacts, residency_control, housekeeping.
//
// Every operation that changes something runs in a coroutine of its own (Detach): it goes on to its end even if the
// caller stops waiting, so that memory and disk never disagree because somebody hung up.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/worker_host.h"
#include "service/answers.h"
#include "service/api_keys.h"
#include "service/async.h"
#include "service/bindings.h"
#include "service/metrics.h"
#include "service/residency.h"
#include "service/run_artifacts.h"
#include "service/run_registry.h"
#include "service/service.h"
#include "service/state.h"
#include "service/templates.h"
#include "store/store.h"
#include "workspace/content_store.h"
#include "workspace/merge.h"

namespace dormouse::service {

using SandboxPtr = std::shared_ptr<SandboxState>;
using ContextPtr = std::shared_ptr<ContextState>;

class RunEvents;
class WorkspaceRuns;

// What the store knows of keys, projects and answers, read at the start.
struct Accounts {
  std::unique_ptr<ApiKeys> keys;
  store::OrganizationRow organization;
  std::vector<store::ProjectRow> projects;
  std::vector<store::AnswerInfo> answers;
};

class ServiceImpl final : public Service {
 public:
  ServiceImpl(boost::asio::any_io_executor executor, Config config,
              std::unique_ptr<store::Store> store, Accounts accounts,
              std::unique_ptr<scheduler::WorkerHost> host, BindingTable bindings,
              EngineLoader load_engines);
  ~ServiceImpl() override;
  // Starts the background work. Once, before anything else.
  void Start();

  boost::asio::awaitable<void> Stop() override;
  Result<Caller> Authenticate(std::string_view secret) const override;
  Async<void> CheckAccess(Caller caller, std::string sandbox_id) override;
  Async<void> CheckArtifactAccess(Caller caller, std::string artifact_id) override;

  Async<Project> CreateProject(std::string name, Answerer<Project> answer) override;
  Async<Paged<Project>> ListProjects(Caller caller, Page page) override;
  Async<NewApiKey> Create(CreateApiKey request) override;
  Async<Paged<ApiKey>> ListApiKeys(Caller caller, Page page) override;
  Async<ApiKey> GetApiKey(Caller caller, std::string key_id) override;
  Async<ApiKey> RevokeApiKey(Caller caller, std::string key_id) override;
  Async<Usage> GetUsage(Caller caller) override;

  Async<std::optional<StoredAnswer>> FindAnswer(Sha256Digest scope) override;
  Async<void> StoreAnswer(StoredAnswer answer) override;

  Async<Sandbox> Create(CreateSandbox request) override;
  Async<Sandbox> GetSandbox(std::string sandbox_id) override;
  Async<Paged<Sandbox>> List(ListSandboxes request) override;
  Async<Sandbox> DestroySandbox(std::string sandbox_id) override;
  Async<Sandbox> SetTtl(std::string sandbox_id, std::int64_t ttl_ms) override;
  Async<SandboxInfo> Info(std::string sandbox_id) override;

  std::vector<Binding> Bindings() const override { return bindings()->All(); }

  Async<std::vector<Engine>> ListEngines(Caller caller) override;
  Async<void> ReloadEngines() override;

  Async<Context> Create(CreateContext request) override;
  Async<Context> GetContext(std::string sandbox_id, std::string context_id) override;
  Async<Paged<Context>> ListContexts(std::string sandbox_id, Page page) override;
  Async<Context> DeleteContext(std::string sandbox_id, std::string context_id) override;
  Async<Context> InterruptContext(std::string sandbox_id, std::string context_id) override;
  Async<Context> EvictContext(std::string sandbox_id, std::string context_id) override;
  Async<Context> ForkContext(std::string sandbox_id, std::string context_id, std::string name,
                             std::optional<std::uint64_t> generation,
                             Answerer<Context> answer) override;
  Async<Context> RollbackContext(std::string sandbox_id, std::string context_id,
                                 std::uint64_t generation) override;
  Async<std::vector<Generation>> ListGenerations(std::string sandbox_id,
                                                 std::string context_id) override;

  Async<RunResult> Run(RunRequest request, std::shared_ptr<RunListener> listener) override;
  Async<RunResult> GetRun(std::string sandbox_id, std::string run_id) override;

  Async<RunResult> Run(StatelessRun request, std::shared_ptr<RunListener> listener) override;
  Async<RunResult> GetStatelessRun(Caller caller, std::string run_id) override;
  Async<bool> InterruptStatelessRun(Caller caller, std::string run_id) override;

  Async<std::vector<FileInfo>> ListFiles(std::string sandbox_id, std::string path) override;
  Async<FileInfo> StatFile(std::string sandbox_id, std::string path) override;
  Async<OpenedFile> OpenFile(std::string sandbox_id, std::string path) override;
  Async<FileInfo> Write(WriteFile request) override;
  Async<FileInfo> Make(MakeDirectory request) override;
  Async<FileInfo> Move(MoveFile request) override;
  Async<void> DeleteFile(std::string sandbox_id, std::string path) override;
  Async<Upload> BeginUpload(UploadTarget target) override;
  Async<FileInfo> FinishUpload(UploadTarget target, FileDescriptor file) override;

  Async<Artifact> Create(CreateArtifact request) override;
  Async<Paged<Artifact>> List(ListArtifacts request) override;
  Async<Artifact> GetArtifact(std::string artifact_id) override;
  Async<OpenedArtifact> OpenArtifact(std::string artifact_id) override;
  Async<Artifact> DeleteArtifact(std::string artifact_id) override;
  WorkspaceRunService& workspace_runs() override;

  std::string Metrics() const override;

 private:
  template <typename T>
  using Task = boost::asio::awaitable<Result<T>>;
  friend class WorkspaceRuns;
  friend class WorkspaceRunJob;

  // A run on its way through the service.
  struct RunJob {
    std::string id;
    bool stateless = false;  // sandbox and context are this run's own, and unknown to the store
    RunRequest request;
    std::shared_ptr<RunListener> listener;
    SandboxPtr sandbox;
    ContextPtr context;
    BindingPtr binding;
    bool answered = false;  // what request.answer made is in the store
    std::unique_ptr<RunArtifacts> artifacts;  // of a run that may make some
  };
  // What a run leaves behind, ready to be committed.
  struct RunEffects {
    workspace::RunChanges changes;
    std::vector<workspace::StagedContent> contents;
    std::optional<store::SegmentRow> segment;
    std::optional<store::PlacedFile> segment_file;
  };

  // ── open.cc
  template <typename T>
  Task<T> Detach(Task<T> operation);
  // Counts what Stop waits for; false when it no longer takes any.
  bool BeginOperation();
  // Runs an operation that has begun, and counts its end.
  void Launch(boost::asio::awaitable<void> operation);
  void EndOperation();

  // ── accounts.cc
  // The project for something new: the given one, or the caller's default. kNotFound.
  Result<std::string> ChooseProject(const Caller& caller, const std::string& project_id) const;
  Result<void> CheckGrants(const CreateApiKey& request) const;
  Task<Project> CreateProjectNow(store::ProjectRow row, Answerer<Project> answer);
  Task<NewApiKey> CreateKeyNow(CreateApiKey request);
  Task<ApiKey> RevokeKeyNow(std::string key_id);
  // Stores when keys were used, and drops answers that are too old.
  boost::asio::awaitable<void> KeepAccounts();
  // Once a day.
  void ForgetOldUsage(store::Transaction& transaction);
  std::vector<Quota> QuotasFor(const Caller& caller) const;

  // ── engines.cc
  std::shared_ptr<const BindingTable> bindings() const { return bindings_.load(); }
  Task<void> ReloadEnginesNow();
  // How many contexts need each build.
  Result<std::map<std::string, std::uint64_t>> CountContextsOfBuilds();

  // ── sandboxes.cc
  // The sandbox, from memory or the store. kNotFound; destroyed ones are found.
  Task<SandboxPtr> FindSandbox(std::string sandbox_id);
  // The same, but kSandboxDestroyed when it is, or when its time has come.
  Task<SandboxPtr> FindLiveSandbox(std::string sandbox_id);
  Task<Sandbox> DestroyNow(SandboxPtr sandbox, std::string reason);
  Task<Sandbox> CreateNow(CreateSandbox request, const Template* preset);
  Task<Sandbox> SetTtlNow(SandboxPtr sandbox, std::int64_t ttl_ms);
  Result<void> CheckLive(const SandboxState& sandbox) const;
  Sandbox Describe(const SandboxState& sandbox) const;
  Sandbox Describe(const store::SandboxRow& row, int runs) const;

  // ── contexts.cc
  Task<std::pair<SandboxPtr, ContextPtr>> FindContext(std::string sandbox_id, std::string context_id);
  // The context that a run asks for; makes the default context when there is none.
  Task<ContextPtr> ResolveContext(SandboxPtr sandbox, const RunRequest& request);
  Result<ContextPtr> FindForRun(const SandboxState& sandbox, const RunRequest& request) const;
  // Adds a context under the sandbox's contexts_lock.
  Task<ContextPtr> AddContext(SandboxPtr sandbox, store::ContextRow row,
                              std::vector<store::GenerationRow> generations,
                              Answerer<Context> answer);
  Task<ContextPtr> AddDefaultContext(SandboxPtr sandbox, BindingPtr binding);
  Task<Context> CreateContextNow(SandboxPtr sandbox, store::ContextRow row,
                                 Answerer<Context> answer);
  // By binding, else by language, else by the language of the sandbox's template.
  Result<BindingPtr> ChooseBinding(const SandboxState& sandbox, const std::string& language,
                                   const std::string& binding) const;
  Task<Context> DeleteContextNow(SandboxPtr sandbox, ContextPtr context);
  Task<Context> EvictNow(ContextPtr context);
  Task<Context> ForkNow(SandboxPtr sandbox, ContextPtr source, std::string name,
                        std::optional<std::uint64_t> generation, Answerer<Context> answer);
  Task<Context> RollbackNow(SandboxPtr sandbox, ContextPtr context, std::uint64_t generation);
  Context Describe(const ContextState& context) const;
  // Asks the run in progress to stop, again and again until it does; kills its worker after `kill_after`.
  void StopRun(const ContextPtr& context, std::optional<std::chrono::milliseconds> kill_after);

  // ── runs.cc
  Task<RunResult> RunNow(std::shared_ptr<RunJob> job, FifoMutex::Ticket ticket);
  Task<RunResult> RunInTurn(RunJob& job);
  Task<RunResult> RunOnWorker(RunJob& job, std::shared_ptr<ActiveRun> active);
  std::chrono::milliseconds TimeoutOf(const RunJob& job) const;
  scheduler::RunSpec MakeSpec(const RunJob& job, std::uint64_t execution, bool born) const;
  Result<void> CheckRunFitsBinding(const RunRequest& request, const BindingEntry& binding) const;
  // "sandbox" or "context" if that was deleted, or is being; else empty.
  std::string GoneDuring(const RunJob& job) const;

  // ── stateless_runs.cc
  Task<std::shared_ptr<RunJob>> MakeStatelessJob(StatelessRun request);
  Task<RunResult> RunStatelessNow(std::shared_ptr<RunJob> job, FifoMutex::Ticket ticket);
  // Counts a run that is about to begin, or refuses it.
  Result<void> ReserveStateless(const RunJob& job);
  void ReleaseStateless(const RunJob& job);
  // Stores the usage and drops all else.
  boost::asio::awaitable<void> Discard(RunJob& job, RunResult& result);

  // ── commit.cc
  // Takes the outcome into the store and into memory, and fills the result's account of it.
  boost::asio::awaitable<void> Settle(RunJob& job, scheduler::RunOutcome outcome, RunResult& result);
  Task<void> Save(RunJob& job, scheduler::RunOutcome& outcome, RunResult& result);
  void ReportUnsaved(const Error& error, bool durable, RunResult& result);
  Task<RunEffects> Prepare(const RunJob& job, scheduler::RunOutcome& outcome);
  Result<RunEffects> PrepareBlocking(const RunJob& job, scheduler::RunOutcome& outcome);
  Result<void> PrepareSegment(scheduler::SnapshotDelta& snapshot, const BindingEntry& binding,
                              RunEffects& effects);
  Task<void> CommitEffects(RunJob& job, const scheduler::RunOutcome& outcome, RunEffects effects,
                           RunResult& result);
  // Adds what every run leaves behind besides its effects: its usage, and its answer if somebody may ask again.
  void AddAccount(const RunJob& job, const RunResult& result, store::Transaction& transaction);
  // Only the count of executions and flags, after a run whose effects are not kept.
  boost::asio::awaitable<void> CommitCount(RunJob& job, std::string stale_reason, RunResult& result);
  store::GenerationRow NextGeneration(const ContextState& context, const store::ContextRow& row,
                                      const scheduler::SnapshotDelta& snapshot,
                                      const store::SegmentRow& segment,
                                      const std::string& engine_build) const;

  // ── residency_control.cc
  struct Residence {
    std::shared_ptr<scheduler::Worker> worker;
    bool started = false;  // else it was there
    bool born = false;     // from the boot image
    bool state_lost = false;
    double start_ms = 0;
  };
  // A worker for the context; the caller holds its queue.
  Task<Residence> MakeResident(RunJob& job);
  Task<scheduler::StartSpec> MakeStartSpec(const RunJob& job, Residence& residence);
  // Ends the worker; the caller holds the queue. `lost`: its memory was newer than the newest generation.
  enum class Memory { kSaved, kLost };
  void DropWorker(ContextState& context, Memory memory);
  void EvictIdle();
  void EvictOverBudget();
  bool TryEvict(const ContextPtr& context);

  // ── files.cc
  Task<std::shared_ptr<workspace::Workspace>> LoadWorkspace(SandboxPtr sandbox);
  // Runs `change` on a draft of the tree and commits what it did. `contents` are those that it refers to.
  template <typename Change>
  Task<FileInfo> ChangeTree(SandboxPtr sandbox, std::vector<workspace::StagedContent> contents,
                            Change change);
  Task<FileInfo> WriteNow(SandboxPtr sandbox, WriteFile request);
  // Unpacks a stored .tar.gz over the workspace. Errors are those of workspace::ArchiveReader and of the quota.
  // `is_stopped` is asked on a thread of the pool.
  Task<void> ExtractArchive(std::string sandbox_id, Sha256Digest archive, std::uint64_t archive_bytes,
                            std::function<bool()> is_stopped);

  Task<FileInfo> FinishUploadNow(SandboxPtr sandbox, UploadTarget target, FileDescriptor file);

  // ── artifacts.cc
  Task<store::ArtifactRow> FindArtifact(std::string artifact_id);
  Task<Artifact> CreateArtifactNow(SandboxPtr sandbox, CreateArtifact request);
  Task<Artifact> DeleteArtifactNow(store::ArtifactRow row);
  Artifact Describe(const store::ArtifactRow& row) const;
  std::unique_ptr<RunArtifacts> MakeRunArtifacts(const RunJob& job);
  // A run that was not saved has no artifacts: its outputs that were to be some are rejected.
  static void WithdrawArtifacts(const RunJob& job, RunResult& result);
  // What became of the outputs that wait for the run to be saved; tells the listener of those from `delivered` on.
  void SettleOutputs(RunJob& job, std::size_t delivered, RunResult& result);
  // Those whose retention is over become tombstones; a bounded number.
  boost::asio::awaitable<void> ExpireArtifacts();
  boost::asio::awaitable<void> DropOldTombstones();

  // ── housekeeping.cc
  boost::asio::awaitable<void> Housekeeping();
  boost::asio::awaitable<void> ExpireSandboxes();
  boost::asio::awaitable<void> ExpireIdleSandboxes();
  boost::asio::awaitable<void> SweepContents();
  void ForgetUnusedSandboxes();
  void RefreshTotals();
  // Counts a sandbox that is about to be made, or refuses it.
  Result<void> ReserveSandbox();
  // Of a sandbox that was destroyed, or not made after all.
  void ReleaseSandbox();
  // Between refreshes: what an operation added or removed.
  void CountContexts(std::int64_t change);

  std::int64_t NowMs() const;

  const boost::asio::any_io_executor executor_;
  const Config config_;
  const std::unique_ptr<store::Store> store_;
  const std::unique_ptr<ApiKeys> keys_;
  FifoMutex keys_lock_;  // whose turn it is to make or revoke keys
  FifoMutex engines_lock_;  // whose turn it is to reload the engines
  const store::OrganizationRow organization_;
  const TemplateTable templates_;
  Answers answers_;
  std::atomic<std::shared_ptr<const BindingTable>> bindings_;
  const EngineLoader load_engines_;  // nothing: engines are as at the start
  workspace::ContentStore contents_;
  class Metrics metrics_;
  Residency residency_;
  RunRegistry runs_;
  std::atomic<std::uint64_t> runs_in_progress_{0};
  std::atomic<bool> stopping_{false};
  mutable boost::asio::thread_pool pool_;  // for what blocks

  mutable std::mutex mutex_;
  std::map<std::string, store::ProjectRow, std::less<>> projects_;
  std::unordered_map<std::string, SandboxPtr> sandboxes_;
  std::map<std::string, ContextPtr, std::less<>> stateless_runs_;  // that go on, by id
  std::size_t operations_ = 0;  // detached and not yet ended
  bool closed_ = false;         // no new ones
  std::shared_ptr<Event> drained_;
  store::StoreTotals totals_;
  std::uint64_t active_sandboxes_ = 0;  // those not destroyed, and those that are being made
  std::int64_t usage_kept_from_ = 0;    // the first day; KeepAccounts' own
  std::shared_ptr<boost::asio::steady_timer> housekeeping_timer_;

  const std::unique_ptr<WorkspaceRuns> workspace_runs_;

  // Ends first: workers must be gone before what they call into.
  std::unique_ptr<scheduler::WorkerHost> host_;
};

// Runs `operation` to its end whatever becomes of the caller, and returns what it returned.
template <typename T>
ServiceImpl::Task<T> ServiceImpl::Detach(Task<T> operation) {
  struct Shared {
    Event done;
    std::optional<Result<T>> result;
  };
  if (!BeginOperation()) {
    co_return Error(ErrorCode::kUnavailable, "the server is shutting down");
  }
  auto shared = std::make_shared<Shared>();
  Launch(
      [](Task<T> moved, std::shared_ptr<Shared> state) -> boost::asio::awaitable<void> {
        try {
          state->result.emplace(co_await std::move(moved));
        } catch (const std::exception& exception) {
          state->result.emplace(Error(ErrorCode::kInternal, exception.what()));
        }
        state->done.Set();
      }(std::move(operation), shared));
  co_await shared->done.Wait();
  co_return std::move(*shared->result);
}

}  // namespace dormouse::service
