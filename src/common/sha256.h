// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes and files: the name of every stored content.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace dormouse {

struct Sha256Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Sha256Digest&) const = default;

  std::string Hex() const;
  std::string_view View() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  // 64 lower-case hex digits, or nothing.
  static std::optional<Sha256Digest> FromHex(std::string_view hex);
  // Exactly 32 raw bytes, or nothing.
  static std::optional<Sha256Digest> FromBytes(std::string_view raw);
};

struct Sha256Hash {
  std::size_t operator()(const Sha256Digest& digest) const;
};

Sha256Digest Sha256(std::string_view bytes);

// Reads the file from offset 0 to its end without moving its offset.
Result<Sha256Digest> Sha256OfFile(int fd);

}  // namespace dormouse
