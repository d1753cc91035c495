// SPDX-License-Identifier: Apache-2.0
// The ids that clients see: a prefix that tells the kind, and 100 random bits.
#pragma once

#include <string>
#include <string_view>

#include "common/random_id.h"

namespace dormouse::service {

inline constexpr std::size_t kIdCharacters = 20;

inline std::string NewId(std::string_view prefix) {
  return std::string(prefix) + RandomId(kIdCharacters);
}
inline std::string NewSandboxId() { return NewId("sbx_"); }
inline std::string NewContextId() { return NewId("cctx_"); }
inline std::string NewRunId() { return NewId("run_"); }
inline std::string NewArtifactId() { return NewId("art_"); }
inline std::string NewWorkspaceRunId() { return NewId("wsr_"); }
inline std::string NewUploadId() { return NewId("upl_"); }
inline std::string NewKeyId() { return NewId("key_"); }
inline std::string NewProjectId() { return NewId("prj_"); }

}  // namespace dormouse::service
