// SPDX-License-Identifier: Apache-2.0
// The Range header (RFC 9110 §14), as far as one range goes.
#pragma once

#include <cstdint>
#include <string_view>

namespace dormouse::http {

struct ByteRange {
  enum class Kind {
    kWhole,          // no range, several ranges, another unit, or malformed: all of the file
    kPart,           // `length` bytes from `offset` on
    kUnsatisfiable,  // nothing of the file lies in the range
  };
  Kind kind = Kind::kWhole;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

ByteRange ParseRange(std::string_view header, std::uint64_t size);

}  // namespace dormouse::http
