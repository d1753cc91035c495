// SPDX-License-Identifier: Apache-2.0
#include "engine/linear_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace dormouse::engine {
namespace {

// SAFETY: both replace pages inside a reservation that the caller owns, never anything else.
bool MapAnonymous(std::byte* start, std::uint64_t bytes, int protection) {
  return bytes == 0 ||
         mmap(start, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
              0) != MAP_FAILED;
}

bool MapFile(std::byte* start, std::uint64_t bytes, int fd) {
  return bytes == 0 || mmap(start, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd, 0) != MAP_FAILED;
}

// Dirty pages are found and saved by 4 KiB; a huge page would be one 2 MiB write for each byte.
// Kernels without huge pages refuse the advice, which is as good.
void KeepPagesSmall(std::byte* start, std::uint64_t bytes) {
  if (bytes != 0) madvise(start, bytes, MADV_NOHUGEPAGE);
}

}  // namespace

Result<LinearMemory> LinearMemory::Reserve(std::uint64_t base, std::uint32_t* page_counter) {
  // SAFETY: the address is one that the engine was built for, and NOREPLACE never unmaps.
  void* const wanted = reinterpret_cast<void*>(base);
  void* const mapped =
      mmap(wanted, kReservationBytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == MAP_FAILED) return SystemError("reserving linear memory", errno);
  if (mapped != wanted) {
    // Kernels before 4.17 take the address for a hint.
    munmap(mapped, kReservationBytes);
    return SystemError("reserving linear memory", EEXIST);
  }
  LinearMemory memory(static_cast<std::byte*>(mapped), page_counter);
  memory.SetPages(0);
  return memory;
}

LinearMemory::LinearMemory(LinearMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      page_counter_(std::exchange(other.page_counter_, nullptr)),
      pages_(std::exchange(other.pages_, 0)) {}

LinearMemory& LinearMemory::operator=(LinearMemory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(page_counter_, other.page_counter_);
  std::swap(pages_, other.pages_);
  return *this;
}

LinearMemory::~LinearMemory() {
  if (base_ != nullptr) munmap(base_, kReservationBytes);
}

void LinearMemory::SetPages(std::uint32_t pages) {
  pages_ = pages;
  if (page_counter_ != nullptr) *page_counter_ = pages;
}

Result<void> LinearMemory::MapImage(int fd, std::uint64_t image_bytes, std::uint32_t pages) {
  if (pages > kMaxWasmPages || image_bytes % kWasmPageBytes != 0 ||
      image_bytes > pages * kWasmPageBytes) {
    return Error(ErrorCode::kInvalidRequest, "an image of " + std::to_string(image_bytes) +
                                                 " bytes does not fit a memory of " +
                                                 std::to_string(pages) + " pages");
  }
  const std::uint64_t size = pages * kWasmPageBytes;
  const std::uint64_t old_size = size_bytes();
  SetPages(0);
  if (!MapFile(base_, image_bytes, fd) ||
      !MapAnonymous(base_ + image_bytes, size - image_bytes, PROT_READ | PROT_WRITE) ||
      (old_size > size && !MapAnonymous(base_ + size, old_size - size, PROT_NONE))) {
    const int reason = errno;
    MapAnonymous(base_, std::max(size, old_size), PROT_NONE);
    return SystemError("mapping a memory image", reason);
  }
  KeepPagesSmall(base_, size);
  SetPages(pages);
  return {};
}

std::optional<std::uint32_t> LinearMemory::Grow(std::uint32_t delta_pages,
                                                std::uint32_t limit_pages) {
  const std::uint32_t old_pages = pages_;
  const std::uint32_t limit = std::min(limit_pages, kMaxWasmPages);
  if (old_pages > limit || delta_pages > limit - old_pages) return std::nullopt;
  if (delta_pages != 0) {
    std::byte* const start = base_ + size_bytes();
    const std::uint64_t bytes = delta_pages * kWasmPageBytes;
    if (!MapAnonymous(start, bytes, PROT_READ | PROT_WRITE)) return std::nullopt;
    KeepPagesSmall(start, bytes);
    SetPages(old_pages + delta_pages);
  }
  return old_pages;
}

}  // namespace dormouse::engine
