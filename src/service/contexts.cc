// SPDX-License-Identifier: Apache-2.0
// Contexts: making, finding, deleting, evicting.
#include <algorithm>

#include "service/ids.h"
#include "service/service_impl.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

namespace asio = boost::asio;

Error NoSuchContext() { return Error(ErrorCode::kNotFound, "there is no such context"); }

// A stop that arrives between the server's decision to run and the worker's start finds nothing to stop: ask again.
constexpr std::chrono::milliseconds kStopRepeats[] = {
    std::chrono::milliseconds(20), std::chrono::milliseconds(100), std::chrono::milliseconds(400)};

asio::awaitable<void> RepeatStop(ContextPtr context, std::shared_ptr<ActiveRun> active,
                                 std::optional<std::chrono::milliseconds> kill_after) {
  const auto deadline = std::chrono::steady_clock::now() +
                        kill_after.value_or(std::chrono::milliseconds(0));
  for (const std::chrono::milliseconds pause : kStopRepeats) {
    co_await Sleep(pause);
    const std::lock_guard lock(context->mutex);
    if (context->active != active) co_return;
    if (active->worker) active->worker->Interrupt(scheduler::StopReason::kInterrupt);
  }
  if (!kill_after) co_return;
  const auto now = std::chrono::steady_clock::now();
  if (now < deadline) {
    co_await Sleep(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now));
  }
  const std::lock_guard lock(context->mutex);
  if (context->active == active && active->worker) active->worker->Kill();
}

}  // namespace

Context ServiceImpl::Describe(const ContextState& state) const {
  const std::lock_guard lock(state.mutex);
  const store::ContextRow& row = state.row;
  Context context;
  context.id = row.id;
  context.sandbox_id = row.sandbox_id;
  context.binding = row.binding;
  context.language = row.language;
  context.name = row.name;
  context.cwd = row.cwd;
  context.env = row.env;
  context.is_default = row.is_default;
  context.executions = row.executions;
  context.created_at = Time(std::chrono::milliseconds(row.created_ms));
  context.last_used_at = Time(std::chrono::milliseconds(row.last_used_ms));
  context.resident = state.worker != nullptr;
  context.running = state.active != nullptr;
  if (state.generations.empty()) return context;
  const store::GenerationRow& newest = state.generations.back();
  // Without its engine a snapshot is of no use.
  if (!bindings()->IsInstalled(newest.engine_build)) return context;
  SnapshotInfo snapshot;
  snapshot.engine_build = newest.engine_build;
  snapshot.generation = newest.number;
  snapshot.pages = newest.live_pages;
  snapshot.bytes = newest.live_pages * 4096;
  snapshot.stored_bytes = newest.stored_bytes;
  snapshot.taken_at = Time(std::chrono::milliseconds(newest.taken_ms));
  snapshot.stale = !row.stale_reason.empty();
  snapshot.stale_reason = row.stale_reason;
  context.snapshot = std::move(snapshot);
  return context;
}

ServiceImpl::Task<std::pair<SandboxPtr, ContextPtr>> ServiceImpl::FindContext(
    std::string sandbox_id, std::string context_id) {
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  ContextPtr context;
  {
    const std::lock_guard lock(sandbox->mutex);
    const auto it = sandbox->contexts.find(context_id);
    if (it == sandbox->contexts.end()) co_return NoSuchContext();
    context = it->second;
  }
  co_return std::pair(std::move(sandbox), std::move(context));
}

ServiceImpl::Task<ContextPtr> ServiceImpl::AddContext(SandboxPtr sandbox, store::ContextRow row,
                                                      std::vector<store::GenerationRow> generations,
                                                      Answerer<Context> answer) {
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  const std::uint32_t most = templates_.Of(sandbox->template_slug).contexts_per_sandbox;
  {
    const std::lock_guard lock(sandbox->mutex);
    if (sandbox->contexts.size() >= most) {
      const std::string limit = std::to_string(most);
      co_return Error(ErrorCode::kQuotaExceeded,
                      "the sandbox has " + std::to_string(sandbox->contexts.size()) +
                          " contexts, limit " + limit + "; delete one first",
                      {{"field", "contexts"}, {"limit", limit}});
    }
    for (const auto& [id, other] : sandbox->contexts) {
      if (!row.name.empty() && other->name == row.name) {
        co_return Error(ErrorCode::kConflict, "the sandbox has a context of this name",
                        {{"field", "name"}});
      }
    }
  }
  row.id = NewContextId();
  row.sandbox_id = sandbox->id;
  row.created_ms = row.last_used_ms = NowMs();
  store::Transaction transaction;
  transaction.contexts.push_back(row);
  for (const store::GenerationRow& generation : generations) {
    transaction.generations.emplace_back(row.id, generation);
  }
  auto context = std::make_shared<ContextState>(std::move(row));
  context->generations = std::move(generations);
  if (answer) answers_.AddTo(transaction, answer(Describe(*context)), NowMs());
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  CountContexts(1);
  const std::lock_guard lock(sandbox->mutex);
  sandbox->contexts.emplace(context->id, context);
  co_return context;
}

