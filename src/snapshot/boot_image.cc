// SPDX-License-Identifier: Apache-2.0
#include "snapshot/boot_image.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace dormouse::snapshot {
namespace {

alignas(64) constexpr std::byte kZeroPage[kPageBytes]{};

}  // namespace

Result<BootImage> BootImage::Map(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0) return SystemError("fstat of a boot image", errno);
  if (status.st_size <= 0 || status.st_size % kPageBytes != 0) {
    return Error(ErrorCode::kCorrupt, "a boot image of " + std::to_string(status.st_size) +
                                          " bytes is not a whole number of pages");
  }
  void* mapped = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return SystemError("mmap of a boot image", errno);
  BootImage image;
  image.data_ = static_cast<const std::byte*>(mapped);
  image.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  return image;
}

BootImage::BootImage(BootImage&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

BootImage& BootImage::operator=(BootImage&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

BootImage::~BootImage() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_bytes_);
}

const std::byte* BootImage::Page(PageIndex index) const {
  const std::uint64_t offset = std::uint64_t{index} * kPageBytes;
  return offset < size_bytes_ ? data_ + offset : kZeroPage;
}

}  // namespace dormouse::snapshot
