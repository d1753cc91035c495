// SPDX-License-Identifier: Apache-2.0
// What is counted for GET /v1/usage, and how a transaction counts it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/rows.h"

namespace dormouse::service {

namespace metric {
inline constexpr std::string_view kCodeRuns = "code_run_invocations";
inline constexpr std::string_view kSandboxes = "sandbox_creates";
inline constexpr std::string_view kFileBytes = "file_bytes_written";
inline constexpr std::string_view kArtifactBytes = "artifact_bytes_stored";
// Stored in milliseconds.
inline constexpr std::string_view kComputeSeconds = "compute_unit_seconds";
}  // namespace metric

inline constexpr std::int64_t kDayMs = 24ll * 3600 * 1000;
// A year and the month in which it ends.
inline constexpr std::int64_t kUsageKeptDays = 400;

inline store::UsageRow UsageOf(const std::string& project_id, std::string_view metric,
                               std::int64_t amount, std::int64_t now_ms) {
  return {now_ms / kDayMs, project_id, std::string(metric), amount};
}

}  // namespace dormouse::service
