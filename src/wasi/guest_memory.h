// SPDX-License-Identifier: Apache-2.0
// GuestMemory: checked access to the guest's linear memory.
//
// A view of a base address that never moves and a page counter that only grows. Cheap to copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace dormouse::wasi {

class GuestMemory {
 public:
  // Borrows both. `pages` counts 64 KiB pages and is read on every access.
  GuestMemory(std::byte* base, const std::uint32_t* pages) : base_(base), pages_(pages) {}

  // The bytes [address, address + length), or null when they are not all inside. Never null for
  // length 0 at an address up to the size.
  std::byte* At(std::uint32_t address, std::uint64_t length) const {
    const std::uint64_t size = std::uint64_t{*pages_} << 16;
    return length <= size && address <= size - length ? base_ + address : nullptr;
  }
  template <typename T>
  [[nodiscard]] bool Read(std::uint32_t address, T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::byte* const start = At(address, sizeof(T));
    if (start == nullptr) return false;
    std::memcpy(&value, start, sizeof(T));
    return true;
  }
  template <typename T>
  [[nodiscard]] bool Write(std::uint32_t address, const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::byte* const start = At(address, sizeof(T));
    if (start == nullptr) return false;
    std::memcpy(start, &value, sizeof(T));
    return true;
  }

 private:
  std::byte* base_;
  const std::uint32_t* pages_;
};

}  // namespace dormouse::wasi
