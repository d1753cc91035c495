// SPDX-License-Identifier: Apache-2.0
#include "service/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <mutex>

namespace dormouse::service {
namespace {

constexpr std::size_t kRunStatuses = 8;

prometheus::Histogram::BucketBoundaries Seconds() {
  return {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600};
}

}  // namespace

std::string_view NameOf(scheduler::RunStatus status) {
  switch (status) {
    case scheduler::RunStatus::kOk:
      return "ok";
    case scheduler::RunStatus::kError:
      return "error";
    case scheduler::RunStatus::kTimeout:
      return "timeout";
    case scheduler::RunStatus::kFuelExhausted:
      return "fuel_exhausted";
    case scheduler::RunStatus::kInterrupted:
      return "interrupted";
    case scheduler::RunStatus::kOutOfMemory:
      return "oom";
    case scheduler::RunStatus::kCrashed:
      return "crashed";
    case scheduler::RunStatus::kExited:
      return "exited";
  }
  return "crashed";
}

struct Metrics::Impl {
  prometheus::Registry registry;
  std::array<prometheus::Counter*, kRunStatuses> runs{};
  prometheus::Histogram& run_seconds = Histogram("dormouse_run_seconds", "Time of a run");
  prometheus::Histogram& resume_seconds =
      Histogram("dormouse_resume_seconds", "Time to make a dormant context resident");
  prometheus::Histogram& snapshot_seconds = Histogram("dormouse_snapshot_seconds", "Time of a snapshot");
  prometheus::Counter& snapshot_bytes =
      Counter("dormouse_snapshot_bytes_total", "Bytes of snapshots written");
  prometheus::Counter& commit_failures =
      Counter("dormouse_commit_failures_total", "Runs whose effects could not be stored");
  prometheus::Counter& evictions = Counter("dormouse_evictions_total", "Contexts made dormant");
  prometheus::Gauge& resident_contexts = Gauge("dormouse_resident_contexts", "Contexts with a worker");
  prometheus::Gauge& resident_bytes = Gauge("dormouse_resident_bytes", "Memory of the workers");
  prometheus::Gauge& queued_runs = Gauge("dormouse_runs_in_progress", "Runs waiting or going on");
  prometheus::Gauge& sandboxes = Gauge("dormouse_sandboxes", "Sandboxes that are not destroyed");
  prometheus::Gauge& contexts = Gauge("dormouse_contexts", "Contexts, resident or dormant");
  prometheus::Gauge& segment_bytes =
      Gauge("dormouse_stored_segment_bytes", "Bytes of snapshots in the store");
  prometheus::Gauge& content_bytes =
      Gauge("dormouse_stored_content_bytes", "Bytes of file contents in the store");
  prometheus::Gauge& artifacts = Gauge("dormouse_artifacts", "Artifacts that are not deleted");
  prometheus::Gauge& artifact_bytes =
      Gauge("dormouse_artifact_bytes", "Bytes of artifacts, shared contents counted each time");

  Impl() {
    auto& family = prometheus::BuildCounter().Name("dormouse_runs_total").Help("Runs by status").Register(registry);
    for (std::size_t i = 0; i < kRunStatuses; ++i) {
      const std::string_view name = NameOf(static_cast<scheduler::RunStatus>(i));
      runs[i] = &family.Add({{"status", std::string(name)}});
    }
  }
  prometheus::Histogram& Histogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, Seconds());
  }
  prometheus::Counter& Counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
  }
  prometheus::Gauge& Gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::RunEnded(const RunResult& result) {
  const auto status = static_cast<std::size_t>(result.status);
  if (status < kRunStatuses) impl_->runs[status]->Increment();
  impl_->run_seconds.Observe(result.duration_ms / 1e3);
  if (result.resumed) impl_->resume_seconds.Observe(result.resume_ms / 1e3);
  if (result.snapshot_bytes > 0) {
    impl_->snapshot_seconds.Observe(result.snapshot_ms / 1e3);
    impl_->snapshot_bytes.Increment(static_cast<double>(result.snapshot_bytes));
  }
}

void Metrics::CommitFailed() { impl_->commit_failures.Increment(); }
void Metrics::Evicted() { impl_->evictions.Increment(); }

std::string Metrics::Text(const Gauges& gauges) const {
  impl_->resident_contexts.Set(static_cast<double>(gauges.resident_contexts));
  impl_->resident_bytes.Set(static_cast<double>(gauges.resident_bytes));
  impl_->queued_runs.Set(static_cast<double>(gauges.queued_runs));
  impl_->sandboxes.Set(static_cast<double>(gauges.sandboxes));
  impl_->contexts.Set(static_cast<double>(gauges.contexts));
  impl_->segment_bytes.Set(static_cast<double>(gauges.stored_segment_bytes));
  impl_->content_bytes.Set(static_cast<double>(gauges.stored_content_bytes));
  impl_->artifacts.Set(static_cast<double>(gauges.artifacts));
  impl_->artifact_bytes.Set(static_cast<double>(gauges.artifact_bytes));
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace dormouse::service
