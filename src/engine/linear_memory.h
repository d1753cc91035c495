// SPDX-License-Identifier: Apache-2.0
// LinearMemory: the guest's memory at its fixed address, inside a reservation that catches every
// stray access.
//
// Guest code computes base + index (32 bits) + offset (32 bits) and accesses up to 16 bytes there,
// unchecked. The reservation spans all such addresses; whatever lies past the current size is
// PROT_NONE, so that the access faults and GuestThread turns it into a trap. Memory only grows.
//
// Threads: Grow and MapImage belong to the guest thread. The rest may also be used in its signal
// handlers. Owner: unmaps the reservation when destroyed; guests and spans must be gone by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "common/result.h"

namespace dormouse::engine {

inline constexpr std::uint64_t kWasmPageBytes = 65536;
inline constexpr std::uint32_t kMaxWasmPages = 65536;
inline constexpr std::uint64_t kReservationBytes = (std::uint64_t{8} << 30) + kWasmPageBytes;

class LinearMemory {
 public:
  // Reserves the addresses without memory behind them; the size is 0 pages. Fails if anything is
  // mapped there already. `page_counter` (DormouseEngine::memory_pages, or null) always holds the
  // size, for the guest's memory.size.
  static Result<LinearMemory> Reserve(std::uint64_t base, std::uint32_t* page_counter);

  LinearMemory(LinearMemory&& other) noexcept;
  LinearMemory& operator=(LinearMemory&& other) noexcept;
  LinearMemory(const LinearMemory&) = delete;
  LinearMemory& operator=(const LinearMemory&) = delete;
  ~LinearMemory();

  // Makes the memory `pages` large: the first `image_bytes` (whole wasm pages) are a private,
  // copy-on-write mapping of `fd` from offset 0, the rest is zero. Replaces whatever the memory
  // held. `fd` may be closed afterwards; the file must never shrink. With image_bytes 0, `fd` is
  // not used. After an error the memory is empty (0 pages).
  Result<void> MapImage(int fd, std::uint64_t image_bytes, std::uint32_t pages);

  // Adds zeroed pages and returns the old size; nothing if the size would exceed `limit_pages` or
  // the kernel refuses.
  std::optional<std::uint32_t> Grow(std::uint32_t delta_pages, std::uint32_t limit_pages);

  std::byte* base() const { return base_; }
  std::uint32_t pages() const { return pages_; }
  std::uint64_t size_bytes() const { return pages_ * kWasmPageBytes; }
  std::span<std::byte> bytes() const { return {base_, static_cast<std::size_t>(size_bytes())}; }

  // Whether an address of the process lies in the reservation.
  bool Covers(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(base_) < kReservationBytes;
  }

  // The guest's bytes [address, address + length), or null if they are not all inside. Never null
  // for a length of 0 at an address up to the size. Valid until the memory is destroyed: it never
  // moves.
  std::byte* At(std::uint32_t address, std::uint64_t length) const {
    const std::uint64_t size = size_bytes();
    return length <= size && address <= size - length ? base_ + address : nullptr;
  }
  std::optional<std::span<std::byte>> Range(std::uint32_t address, std::uint32_t length) const {
    std::byte* const start = At(address, length);
    if (start == nullptr) return std::nullopt;
    return std::span<std::byte>(start, length);
  }
  // One value at any alignment. Read leaves `value` alone and both return false when out of range.
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
  LinearMemory(std::byte* base, std::uint32_t* page_counter)
      : base_(base), page_counter_(page_counter) {}
  void SetPages(std::uint32_t pages);

  std::byte* base_ = nullptr;  // null after a move
  std::uint32_t* page_counter_ = nullptr;
  std::uint32_t pages_ = 0;
};

}  // namespace dormouse::engine
