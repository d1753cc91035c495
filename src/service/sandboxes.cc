// SPDX-License-Identifier: Apache-2.0
// Sandboxes: making, finding, listing, destroying.
#include "service/ids.h"
#include "service/service_impl.h"
#include "service/usage.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

// What the store knows of one sandbox.
struct LoadedSandbox {
  std::optional<store::SandboxRow> row;
  std::vector<std::pair<store::ContextRow, std::vector<store::GenerationRow>>> contexts;
  std::uint64_t artifact_bytes = 0;
};

Result<LoadedSandbox> LoadSandbox(store::Store& store, const std::string& id) {
  LoadedSandbox loaded;
  DORMOUSE_ASSIGN(loaded.row, store.ReadSandbox(id));
  if (!loaded.row) return loaded;
  DORMOUSE_ASSIGN(loaded.artifact_bytes, store.ReadArtifactCharge(id));
  if (loaded.row->destroyed_ms) return loaded;
  DORMOUSE_ASSIGN(std::vector<store::ContextRow> rows, store.ReadContexts(id));
  for (store::ContextRow& row : rows) {
    DORMOUSE_ASSIGN(auto generations, store.ReadGenerations(row.id));
    loaded.contexts.emplace_back(std::move(row), std::move(generations));
  }
  return loaded;
}

}  // namespace

ServiceImpl::Task<SandboxPtr> ServiceImpl::FindSandbox(std::string sandbox_id) {
  const Error missing(ErrorCode::kNotFound, "there is no such sandbox");
  {
    const std::lock_guard lock(mutex_);
    const auto it = sandboxes_.find(sandbox_id);
    if (it != sandboxes_.end()) co_return it->second;
  }
  if (!sandbox_id.starts_with("sbx_") || sandbox_id.size() > 64) co_return missing;
  Result<LoadedSandbox> loaded =
      co_await OnPool(pool_, [this, sandbox_id] { return LoadSandbox(*store_, sandbox_id); });
  if (!loaded.ok()) co_return std::move(loaded).error();
  if (!loaded->row) co_return missing;
  auto sandbox = std::make_shared<SandboxState>(std::move(*loaded->row));
  sandbox->touched = std::chrono::steady_clock::now();
  sandbox->artifact_bytes = loaded->artifact_bytes;
  for (auto& [row, generations] : loaded->contexts) {
    auto context = std::make_shared<ContextState>(std::move(row));
    context->generations = std::move(generations);
    sandbox->contexts.emplace(context->id, std::move(context));
  }
  const std::lock_guard lock(mutex_);
  // Another call may have loaded it meanwhile: the first one counts.
  co_return sandboxes_.emplace(std::move(sandbox_id), std::move(sandbox)).first->second;
}

Result<void> ServiceImpl::CheckLive(const SandboxState& sandbox) const {
  const std::lock_guard lock(sandbox.mutex);
  const bool expired = sandbox.row.expires_ms && *sandbox.row.expires_ms <= NowMs();
  if (!sandbox.row.destroyed_ms && !sandbox.destroying && !expired) return {};
  return Error(ErrorCode::kSandboxDestroyed, "the sandbox is destroyed");
}

ServiceImpl::Task<SandboxPtr> ServiceImpl::FindLiveSandbox(std::string sandbox_id) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindSandbox(std::move(sandbox_id)));
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  const std::lock_guard lock(sandbox->mutex);
  sandbox->touched = std::chrono::steady_clock::now();
  co_return sandbox;
}

Sandbox ServiceImpl::Describe(const store::SandboxRow& row, int runs) const {
  Sandbox sandbox;
  sandbox.id = row.id;
  sandbox.org_id = row.org_id;
  sandbox.project_id = row.project_id;
  const Template preset = templates_.Of(row.template_slug);
  sandbox.template_id = preset.id;
  sandbox.template_slug = preset.slug;
  sandbox.template_version = preset.version;
  sandbox.template_version_id = preset.version_id;
  sandbox.ttl_ms = row.ttl_ms;
  if (row.expires_ms) sandbox.expires_at = TimeOf(*row.expires_ms);
  sandbox.metadata = row.metadata;
  sandbox.created_at = TimeOf(row.created_ms);
  sandbox.last_used_at = TimeOf(row.last_used_ms);
  if (row.destroyed_ms) sandbox.destroyed_at = TimeOf(*row.destroyed_ms);
  sandbox.destroyed_reason = row.destroyed_reason;
  // Idle for as long as it takes a context to become dormant.
  const bool idle = NowMs() - row.last_used_ms > config_.idle_eviction.count();
  sandbox.status = row.destroyed_ms ? SandboxStatus::kDestroyed
                   : runs > 0       ? SandboxStatus::kRunning
                   : idle           ? SandboxStatus::kIdle
                                    : SandboxStatus::kReady;
  return sandbox;
}