ServiceImpl::Task<Context> ServiceImpl::Create(CreateContext request) {
  DORMOUSE_CO_TRY(CheckContextName(request.name));
  DORMOUSE_CO_TRY(CheckEnvironment(request.env));
  store::ContextRow row;
  DORMOUSE_CO_ASSIGN(row.cwd, CheckWorkingDirectory(request.cwd.empty() ? "/workspace" : request.cwd));
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(request.sandbox_id)));
  DORMOUSE_CO_ASSIGN(BindingPtr binding,
                     ChooseBinding(*sandbox, request.language, request.binding));
  if (!binding->info.contexts) {
    co_return Error(ErrorCode::kFeatureNotEnabled,
                    "the binding " + binding->info.name + " is stateless: it has no contexts",
                    {{"field", "binding"}});
  }
  row.binding = binding->info.name;
  row.language = binding->info.language;
  row.name = std::move(request.name);
  row.env = std::move(request.env);
  row.env.merge(templates_.Of(sandbox->template_slug).env);  // what the request says counts
  co_return co_await Detach(
      CreateContextNow(std::move(sandbox), std::move(row), std::move(request.answer)));
}

ServiceImpl::Task<Context> ServiceImpl::CreateContextNow(SandboxPtr sandbox, store::ContextRow row,
                                                         Answerer<Context> answer) {
  const FifoMutex::Guard guard = co_await sandbox->contexts_lock.Lock();
  DORMOUSE_CO_ASSIGN(ContextPtr context,
                     co_await AddContext(sandbox, std::move(row), {}, std::move(answer)));
  co_return Describe(*context);
}

Result<BindingPtr> ServiceImpl::ChooseBinding(const SandboxState& sandbox,
                                                       const std::string& language,
                                                       const std::string& binding) const {
  if (language.empty() && binding.empty()) {
    const std::string preset = templates_.Of(sandbox.template_slug).default_language;
    if (preset.empty()) {
      return InvalidField("language", "(or binding) is required: the sandbox's template has none");
    }
    return bindings()->ByLanguage(preset);
  }
  DORMOUSE_ASSIGN(BindingPtr found,
                  binding.empty() ? bindings()->ByLanguage(language) : bindings()->ByName(binding));
  if (!language.empty() && language != found->info.language) {
    return InvalidField("language", "is not that of the binding " + found->info.name);
  }
  return found;
}

Result<ContextPtr> ServiceImpl::FindForRun(const SandboxState& sandbox,
                                           const RunRequest& request) const {
  const std::lock_guard lock(sandbox.mutex);
  if (!request.context_id.empty()) {
    const auto it = sandbox.contexts.find(request.context_id);
    if (it == sandbox.contexts.end()) return NoSuchContext();
    return it->second;
  }
  for (const auto& [id, context] : sandbox.contexts) {
    if (!request.context_name.empty() && context->name == request.context_name) return context;
  }
  if (!request.context_name.empty()) return NoSuchContext();
  return ContextPtr();
}

ServiceImpl::Task<ContextPtr> ServiceImpl::ResolveContext(SandboxPtr sandbox,
                                                          const RunRequest& request) {
  DORMOUSE_CO_ASSIGN(ContextPtr context, FindForRun(*sandbox, request));
  if (context) {
    if (!request.language.empty() && request.language != context->language) {
      co_return InvalidField("language", "is \"" + request.language.substr(0, 64) +
                                             "\", the context's is \"" + context->language + "\"");
    }
    if (!request.binding.empty() && request.binding != context->binding) {
      co_return InvalidField("binding", "is not that of the context");
    }
    co_return context;
  }
  DORMOUSE_CO_ASSIGN(BindingPtr binding,
                     ChooseBinding(*sandbox, request.language, request.binding));
  {
    const std::lock_guard lock(sandbox->mutex);
    for (const auto& [id, other] : sandbox->contexts) {
      if (other->is_default && other->binding == binding->info.name) co_return other;
    }
  }
  co_return co_await Detach(AddDefaultContext(std::move(sandbox), binding));
}

ServiceImpl::Task<ContextPtr> ServiceImpl::AddDefaultContext(SandboxPtr sandbox,
                                                             BindingPtr binding) {
  const FifoMutex::Guard guard = co_await sandbox->contexts_lock.Lock();
  {
    const std::lock_guard lock(sandbox->mutex);
    for (const auto& [id, other] : sandbox->contexts) {
      if (other->is_default && other->binding == binding->info.name) co_return other;
    }
  }
  store::ContextRow row;
  row.binding = binding->info.name;
  row.language = binding->info.language;
  row.cwd = "/workspace";
  row.env = templates_.Of(sandbox->template_slug).env;
  row.is_default = true;
  co_return co_await AddContext(sandbox, std::move(row), {}, nullptr);
}

