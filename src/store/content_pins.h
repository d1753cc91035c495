// SPDX-License-Identifier: Apache-2.0
// ContentPins: which contents must not be removed although nothing stored refers to them.
//
// A content is removed by the store's sweep when no tree of any sandbox and no artifact has it. Three kinds of holders need it longer: a
// commit that is about to refer to it, a worker whose manifest named it, a client that reads it. Each holds a pin.
//
// Threads: all calls may be made from any thread. Owner: the store; it outlives every pin.
#pragma once

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/sha256.h"

namespace dormouse::store {

class ContentPins;

class ContentPin {
 public:
  ContentPin() = default;
  ContentPin(ContentPins* pins, const Sha256Digest& digest) : pins_(pins), digest_(digest) {}
  ~ContentPin() { reset(); }
  ContentPin(ContentPin&& other) noexcept
      : pins_(std::exchange(other.pins_, nullptr)), digest_(other.digest_) {}
  ContentPin& operator=(ContentPin&& other) noexcept;
  void reset();

 private:
  ContentPins* pins_ = nullptr;
  Sha256Digest digest_;
};

class ContentPins {
 public:
  struct Acquired {
    ContentPin pin;
    // The sweep is removing the content right now: whoever wants it must store it anew.
    bool being_removed = false;
  };
  Acquired Acquire(const Sha256Digest& digest);

  // For the sweep: those of `candidates` that nobody holds. They count as being removed until Forget.
  std::vector<Sha256Digest> Claim(const std::vector<Sha256Digest>& candidates);
  void Forget(const std::vector<Sha256Digest>& claimed);

 private:
  friend class ContentPin;
  void Release(const Sha256Digest& digest);

  std::mutex mutex_;
  std::unordered_map<Sha256Digest, std::size_t, Sha256Hash> counts_;
  std::unordered_set<Sha256Digest, Sha256Hash> removing_;
};

}  // namespace dormouse::store
