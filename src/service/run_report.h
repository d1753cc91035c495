// SPDX-License-Identifier: Apache-2.0
// Which error a run's result shows, given how the run ended and what the guest said about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/worker.h"
#include "service/output_mapper.h"
#include "service/types.h"

namespace dormouse::service {

struct RunEnd {
  scheduler::RunStatus status = scheduler::RunStatus::kOk;
  std::string message;  // of the worker
  std::optional<std::int32_t> exit_code;
  std::optional<CodeError> guest_error;
  std::optional<GuestExit> guest_exit;
  // The limits of the run.
  std::int64_t timeout_ms = 0;
  std::uint64_t fuel_us = 0;
  std::uint64_t memory_bytes = 0;
  std::string gone;  // "context" or "sandbox" if it was deleted during the run
};

// Nothing when the run ended well. When the server stopped the run, the name and message are the server's and the
// traceback is the guest's.
std::optional<CodeError> ErrorOf(const RunEnd& end);

}  // namespace dormouse::service
