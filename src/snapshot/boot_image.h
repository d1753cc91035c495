// SPDX-License-Identifier: Apache-2.0
// BootImage: a read-only view of an engine's boot.img, against which all pages are compared.
//
// Threads: immutable after Map.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "snapshot/page.h"

namespace dormouse::snapshot {

class BootImage {
 public:
  // Maps the whole file. `fd` may be closed afterwards; the file must never change.
  static Result<BootImage> Map(int fd);
  BootImage(BootImage&& other) noexcept;
  BootImage& operator=(BootImage&& other) noexcept;
  ~BootImage();

  std::uint64_t size_bytes() const { return size_bytes_; }
  // The page's bytes at boot; a page of zeros past the image's end.
  const std::byte* Page(PageIndex index) const;

 private:
  BootImage() = default;
  const std::byte* data_ = nullptr;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace dormouse::snapshot
