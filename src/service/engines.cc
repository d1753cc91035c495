// SPDX-License-Identifier: Apache-2.0
// Engines while the server runs: what is installed, what needs it, and taking up what is new.
#include <spdlog/spdlog.h>

#include "service/service_impl.h"

namespace dormouse::service {

Result<std::map<std::string, std::uint64_t>> ServiceImpl::CountContextsOfBuilds() {
  std::map<std::string, std::uint64_t> contexts;
  DORMOUSE_ASSIGN(const auto stored, store_->ReadEngineUses());
  for (const store::EngineUse& use : stored) contexts[use.engine_build] = use.contexts;
  // Contexts whose first run goes on, or could not be saved, need their build as well.
  const std::lock_guard lock(mutex_);
  for (const auto& [id, sandbox] : sandboxes_) {
    const std::lock_guard sandbox_lock(sandbox->mutex);
    for (const auto& [context_id, context] : sandbox->contexts) {
      const std::lock_guard context_lock(context->mutex);
      const bool in_memory = context->worker || context->active;
      if (in_memory && context->generations.empty() && !context->resident_build.empty()) {
        ++contexts[context->resident_build];
      }
    }
  }
  return contexts;
}

ServiceImpl::Task<std::vector<Engine>> ServiceImpl::ListEngines(Caller caller) {
  std::vector<Engine> engines = bindings()->Engines();
  if (caller.IsRestricted()) co_return engines;
  const auto contexts = co_await OnPool(pool_, [this] { return CountContextsOfBuilds(); });
  if (!contexts.ok()) co_return contexts.error();
  for (Engine& engine : engines) {
    const auto found = contexts->find(engine.build_id);
    engine.contexts = found == contexts->end() ? 0 : found->second;
  }
  co_return engines;
}

ServiceImpl::Task<void> ServiceImpl::ReloadEngines() {
  co_return co_await Detach(ReloadEnginesNow());
}

ServiceImpl::Task<void> ServiceImpl::ReloadEnginesNow() {
  if (!load_engines_) co_return Result<void>();
  const FifoMutex::Guard turn = co_await engines_lock_.Lock();
  auto engines = co_await OnPool(pool_, [this] { return load_engines_(); });
  if (!engines.ok()) co_return std::move(engines).error();
  DORMOUSE_CO_ASSIGN(BindingTable table, BindingTable::Make(config_, *engines));
  // First where workers come from: a binding is not offered before its build can run.
  DORMOUSE_CO_TRY(co_await host_->SetEngines(std::move(*engines)));
  for (const Binding& binding : table.All()) {
    spdlog::info("{}: {} {}, build {}", binding.name, binding.engine, binding.version,
                 binding.build_id.substr(0, 16));
  }
  bindings_.store(std::make_shared<const BindingTable>(std::move(table)));
  co_return Result<void>();
}

}  // namespace dormouse::service