Sandbox ServiceImpl::Describe(const SandboxState& sandbox) const {
  const std::lock_guard lock(sandbox.mutex);
  return Describe(sandbox.row, sandbox.runs);
}

ServiceImpl::Task<Sandbox> ServiceImpl::Create(CreateSandbox request) {
  DORMOUSE_CO_TRY(CheckMetadata(request.metadata));
  DORMOUSE_CO_ASSIGN(const Template* const preset,
                     templates_.Choose(request.template_slug, request.template_version_id));
  DORMOUSE_CO_ASSIGN(request.project_id, ChooseProject(request.caller, request.project_id));
  DORMOUSE_CO_TRY(CheckTtl(request.ttl_ms, *preset));
  co_return co_await Detach(CreateNow(std::move(request), preset));
}

ServiceImpl::Task<Sandbox> ServiceImpl::CreateNow(CreateSandbox request, const Template* preset) {
  store::SandboxRow row;
  row.id = NewSandboxId();
  row.org_id = organization_.id;
  row.project_id = std::move(request.project_id);
  row.template_slug = preset->slug;
  DORMOUSE_CO_ASSIGN(row.ttl_ms, CheckTtl(request.ttl_ms, *preset));
  row.metadata = std::move(request.metadata);
  row.created_ms = row.last_used_ms = NowMs();
  if (row.ttl_ms > 0) row.expires_ms = row.created_ms + row.ttl_ms;
  store::Transaction transaction;
  transaction.sandboxes.push_back(row);
  transaction.usage.push_back(UsageOf(row.project_id, metric::kSandboxes, 1, row.created_ms));
  const Sandbox described = Describe(row, 0);
  if (request.answer) answers_.AddTo(transaction, request.answer(described), row.created_ms);
  DORMOUSE_CO_TRY(ReserveSandbox());
  Result<void> committed = co_await store_->Commit(std::move(transaction));
  if (!committed.ok()) {
    ReleaseSandbox();
    co_return std::move(committed).error();
  }
  auto sandbox = std::make_shared<SandboxState>(row);
  sandbox->touched = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  sandboxes_.emplace(row.id, std::move(sandbox));
  co_return described;
}

ServiceImpl::Task<Sandbox> ServiceImpl::GetSandbox(std::string sandbox_id) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindSandbox(std::move(sandbox_id)));
  co_return Describe(*sandbox);
}

ServiceImpl::Task<Paged<Sandbox>> ServiceImpl::List(ListSandboxes request) {
  DORMOUSE_CO_TRY(CheckPage(request.page));
  store::SandboxQuery query;
  query.project_id = request.project_id;
  if (request.caller.IsRestricted()) query.project_ids = request.caller.grants->project_ids;
  query.metadata = request.metadata;
  query.destroyed = request.historical;
  query.limit = request.page.limit + 1;  // one more tells whether there is a next page
  if (!request.page.cursor.empty()) {
    DORMOUSE_CO_ASSIGN(query.after, DecodeCursor(request.page.cursor));
  }
  Result<std::vector<store::SandboxRow>> rows =
      co_await OnPool(pool_, [this, query] { return store_->ReadSandboxes(query); });
  if (!rows.ok()) co_return std::move(rows).error();
  Paged<Sandbox> page;
  if (rows->size() > request.page.limit) {
    rows->pop_back();
    page.next_cursor = EncodeCursor(rows->back().created_ms, rows->back().id);
  }
  for (const store::SandboxRow& row : *rows) {
    int runs = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto it = sandboxes_.find(row.id);
      if (it != sandboxes_.end()) runs = it->second->runs;
    }
    page.items.push_back(Describe(row, runs));
  }
  co_return page;
}

