// SPDX-License-Identifier: Apache-2.0
#include "common/base64.h"

#include <array>
#include <cstdint>

namespace dormouse {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Base64Encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    text.push_back(kBase64Alphabet[group >> 18]);
    text.push_back(kBase64Alphabet[group >> 12 & 63]);
    text.push_back(have > 1 ? kBase64Alphabet[group >> 6 & 63] : '=');
    text.push_back(have > 2 ? kBase64Alphabet[group & 63] : '=');
  }
  return text;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  static const std::array<std::int8_t, 256> kValues = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kBase64Alphabet.size(); ++i) {
      values[static_cast<unsigned char>(kBase64Alphabet[i])] = static_cast<std::int8_t>(i);
    }
    return values;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int value = k < digits ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value < 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    // Bits that no byte uses must be zero, so that every content has one encoding only.
    if (digits == 3 && (group & 0xFF) != 0) return std::nullopt;
    if (digits == 2 && (group & 0xFFFF) != 0) return std::nullopt;
    bytes.push_back(static_cast<char>(group >> 16));
    if (digits > 2) bytes.push_back(static_cast<char>(group >> 8 & 0xFF));
    if (digits > 3) bytes.push_back(static_cast<char>(group & 0xFF));
  }
  return bytes;
}

}  // namespace dormouse
