// SPDX-License-Identifier: Apache-2.0
#include "engine/interrupt_table.h"

#include <string>

namespace dormouse::engine {
namespace {

constexpr std::uint32_t kEntryBytes = 16;

// The guest interrupted by the signal reads these bytes in one access or not at all, so that the
// write must be one access too: no memcpy, which may go byte by byte.
template <typename T>
void ApplyTo(std::byte* target, InterruptOperation operation, std::uint32_t value) {
  typedef T Unaligned __attribute__((aligned(1), may_alias));
  volatile Unaligned* const word = reinterpret_cast<volatile Unaligned*>(target);
  *word = operation == InterruptOperation::kStore ? static_cast<T>(value)
                                                  : static_cast<T>(*word | static_cast<T>(value));
}

bool OperationIsKnown(InterruptOperation operation) {
  return operation == InterruptOperation::kStore || operation == InterruptOperation::kOr ||
         KindOf(operation) == InterruptOperation::kOrThere;
}

// Null for what lies outside the memory.
std::byte* TargetOf(const InterruptEntry& entry, const LinearMemory& memory) {
  std::uint64_t address = entry.address;
  if (KindOf(entry.operation) == InterruptOperation::kOrThere) {
    std::uint32_t there = 0;
    if (!memory.Read(entry.address, there)) return nullptr;
    address = std::uint64_t{there} + OffsetOf(entry.operation);
  }
  if (address > UINT32_MAX) return nullptr;
  return memory.At(static_cast<std::uint32_t>(address), entry.size_bytes);
}

bool SizeIsKnown(std::uint32_t size_bytes) {
  return size_bytes == 1 || size_bytes == 4 || size_bytes == 8;
}

Error BadEntry(std::uint32_t index, const std::string& what) {
  return Error(ErrorCode::kCorrupt,
               "entry " + std::to_string(index) + " of the interrupt table " + what);
}

}  // namespace

Result<std::vector<InterruptEntry>> ReadInterruptTable(const LinearMemory& memory,
                                                       std::uint32_t address) {
  std::uint32_t count = 0;
  if (!memory.Read(address, count)) {
    return Error(ErrorCode::kCorrupt, "the interrupt table lies outside the memory");
  }
  if (count > kMaxInterruptEntries) {
    return Error(ErrorCode::kCorrupt, "the interrupt table has " + std::to_string(count) +
                                          " entries, the limit is " +
                                          std::to_string(kMaxInterruptEntries));
  }
  std::vector<InterruptEntry> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    InterruptEntry entry;
    static_assert(sizeof(entry) == kEntryBytes);

    const std::uint64_t at =
        std::uint64_t{address} + sizeof(count) + i * std::uint64_t{kEntryBytes};
    if (at > UINT32_MAX || !memory.Read(static_cast<std::uint32_t>(at), entry)) {
      return BadEntry(i, "lies outside the memory");
    }
    if (!SizeIsKnown(entry.size_bytes)) {
      return BadEntry(i, "has the size " + std::to_string(entry.size_bytes));
    }
    if (!OperationIsKnown(entry.operation)) {
      return BadEntry(i, "has an unknown operation");
    }
    if (memory.At(entry.address, entry.size_bytes) == nullptr) {
      return BadEntry(i, "points outside the memory");
    }
    entries.push_back(entry);
  }
  return entries;
}

void ApplyInterrupts(std::span<const InterruptEntry> entries, const LinearMemory& memory) {
  for (const InterruptEntry& entry : entries) {
    std::byte* const target = TargetOf(entry, memory);
    if (target == nullptr) continue;
    switch (entry.size_bytes) {
      case 1:
        ApplyTo<std::uint8_t>(target, entry.operation, entry.value);
        break;
      case 4:
        ApplyTo<std::uint32_t>(target, entry.operation, entry.value);
        break;
      case 8:
        ApplyTo<std::uint64_t>(target, entry.operation, entry.value);
        break;
      default:
        break;
    }
  }
}

}  // namespace dormouse::engine
