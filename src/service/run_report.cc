// SPDX-License-Identifier: Apache-2.0
#include "service/run_report.h"

#include "common/utf8.h"

namespace dormouse::service {
namespace {

using scheduler::RunStatus;

constexpr std::size_t kMaxWorkerMessageBytes = 4096;

// The worker's words, made safe to pass on.
std::string Clean(const std::string& message) {
  std::string clean;
  Utf8Decoder decoder;
  decoder.Append(std::string_view(message).substr(0, kMaxWorkerMessageBytes), clean);
  decoder.Finish(clean);
  return clean;
}

CodeError Named(const RunEnd& end, std::string name, std::string message) {
  CodeError error = end.guest_error.value_or(CodeError());
  error.name = std::move(name);
  error.message = std::move(message);
  return error;
}

std::string WithReason(std::string text, const RunEnd& end) {
  return end.message.empty() ? text + "." : text + ": " + Clean(end.message);
}

std::optional<CodeError> ErrorOfExit(const RunEnd& end) {
  const std::int32_t code = end.exit_code.value_or(end.guest_exit ? end.guest_exit->code : 0);
  const std::string message = end.guest_exit ? end.guest_exit->message : std::string();
  if (code == 0 && message.empty()) return std::nullopt;
  return Named(end, "SystemExit", message.empty() ? std::to_string(code) : message);
}

}  // namespace

std::optional<CodeError> ErrorOf(const RunEnd& end) {
  switch (end.status) {
    case RunStatus::kOk:
      return std::nullopt;
    case RunStatus::kError:
      if (end.guest_error) return end.guest_error;
      return Named(end, "Error", WithReason("The run failed", end));
    case RunStatus::kTimeout:
      return Named(end, "TimeoutError",
                   "Code execution exceeded " + std::to_string(end.timeout_ms) + " ms.");
    case RunStatus::kFuelExhausted:
      return Named(end, "FuelExhaustedError",
                   "Code execution used up its " + std::to_string(end.fuel_us) +
                       " microseconds of CPU time.");
    case RunStatus::kInterrupted:
      return Named(end, "Interrupted", end.gone.empty() ? "The run was interrupted."
                                                        : "The " + end.gone + " was deleted during the run.");
    case RunStatus::kOutOfMemory:
      return Named(end, "OutOfMemoryError",
                   WithReason("The run needed more than its memory limit of " +
                                  std::to_string(end.memory_bytes) + " bytes",
                              end));
    case RunStatus::kCrashed:
      return Named(end, "EngineCrash", WithReason("The engine stopped working", end));
    case RunStatus::kExited:
      return ErrorOfExit(end);
  }
  return Named(end, "EngineCrash", WithReason("The engine stopped working", end));
}

}  // namespace dormouse::service
