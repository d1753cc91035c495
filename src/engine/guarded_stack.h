// SPDX-License-Identifier: Apache-2.0
// GuardedStack: a mapped stack with inaccessible addresses below it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/result.h"

namespace dormouse::engine {

class GuardedStack {
 public:
  GuardedStack() = default;
  // Both sizes are rounded up to whole pages. Memory is taken as far as the stack is used.
  static Result<GuardedStack> Create(std::size_t stack_bytes, std::size_t guard_bytes);
  ~GuardedStack();
  GuardedStack(GuardedStack&& other) noexcept;
  GuardedStack& operator=(GuardedStack&& other) noexcept;
  GuardedStack(const GuardedStack&) = delete;
  GuardedStack& operator=(const GuardedStack&) = delete;

  std::byte* lowest() const { return mapping_ + guard_bytes_; }
  std::byte* top() const { return lowest() + stack_bytes_; }
  std::size_t size_bytes() const { return stack_bytes_; }
  bool GuardCovers(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(mapping_) < guard_bytes_;
  }
  // Gives the memory below the topmost `keep_bytes` back; it reads as zero afterwards. Nothing may
  // be running on the stack.
  void Trim(std::size_t keep_bytes);

 private:
  std::byte* mapping_ = nullptr;
  std::size_t guard_bytes_ = 0;
  std::size_t stack_bytes_ = 0;
};

}  // namespace dormouse::engine
