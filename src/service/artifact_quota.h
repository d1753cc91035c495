// SPDX-License-Identifier: Apache-2.0
// ArtifactReservation: room for artifacts of a sandbox, taken before they are stored, so that runs side by side cannot
// pass the quota together.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "service/state.h"

namespace dormouse::service {

class ArtifactReservation {
 public:
  explicit ArtifactReservation(std::shared_ptr<SandboxState> sandbox) : sandbox_(std::move(sandbox)) {}
  ~ArtifactReservation() { Release(); }
  ArtifactReservation(const ArtifactReservation&) = delete;
  ArtifactReservation& operator=(const ArtifactReservation&) = delete;

  // False, and nothing taken, when the sandbox would have more than `quota_bytes`.
  bool Add(std::uint64_t bytes, std::uint64_t quota_bytes) {
    const std::lock_guard lock(sandbox_->mutex);
    if (bytes > quota_bytes || sandbox_->artifact_bytes > quota_bytes - bytes) return false;
    sandbox_->artifact_bytes += bytes;
    held_bytes_ += bytes;
    return true;
  }
  // The artifacts are stored: the room stays taken until they are deleted.
  void Keep() { held_bytes_ = 0; }
  void Release() {
    const std::lock_guard lock(sandbox_->mutex);
    sandbox_->artifact_bytes -= std::exchange(held_bytes_, 0);
  }

 private:
  const std::shared_ptr<SandboxState> sandbox_;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace dormouse::service
