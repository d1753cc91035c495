// SPDX-License-Identifier: Apache-2.0
#include "engine/guarded_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dormouse::engine {
namespace {

std::size_t RoundUp(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

Result<GuardedStack> GuardedStack::Create(std::size_t stack_bytes, std::size_t guard_bytes) {
  GuardedStack stack;
  const std::size_t guard = RoundUp(guard_bytes);
  const std::size_t size = RoundUp(stack_bytes);
  void* const mapped = mmap(nullptr, guard + size, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) return SystemError("mapping a stack", errno);
  stack.mapping_ = static_cast<std::byte*>(mapped);
  stack.guard_bytes_ = guard;
  stack.stack_bytes_ = size;
  if (mprotect(stack.lowest(), size, PROT_READ | PROT_WRITE) != 0) {
    return SystemError("mapping a stack", errno);
  }
  // The first touch of a huge page would clear 2 MiB for a few KiB of frames.
  madvise(stack.lowest(), size, MADV_NOHUGEPAGE);
  return stack;
}

GuardedStack::~GuardedStack() {
  if (mapping_ != nullptr) munmap(mapping_, guard_bytes_ + stack_bytes_);
}

GuardedStack::GuardedStack(GuardedStack&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      guard_bytes_(std::exchange(other.guard_bytes_, 0)),
      stack_bytes_(std::exchange(other.stack_bytes_, 0)) {}

GuardedStack& GuardedStack::operator=(GuardedStack&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(guard_bytes_, other.guard_bytes_);
  std::swap(stack_bytes_, other.stack_bytes_);
  return *this;
}

void GuardedStack::Trim(std::size_t keep_bytes) {
  const std::size_t keep = RoundUp(keep_bytes);
  if (keep < stack_bytes_) madvise(lowest(), stack_bytes_ - keep, MADV_DONTNEED);
}

}  // namespace dormouse::engine
