// SPDX-License-Identifier: Apache-2.0
// The history of contexts: generations, fork, rollback.
#include <algorithm>

#include "service/service_impl.h"
#include "service/validation.h"

namespace dormouse::service {
namespace {

Error NoSuchGeneration(std::uint64_t generation) {
  return Error(ErrorCode::kNotFound,
               "the context has no generation " + std::to_string(generation) +
                   " (the newest ones are kept)",
               {{"field", "generation"}});
}

const store::GenerationRow* FindGeneration(const ContextState& context, std::uint64_t number) {
  const auto it = std::find_if(
      context.generations.begin(), context.generations.end(),
      [number](const store::GenerationRow& generation) { return generation.number == number; });
  return it == context.generations.end() ? nullptr : &*it;
}

}  // namespace

ServiceImpl::Task<std::vector<Generation>> ServiceImpl::ListGenerations(std::string sandbox_id,
                                                                        std::string context_id) {
  DORMOUSE_CO_ASSIGN(const auto found,
                     co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  std::vector<Generation> generations;
  const std::lock_guard lock(found.second->mutex);
  for (const store::GenerationRow& row : found.second->generations) {
    if (!bindings()->IsInstalled(row.engine_build)) continue;
    Generation generation;
    generation.generation = row.number;
    generation.executions = row.executions;
    generation.stored_bytes = row.stored_bytes;
    generation.live_pages = row.live_pages;
    generation.taken_at = Time(std::chrono::milliseconds(row.taken_ms));
    generations.push_back(generation);
  }
  std::reverse(generations.begin(), generations.end());
  co_return generations;
}

ServiceImpl::Task<Context> ServiceImpl::ForkContext(std::string sandbox_id, std::string context_id,
                                                    std::string name,
                                                    std::optional<std::uint64_t> generation,
                                                    Answerer<Context> answer) {
  DORMOUSE_CO_TRY(CheckContextName(name));
  DORMOUSE_CO_ASSIGN(auto found, co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  co_return co_await Detach(
      ForkNow(std::move(found.first), std::move(found.second), std::move(name), generation,
              std::move(answer)));
}

ServiceImpl::Task<Context> ServiceImpl::ForkNow(SandboxPtr sandbox, ContextPtr source,
                                                std::string name,
                                                std::optional<std::uint64_t> generation,
                                                Answerer<Context> answer) {
  const FifoMutex::Guard guard = co_await sandbox->contexts_lock.Lock();
  store::ContextRow row;
  std::vector<store::GenerationRow> generations;
  {
    const std::lock_guard lock(source->mutex);
    row = source->row;
    if (source->deleted) co_return Error(ErrorCode::kNotFound, "there is no such context");
    if (!generation && source->HasUnsavedMemory()) {
      co_return Error(ErrorCode::kConflict,
                      "the newest snapshot is older than the context's memory: name a generation");
    }
    const store::GenerationRow* origin = nullptr;
    if (generation) {
      origin = FindGeneration(*source, *generation);
      if (origin == nullptr) co_return NoSuchGeneration(*generation);
    } else if (!source->generations.empty()) {
      origin = &source->generations.back();
    }
    if (origin != nullptr) {
      generations.push_back(*origin);
      generations.back().number = 1;
      row.executions = origin->executions;
    } else {
      row.executions = 0;
    }
  }
  if (!generations.empty() && !bindings()->IsInstalled(generations.back().engine_build)) {
    co_return Error(ErrorCode::kNotFound, "the engine of the snapshot is not installed any more");
  }
  row.name = std::move(name);
  row.is_default = false;
  row.generation = generations.size();
  row.reseed = true;
  row.stale_reason.clear();
  DORMOUSE_CO_ASSIGN(ContextPtr fork,
                     co_await AddContext(sandbox, std::move(row), std::move(generations),
                                         std::move(answer)));
  co_return Describe(*fork);
}

ServiceImpl::Task<Context> ServiceImpl::RollbackContext(std::string sandbox_id, std::string context_id,
                                                        std::uint64_t generation) {
  DORMOUSE_CO_ASSIGN(auto found, co_await FindContext(std::move(sandbox_id), std::move(context_id)));
  co_return co_await Detach(RollbackNow(std::move(found.first), std::move(found.second), generation));
}

// History only grows: the old state becomes the newest generation, so that a rollback can be taken back.
ServiceImpl::Task<Context> ServiceImpl::RollbackNow(SandboxPtr sandbox, ContextPtr context,
                                                    std::uint64_t generation) {
  const FifoMutex::Guard turn = co_await context->queue.Lock();
  DORMOUSE_CO_TRY(CheckLive(*sandbox));
  store::ContextRow row;
  std::vector<store::GenerationRow> generations;
  store::Transaction transaction;
  {
    const std::lock_guard lock(context->mutex);
    if (context->deleted) co_return Error(ErrorCode::kNotFound, "there is no such context");
    const store::GenerationRow* origin = FindGeneration(*context, generation);
    if (origin == nullptr || !bindings()->IsInstalled(origin->engine_build)) {
      co_return NoSuchGeneration(generation);
    }
    row = context->row;
    generations = context->generations;
    store::GenerationRow restored = *origin;
    restored.number = generations.back().number + 1;
    restored.taken_ms = NowMs();
    generations.push_back(std::move(restored));
  }
  row.generation = generations.back().number;
  row.reseed = true;
  row.stale_reason.clear();
  transaction.contexts.push_back(row);
  transaction.generations.emplace_back(row.id, generations.back());
  while (generations.size() > config_.generations_kept) {
    transaction.dropped_generations.emplace_back(row.id, generations.front().number);
    generations.erase(generations.begin());
  }
  DORMOUSE_CO_TRY(co_await store_->Commit(std::move(transaction)));
  DropWorker(*context, Memory::kSaved);
  {
    const std::lock_guard lock(context->mutex);
    context->row = std::move(row);
    context->generations = std::move(generations);
  }
  co_return Describe(*context);
}

}  // namespace dormouse::service
