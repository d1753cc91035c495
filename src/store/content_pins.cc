// SPDX-License-Identifier: Apache-2.0
#include "store/content_pins.h"

namespace dormouse::store {

ContentPin& ContentPin::operator=(ContentPin&& other) noexcept {
  if (this != &other) {
    reset();
    pins_ = std::exchange(other.pins_, nullptr);
    digest_ = other.digest_;
  }
  return *this;
}

void ContentPin::reset() {
  if (pins_ != nullptr) std::exchange(pins_, nullptr)->Release(digest_);
}

ContentPins::Acquired ContentPins::Acquire(const Sha256Digest& digest) {
  const std::lock_guard lock(mutex_);
  ++counts_[digest];
  return {ContentPin(this, digest), removing_.contains(digest)};
}

void ContentPins::Release(const Sha256Digest& digest) {
  const std::lock_guard lock(mutex_);
  const auto it = counts_.find(digest);
  if (it != counts_.end() && --it->second == 0) counts_.erase(it);
}

std::vector<Sha256Digest> ContentPins::Claim(const std::vector<Sha256Digest>& candidates) {
  const std::lock_guard lock(mutex_);
  std::vector<Sha256Digest> claimed;
  for (const Sha256Digest& digest : candidates) {
    if (!counts_.contains(digest) && removing_.insert(digest).second) claimed.push_back(digest);
  }
  return claimed;
}

void ContentPins::Forget(const std::vector<Sha256Digest>& claimed) {
  const std::lock_guard lock(mutex_);
  for (const Sha256Digest& digest : claimed) removing_.erase(digest);
}

}  // namespace dormouse::store
