// SPDX-License-Identifier: Apache-2.0
// Metrics: what operators count, in the Prometheus text format.
//
// Threads: all calls from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "service/types.h"

namespace dormouse::service {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  void RunEnded(const RunResult& result);
  void CommitFailed();
  void Evicted();

  struct Gauges {
    std::uint64_t resident_contexts = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t queued_runs = 0;  // waiting or going on
    std::uint64_t sandboxes = 0;
    std::uint64_t contexts = 0;
    std::uint64_t stored_segment_bytes = 0;
    std::uint64_t stored_content_bytes = 0;
    std::uint64_t artifacts = 0;
    std::uint64_t artifact_bytes = 0;
  };
  std::string Text(const Gauges& gauges) const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// The API's word for a status: "ok", "error", "timeout", …
std::string_view NameOf(scheduler::RunStatus status);

}  // namespace dormouse::service
