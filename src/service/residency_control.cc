// SPDX-License-Identifier: Apache-2.0
// Bringing contexts into memory and out of it.
#include <spdlog/spdlog.h>

#include "service/service_impl.h"

namespace dormouse::service {
namespace {

constexpr int kStartAttempts = 3;

}  // namespace

ServiceImpl::Task<scheduler::StartSpec> ServiceImpl::MakeStartSpec(const RunJob& job,
                                                                   Residence& residence) {
  ContextState& context = *job.context;
  scheduler::StartSpec spec;
  spec.build_id = job.binding->info.build_id;
  spec.memory_bytes = job.binding->info.max_memory_bytes;
  context.resident_segments.clear();
  {
    const std::lock_guard lock(context.mutex);
    spec.reseed = context.row.reseed;
    if (job.binding->info.contexts && !context.generations.empty()) {
      const store::GenerationRow& newest = context.generations.back();
      if (bindings()->IsInstalled(newest.engine_build)) {
        spec.build_id = newest.engine_build;
        context.resident_segments = newest.segments;
      } else {
        residence.state_lost = true;
      }
    }
  }
  {
    const std::lock_guard lock(context.mutex);
    context.resident_build = spec.build_id;
  }
  residence.born = context.resident_segments.empty();
  if (residence.born) {
    spec.reseed = true;
    co_return spec;
  }
  Result<std::vector<store::LoadedSegment>> loaded =
      co_await OnPool(pool_, [this, refs = context.resident_segments] {
        return store_->ReadSegments(refs);
      });
  if (!loaded.ok()) co_return std::move(loaded).error();
  for (store::LoadedSegment& stored : *loaded) {
    scheduler::Segment segment;
    segment.bytes = std::move(stored.bytes);
    segment.file = std::move(stored.file);
    segment.size_bytes = stored.size_bytes;
    segment.checksum = stored.checksum;
    spec.segments.push_back(std::move(segment));
  }
  co_return spec;
}

ServiceImpl::Task<ServiceImpl::Residence> ServiceImpl::MakeResident(RunJob& job) {
  ContextState& context = *job.context;
  Residence residence;
  bool stale = false;
  {
    const std::lock_guard lock(context.mutex);
    residence.worker = context.worker;
    stale = !context.row.stale_reason.empty();
  }
  if (residence.worker && residence.worker->alive()) co_return residence;
  // Runs that could not be saved went with the worker that held them.
  residence.state_lost = stale;
  if (residence.worker) {
    // It died between runs: its memory is that of the newest generation, unless that is stale.
    residence.worker.reset();
    DropWorker(context, stale ? Memory::kLost : Memory::kSaved);
  }
  EvictOverBudget();
  DORMOUSE_CO_ASSIGN(auto workspace, co_await LoadWorkspace(job.sandbox));
  const auto begin = std::chrono::steady_clock::now();
  Result<std::unique_ptr<scheduler::Worker>> worker = Error(ErrorCode::kUnavailable, "");
  // A process that dies before the guest ran is not the context's fault: another may do.
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    Result<scheduler::StartSpec> spec = co_await MakeStartSpec(job, residence);
    if (!spec.ok()) {
      worker = std::move(spec).error();
      break;
    }
    worker = co_await host_->Start(std::move(spec).value());
    if (worker.ok() || worker.error().code != ErrorCode::kUnavailable) break;
  }
  if (!worker.ok()) {
    Error error = std::move(worker).error();
    if (error.code == ErrorCode::kCorrupt) {
      error.message = "the newest snapshot of the context cannot be restored (" + error.message +
                      "); roll back to an earlier generation";
    }
    co_return error;
  }
  const auto end = std::chrono::steady_clock::now();
  residence.start_ms = std::chrono::duration<double, std::milli>(end - begin).count();
  residence.started = true;
  residence.worker = std::move(worker).value();
  context.mirror = std::make_unique<workspace::Mirror>(std::move(workspace));
  context.needs_base = false;
  {
    const std::lock_guard lock(context.mutex);
    context.worker = residence.worker;
  }
  residency_.Use(job.context, residence.worker->resident_bytes(), end);
  co_return residence;
}

void ServiceImpl::DropWorker(ContextState& context, Memory memory) {
  std::shared_ptr<scheduler::Worker> worker;
  {
    const std::lock_guard lock(context.mutex);
    worker = std::move(context.worker);
    context.worker.reset();
    // What was drawn from that memory must not be drawn again.
    if (memory == Memory::kLost) context.row.reseed = true;
  }
  context.mirror.reset();
  context.resident_segments.clear();
  context.needs_base = false;
  residency_.Remove(&context);
}

bool ServiceImpl::TryEvict(const ContextPtr& context) {
  const auto turn = context->queue.TryLock();
  if (!turn) return false;
  {
    const std::lock_guard lock(context->mutex);
    if (!context->worker || context->HasUnsavedMemory()) return false;
  }
  DropWorker(*context, Memory::kSaved);
  metrics_.Evicted();
  return true;
}

void ServiceImpl::EvictIdle() {
  const auto then = std::chrono::steady_clock::now() - config_.idle_eviction;
  for (const ContextPtr& context : residency_.IdleSince(then)) TryEvict(context);
}

void ServiceImpl::EvictOverBudget() {
  if (residency_.bytes() <= config_.resident_memory_bytes) return;
  for (const ContextPtr& context : residency_.Oldest()) {
    if (residency_.bytes() <= config_.resident_memory_bytes) return;
    TryEvict(context);
  }
}

}  // namespace dormouse::service
