// SPDX-License-Identifier: Apache-2.0
// InterruptTable: what to write into linear memory so that an interpreter stops at its next safe
// point. The guest hands it out once (docs/engine-abi.md §4); it is data from the guest, so every
// entry is checked at each use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/result.h"
#include "engine/linear_memory.h"

namespace dormouse::engine {

// kOrThere: the low byte of the operation; the others are an offset. What lies at the offset from
// the address that is found at `address`, when the interrupt happens, is changed.
enum class InterruptOperation : std::uint32_t { kStore = 0, kOr = 1, kOrThere = 2 };

constexpr InterruptOperation KindOf(InterruptOperation operation) {
  return static_cast<InterruptOperation>(static_cast<std::uint32_t>(operation) & 0xff);
}
constexpr std::uint32_t OffsetOf(InterruptOperation operation) {
  return static_cast<std::uint32_t>(operation) >> 8;
}

struct InterruptEntry {
  std::uint32_t address = 0;
  std::uint32_t size_bytes = 0;  // 1, 4 or 8
  InterruptOperation operation = InterruptOperation::kStore;
  std::uint32_t value = 0;  // zero-extended to size_bytes

  bool operator==(const InterruptEntry&) const = default;
};

inline constexpr std::uint32_t kMaxInterruptEntries = 64;

// Reads {count, entries} at `address`. Fails on more than kMaxInterruptEntries, unknown sizes or
// operations, and addresses outside the memory.
Result<std::vector<InterruptEntry>> ReadInterruptTable(const LinearMemory& memory,
                                                       std::uint32_t address);

// Applies all entries that lie inside the memory; the others are skipped. Async-signal-safe. Must
// run on the guest's own thread, since the guest reads the same bytes without atomics.
void ApplyInterrupts(std::span<const InterruptEntry> entries, const LinearMemory& memory);

}  // namespace dormouse::engine
