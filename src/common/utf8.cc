// SPDX-License-Identifier: Apache-2.0
#include "common/utf8.h"

namespace dormouse {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool IsContinuation(char c) { return (static_cast<std::uint8_t>(c) & 0xc0u) == 0x80u; }

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto lead = static_cast<std::uint8_t>(bytes[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    std::size_t length = 0;
    std::uint8_t low = 0x80, high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      length = 3;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      length = 4;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (bytes.size() - i < length) return false;
    const auto second = static_cast<std::uint8_t>(bytes[i + 1]);
    if (second < low || second > high) return false;
    for (std::size_t k = 2; k < length; ++k) {
      if (!IsContinuation(bytes[i + k])) return false;
    }
    i += length;
  }
  return true;
}

std::string_view Utf8Prefix(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && IsContinuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string_view Utf8Suffix(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t start = text.size() - bytes;
  while (start < text.size() && IsContinuation(text[start])) ++start;
  return text.substr(start);
}

void Utf8Decoder::Append(std::string_view bytes, std::string& out) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (have_ == 0) {
      const std::size_t start = i;
      while (i < bytes.size() && static_cast<std::uint8_t>(bytes[i]) < 0x80) ++i;
      out.append(bytes.substr(start, i - start));
      if (i == bytes.size()) return;
    }
    Take(static_cast<std::uint8_t>(bytes[i]), out);
    ++i;
  }
}

void Utf8Decoder::Take(std::uint8_t byte, std::string& out) {
  if (have_ > 0) {
    if (byte >= low_ && byte <= high_) {
      pending_[have_++] = static_cast<char>(byte);
      low_ = 0x80;
      high_ = 0xbf;
      if (have_ == want_) {
        out.append(pending_, have_);
        have_ = 0;
      }
      return;
    }
    out.append(kReplacement);
    have_ = 0;
  }
  low_ = 0x80;
  high_ = 0xbf;
  if (byte < 0x80) {
    out.push_back(static_cast<char>(byte));
    return;
  }
  if (byte >= 0xc2 && byte <= 0xdf) {
    want_ = 2;
  } else if (byte >= 0xe0 && byte <= 0xef) {
    want_ = 3;
    if (byte == 0xe0) low_ = 0xa0;
    if (byte == 0xed) high_ = 0x9f;
  } else if (byte >= 0xf0 && byte <= 0xf4) {
    want_ = 4;
    if (byte == 0xf0) low_ = 0x90;
    if (byte == 0xf4) high_ = 0x8f;
  } else {
    out.append(kReplacement);
    return;
  }
  pending_[0] = static_cast<char>(byte);
  have_ = 1;
}

void Utf8Decoder::Finish(std::string& out) {
  if (have_ > 0) out.append(kReplacement);
  have_ = 0;
}

}  // namespace dormouse
