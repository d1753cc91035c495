// SPDX-License-Identifier: Apache-2.0
// UTF-8: checking it, and making it of whatever bytes a guest writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse {

// Shortest form, no surrogates, nothing above U+10FFFF.
bool IsValidUtf8(std::string_view bytes);

// The longest prefix of valid UTF-8 that is at most `bytes` long and does not end inside a character.
std::string_view Utf8Prefix(std::string_view text, std::size_t bytes);
// The same from the end.
std::string_view Utf8Suffix(std::string_view text, std::size_t bytes);

// Decodes a stream that is cut anywhere. Each maximal part of an ill-formed sequence becomes one U+FFFD (the WHATWG rule).
class Utf8Decoder {
 public:
  // Appends whole characters to `out`; an unfinished one waits for the next call.
  void Append(std::string_view bytes, std::string& out);
  // The stream has ended: an unfinished character is ill-formed.
  void Finish(std::string& out);

 private:
  void Take(std::uint8_t byte, std::string& out);

  char pending_[4] = {};
  std::uint8_t have_ = 0;  // bytes in pending_
  std::uint8_t want_ = 0;  // bytes of the character, when have_ > 0
  std::uint8_t low_ = 0x80, high_ = 0xbf;  // bounds of the next byte
};

}  // namespace dormouse
