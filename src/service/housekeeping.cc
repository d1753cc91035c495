// SPDX-License-Identifier: Apache-2.0
// What is done once a second, and less often.
#include <spdlog/spdlog.h>

#include <boost/asio/redirect_error.hpp>

#include "service/service_impl.h"
#include "service/workspace_runs.h"

namespace dormouse::service {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kTick{1};
constexpr unsigned kSweepTicks = 30;
constexpr unsigned kTotalsTicks = 15;
constexpr unsigned kIdleTicks = 2;
constexpr std::size_t kSweepContents = 1'000;
constexpr std::uint32_t kSandboxesAtOnce = 100;
constexpr std::chrono::minutes kSandboxKept{5};

}  // namespace

asio::awaitable<void> ServiceImpl::Housekeeping() {
  unsigned tick = 0;
  while (!stopping_) {
    housekeeping_timer_->expires_after(kTick);
    boost::system::error_code ignored;
    co_await housekeeping_timer_->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    if (stopping_) co_return;
    ++tick;
    EvictIdle();
    EvictOverBudget();
    runs_.Expire(std::chrono::steady_clock::now());
    co_await ExpireSandboxes();
    if (tick % kIdleTicks == 0) co_await ExpireIdleSandboxes();
    co_await KeepAccounts();
    co_await ExpireArtifacts();
    ForgetUnusedSandboxes();
    if (tick % kTotalsTicks == 0) {
      co_await OnPool(pool_, [this] {
        RefreshTotals();
        return true;
      });
    }
    if (tick % kSweepTicks == 0) {
      co_await workspace_runs_->Sweep();
      co_await DropOldTombstones();
      co_await SweepContents();
    }
  }
}

asio::awaitable<void> ServiceImpl::SweepContents() {
  // In portions, so that commits get their turn in between.
  std::size_t portion = kSweepContents;
  while (portion == kSweepContents && !stopping_) {
    const Result<std::size_t> swept = co_await store_->SweepContents(kSweepContents);
    if (!swept.ok()) spdlog::warn("the sweep of contents failed: {}", swept.error().message);
    portion = swept.ok() ? *swept : 0;
  }
}

asio::awaitable<void> ServiceImpl::ExpireSandboxes() {
  const std::int64_t now_ms = NowMs();
  const auto expired =
      co_await OnPool(pool_, [this, now_ms] { return store_->ReadExpiredSandboxes(now_ms, kSandboxesAtOnce); });
  if (!expired.ok()) {
    spdlog::warn("cannot look for expired sandboxes: {}", expired.error().message);
    co_return;
  }
  for (const std::string& id : *expired) {
    const Result<SandboxPtr> sandbox = co_await FindSandbox(id);
    if (!sandbox.ok()) continue;
    const Result<Sandbox> destroyed = co_await DestroyNow(*sandbox, "ttl_expired");
    if (!destroyed.ok()) {
      spdlog::warn("cannot destroy the expired sandbox {}: {}", id, destroyed.error().message);
    }
  }
}

asio::awaitable<void> ServiceImpl::ExpireIdleSandboxes() {
  for (const Template* const preset : templates_.WithIdleExpiry()) {
    const std::int64_t since_ms = NowMs() - preset->idle_expiry_ms;
    const auto idle = co_await OnPool(pool_, [this, preset, since_ms] {
      return store_->ReadIdleSandboxes(preset->slug, since_ms, kSandboxesAtOnce);
    });
    if (!idle.ok()) {
      spdlog::warn("cannot look for idle sandboxes: {}", idle.error().message);
      co_return;
    }
    for (const std::string& id : *idle) {
      const Result<SandboxPtr> sandbox = co_await FindSandbox(id);
      // A run in progress is stored as a use only when it ends.
      if (!sandbox.ok() || (*sandbox)->runs > 0) continue;
      const Result<Sandbox> destroyed = co_await DestroyNow(*sandbox, "idle_expired");
      if (!destroyed.ok()) {
        spdlog::warn("cannot destroy the idle sandbox {}: {}", id, destroyed.error().message);
      }
    }
  }
}

void ServiceImpl::ForgetUnusedSandboxes() {
  const auto then = std::chrono::steady_clock::now() - kSandboxKept;
  // Destroyed outside the lock.
  std::vector<SandboxPtr> forgotten;
  const std::lock_guard lock(mutex_);
  for (auto it = sandboxes_.begin(); it != sandboxes_.end();) {
    SandboxState& sandbox = *it->second;
    bool unused = it->second.use_count() == 1 && sandbox.runs == 0;
    if (unused) {
      const std::lock_guard sandbox_lock(sandbox.mutex);
      unused = sandbox.touched <= then;
      for (const auto& [id, context] : sandbox.contexts) {
        const std::lock_guard context_lock(context->mutex);
        if (context.use_count() > 1 || context->worker || !context->row.stale_reason.empty()) {
          unused = false;
        }
      }
    }
    if (unused) {
      forgotten.push_back(std::move(it->second));
      it = sandboxes_.erase(it);
    } else {
      ++it;
    }
  }
}

void ServiceImpl::RefreshTotals() {
  const Result<store::StoreTotals> totals = store_->ReadTotals();
  if (!totals.ok()) return;
  const std::lock_guard lock(mutex_);
  totals_ = *totals;
}

Result<void> ServiceImpl::ReserveSandbox() {
  const std::uint32_t limit = config_.active_sandboxes;
  const std::lock_guard lock(mutex_);
  if (limit > 0 && active_sandboxes_ >= limit) {
    return Error(ErrorCode::kQuotaExceeded, "there are as many sandboxes as this server takes: destroy some",
                 {{"quota", "active_sandboxes"}, {"limit", std::to_string(limit)}});
  }
  ++active_sandboxes_;
  return {};
}

void ServiceImpl::ReleaseSandbox() {
  const std::lock_guard lock(mutex_);
  --active_sandboxes_;
}

void ServiceImpl::CountContexts(std::int64_t change) {
  const std::lock_guard lock(mutex_);
  totals_.contexts += static_cast<std::uint64_t>(change);
}

}  // namespace dormouse::service