ServiceImpl::Task<Sandbox> ServiceImpl::DestroySandbox(std::string sandbox_id) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindSandbox(std::move(sandbox_id)));
  co_return co_await Detach(DestroyNow(std::move(sandbox), "user_killed"));
}

ServiceImpl::Task<Sandbox> ServiceImpl::DestroyNow(SandboxPtr sandbox, std::string reason) {
  const FifoMutex::Guard contexts_guard = co_await sandbox->contexts_lock.Lock();
  std::vector<ContextPtr> contexts;
  store::SandboxRow row;
  {
    const std::lock_guard lock(sandbox->mutex);
    row = sandbox->row;
    sandbox->destroying = !row.destroyed_ms;
    for (const auto& [id, context] : sandbox->contexts) contexts.push_back(context);
  }
  if (row.destroyed_ms) co_return Describe(*sandbox);
  const auto mark_deleted = [&](bool deleted) {
    for (const ContextPtr& context : contexts) {
      const std::lock_guard lock(context->mutex);
      context->deleted = deleted;
    }
  };
  mark_deleted(true);
  for (const ContextPtr& context : contexts) {
    StopRun(context, config_.stop_grace + std::chrono::milliseconds(500));
  }
  std::vector<FifoMutex::Guard> turns;
  for (const ContextPtr& context : contexts) turns.push_back(co_await context->queue.Lock());
  const FifoMutex::Guard tree_guard = co_await sandbox->tree_lock.Lock();
  row.destroyed_ms = NowMs();
  row.destroyed_reason = std::move(reason);
  store::Transaction transaction;
  transaction.sandboxes.push_back(row);
  transaction.dropped_sandbox_data.push_back(row.id);
  const Result<void> committed = co_await store_->Commit(std::move(transaction));
  if (!committed.ok()) {
    mark_deleted(false);
    const std::lock_guard lock(sandbox->mutex);
    sandbox->destroying = false;
    co_return committed.error();
  }
  ReleaseSandbox();
  CountContexts(-static_cast<std::int64_t>(contexts.size()));
  for (const ContextPtr& context : contexts) DropWorker(*context, Memory::kSaved);
  {
    const std::lock_guard lock(sandbox->mutex);
    sandbox->row = std::move(row);
    sandbox->destroying = false;
    sandbox->contexts.clear();
    sandbox->workspace.reset();
  }
  co_return Describe(*sandbox);
}

ServiceImpl::Task<Sandbox> ServiceImpl::SetTtl(std::string sandbox_id, std::int64_t ttl_ms) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  DORMOUSE_CO_TRY(CheckTtl(ttl_ms, templates_.Of(sandbox->template_slug)));
  co_return co_await Detach(SetTtlNow(std::move(sandbox), ttl_ms));
}

ServiceImpl::Task<Sandbox> ServiceImpl::SetTtlNow(SandboxPtr sandbox, std::int64_t ttl_ms) {
  const FifoMutex::Guard contexts_guard = co_await sandbox->contexts_lock.Lock();
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  store::SandboxRow row;
  {
    const std::lock_guard lock(sandbox->mutex);
    row = sandbox->row;
  }
  row.ttl_ms = ttl_ms;
  row.expires_ms = NowMs() + ttl_ms;
  store::Transaction transaction;
  transaction.sandboxes.push_back(row);
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  {
    const std::lock_guard lock(sandbox->mutex);
    sandbox->row.ttl_ms = row.ttl_ms;
    sandbox->row.expires_ms = row.expires_ms;
  }
  co_return Describe(*sandbox);
}

ServiceImpl::Task<SandboxInfo> ServiceImpl::Info(std::string sandbox_id) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindSandbox(std::move(sandbox_id)));
  SandboxInfo info;
  info.sandbox = Describe(*sandbox);
  if (info.sandbox.status == SandboxStatus::kDestroyed) co_return info;
  DORMOUSE_CO_ASSIGN(const auto workspace, co_await LoadWorkspace(sandbox));
  const workspace::TreeTotals totals =
      workspace->Read([](const workspace::Tree& tree) { return tree.totals(); });
  info.workspace_files = totals.files;
  info.workspace_bytes = totals.bytes;
  const std::lock_guard lock(sandbox->mutex);
  for (const auto& [id, context] : sandbox->contexts) info.contexts.push_back(Describe(*context));
  co_return info;
}

}  // namespace dormouse::service