ServiceImpl::Task<Context> ServiceImpl::GetContext(std::string sandbox_id, std::string context_id) {
  DORMOUSE_CO_ASSIGN(const auto found,
                     co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  co_return Describe(*found.second);
}

ServiceImpl::Task<Paged<Context>> ServiceImpl::ListContexts(std::string sandbox_id, Page page) {
  DORMOUSE_CO_TRY(CheckPage(page));
  DORMOUSE_CO_ASSIGN(SandboxPtr sandbox, co_await FindLiveSandbox(std::move(sandbox_id)));
  std::vector<Context> all;
  {
    const std::lock_guard lock(sandbox->mutex);
    for (const auto& [id, context] : sandbox->contexts) all.push_back(Describe(*context));
  }
  std::sort(all.begin(), all.end(), [](const Context& a, const Context& b) {
    return a.created_at != b.created_at ? a.created_at > b.created_at : a.id > b.id;
  });
  // The cursor is the id of the last one shown; if that is gone, the list ends.
  auto first = all.begin();
  if (!page.cursor.empty()) {
    first = std::find_if(all.begin(), all.end(),
                         [&](const Context& context) { return context.id == page.cursor; });
    if (first != all.end()) ++first;
  }
  Paged<Context> result;
  for (; first != all.end() && result.items.size() < page.limit; ++first) {
    result.items.push_back(std::move(*first));
  }
  if (first != all.end()) result.next_cursor = result.items.back().id;
  co_return result;
}

void ServiceImpl::StopRun(const ContextPtr& context,
                          std::optional<std::chrono::milliseconds> kill_after) {
  std::shared_ptr<ActiveRun> active;
  {
    const std::lock_guard lock(context->mutex);
    active = context->active;
    if (!active) return;
    active->stop_requested = true;
    if (active->worker) active->worker->Interrupt(scheduler::StopReason::kInterrupt);
  }
  if (!BeginOperation()) return;
  Launch(RepeatStop(context, std::move(active), kill_after));
}

ServiceImpl::Task<Context> ServiceImpl::InterruptContext(std::string sandbox_id,
                                                         std::string context_id) {
  DORMOUSE_CO_ASSIGN(const auto found,
                     co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  StopRun(found.second, std::nullopt);
  co_return Describe(*found.second);
}

ServiceImpl::Task<Context> ServiceImpl::DeleteContext(std::string sandbox_id, std::string context_id) {
  DORMOUSE_CO_ASSIGN(auto found, co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  co_return co_await Detach(DeleteContextNow(std::move(found.first), std::move(found.second)));
}

ServiceImpl::Task<Context> ServiceImpl::DeleteContextNow(SandboxPtr sandbox, ContextPtr context) {
  const FifoMutex::Guard guard = co_await sandbox->contexts_lock.Lock();
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  {
    const std::lock_guard lock(context->mutex);
    if (context->deleted) co_return NoSuchContext();
    context->deleted = true;
  }
  StopRun(context, config_.stop_grace + std::chrono::milliseconds(500));
  const FifoMutex::Guard turn = co_await context->queue.Lock();
  store::Transaction transaction;
  transaction.dropped_contexts.push_back(context->id);
  const Result<void> committed = co_await store_->Commit(std::move(transaction));
  if (!committed.ok()) {
    const std::lock_guard lock(context->mutex);
    context->deleted = false;
    co_return committed.error();
  }
  CountContexts(-1);
  DropWorker(*context, Memory::kSaved);
  {
    const std::lock_guard lock(sandbox->mutex);
    sandbox->contexts.erase(context->id);
  }
  co_return Describe(*context);
}

ServiceImpl::Task<Context> ServiceImpl::EvictContext(std::string sandbox_id, std::string context_id) {
  DORMOUSE_CO_ASSIGN(auto found, co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  co_return co_await Detach(EvictNow(std::move(found.second)));
}

ServiceImpl::Task<Context> ServiceImpl::EvictNow(ContextPtr context) {
  const FifoMutex::Guard turn = co_await context->queue.Lock();
  {
    const std::lock_guard lock(context->mutex);
    if (context->deleted) co_return NoSuchContext();
    if (context->HasUnsavedMemory()) {
      co_return Error(ErrorCode::kConflict,
                      "the context's memory could not be saved (" + context->row.stale_reason +
                          "): run something in it once the reason is gone, or roll it back");
    }
  }
  DropWorker(*context, Memory::kSaved);
  co_return Describe(*context);
}

}  // namespace dormouse::service
