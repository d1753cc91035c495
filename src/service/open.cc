// SPDX-License-Identifier: Apache-2.0
// Making and ending the service.
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <thread>

#include "service/service_impl.h"
#include "service/workspace_runs.h"

namespace dormouse::service {
namespace {

namespace asio = boost::asio;

// For disk reads, hashing and the like: enough to keep a few disks' queues filled.
constexpr std::size_t kPoolThreads = 4;
constexpr std::chrono::milliseconds kPollInterval{10};

store::StoreOptions StoreOptionsOf(const Config& config) {
  store::StoreOptions options;
  options.directory = config.data_directory;
  options.sync = config.durability == Durability::kPower ? store::StoreOptions::Sync::kPower
                                                         : store::StoreOptions::Sync::kProcess;
  return options;
}

}  // namespace

Result<std::unique_ptr<Service>> Service::OpenWith(asio::any_io_executor executor, Config config,
                                                   std::unique_ptr<scheduler::WorkerHost> host,
                                                   EngineLoader load_engines) {
  DORMOUSE_ASSIGN(auto store, store::OpenSqliteStore(StoreOptionsOf(config)));
  Accounts accounts;
  DORMOUSE_ASSIGN(accounts.keys, ApiKeys::Open(*store));
  DORMOUSE_ASSIGN(accounts.organization, store->ReadOrganization());
  DORMOUSE_ASSIGN(accounts.projects, store->ReadProjects());
  DORMOUSE_ASSIGN(accounts.answers, store->ReadAnswerInfos());
  DORMOUSE_ASSIGN(BindingTable bindings, BindingTable::Make(config, host->engines()));
  if (bindings.All().empty()) {
    spdlog::warn("no engines are installed in {}", config.engines_directory.string());
  }
  auto service =
      std::make_unique<ServiceImpl>(std::move(executor), std::move(config), std::move(store),
                                    std::move(accounts), std::move(host), std::move(bindings),
                                    std::move(load_engines));
  service->Start();
  return std::unique_ptr<Service>(std::move(service));
}

ServiceImpl::ServiceImpl(asio::any_io_executor executor, Config config,
                         std::unique_ptr<store::Store> store, Accounts accounts,
                         std::unique_ptr<scheduler::WorkerHost> host, BindingTable bindings,
                         EngineLoader load_engines)
    : executor_(std::move(executor)),
      config_(std::move(config)),
      store_(std::move(store)),
      keys_(std::move(accounts.keys)),
      organization_(std::move(accounts.organization)),
      templates_(config_),
      answers_(config_.idempotency_bytes, accounts.answers),
      bindings_(std::make_shared<const BindingTable>(std::move(bindings))),
      load_engines_(std::move(load_engines)),
      contents_(*store_),
      pool_(kPoolThreads),
      workspace_runs_(std::make_unique<WorkspaceRuns>(*this)),
      host_(std::move(host)) {
  for (store::ProjectRow& row : accounts.projects) {
    std::string id = row.id;
    projects_.emplace(std::move(id), std::move(row));
  }
}

ServiceImpl::~ServiceImpl() {
  pool_.join();
  // Workers and mirrors hang on these; they go before the store and the host.
  stateless_runs_.clear();
  sandboxes_.clear();
}

void ServiceImpl::Start() {
  housekeeping_timer_ = std::make_shared<asio::steady_timer>(executor_);
  RefreshTotals();
  active_sandboxes_ = totals_.sandboxes;
  BeginOperation();
  Launch(Housekeeping());
  workspace_runs_->Recover();
  asio::post(pool_, [this] {
    const Result<std::size_t> removed = store_->SweepOrphanFiles();
    if (!removed.ok()) {
      spdlog::warn("the sweep of files failed: {}", removed.error().message);
    } else if (removed.value() > 0) {
      spdlog::info("removed {} files that nothing refers to", removed.value());
    }
  });
}

void ServiceImpl::Launch(asio::awaitable<void> operation) {
  asio::co_spawn(executor_, std::move(operation), [this](std::exception_ptr failure) {
    if (failure) spdlog::error("a background operation ended early");
    EndOperation();
  });
}

bool ServiceImpl::BeginOperation() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++operations_;
  return true;
}

void ServiceImpl::EndOperation() {
  std::shared_ptr<Event> drained;
  {
    const std::lock_guard lock(mutex_);
    if (--operations_ == 0 && closed_) drained = drained_;
  }
  if (drained) drained->Set();
}

asio::awaitable<void> ServiceImpl::Stop() {
  stopping_ = true;
  workspace_runs_->Close();
  const auto deadline = std::chrono::steady_clock::now() + config_.shutdown_grace;
  while (runs_in_progress_ > 0 && std::chrono::steady_clock::now() < deadline) {
    co_await Sleep(kPollInterval);
  }
  std::vector<ContextPtr> contexts;
  std::shared_ptr<Event> drained = std::make_shared<Event>();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, sandbox] : sandboxes_) {
      const std::lock_guard sandbox_lock(sandbox->mutex);
      for (const auto& [context_id, context] : sandbox->contexts) contexts.push_back(context);
    }
    for (const auto& [run_id, context] : stateless_runs_) contexts.push_back(context);
  }
  for (const ContextPtr& context : contexts) {
    StopRun(context, config_.stop_grace + std::chrono::milliseconds(500));
  }
  bool wait = false;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    drained_ = drained;
    wait = operations_ > 0;
  }
  asio::post(executor_, [timer = housekeeping_timer_] { timer->cancel(); });
  if (wait) co_await drained->Wait();
  co_await KeepAccounts();
  for (const ContextPtr& context : contexts) {
    const auto turn = context->queue.TryLock();
    if (turn) DropWorker(*context, Memory::kSaved);
  }
}

Result<Caller> ServiceImpl::Authenticate(std::string_view secret) const {
  return keys_->Authenticate(secret, NowMs());
}

std::int64_t ServiceImpl::NowMs() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string ServiceImpl::Metrics() const {
  Metrics::Gauges gauges;
  gauges.resident_contexts = residency_.count();
  gauges.resident_bytes = residency_.bytes();
  gauges.queued_runs = runs_in_progress_;
  {
    const std::lock_guard lock(mutex_);
    gauges.sandboxes = active_sandboxes_;
    gauges.contexts = totals_.contexts;
    gauges.stored_segment_bytes = totals_.segment_bytes;
    gauges.stored_content_bytes = totals_.content_bytes;
    gauges.artifacts = totals_.artifacts;
    gauges.artifact_bytes = totals_.artifact_bytes;
  }
  return metrics_.Text(gauges);
}

}  // namespace dormouse::service
