// SPDX-License-Identifier: Apache-2.0
#include "http/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "common/ascii.h"
#include "common/utf8.h"

namespace dormouse::http {
namespace {

using std::chrono::system_clock;

constexpr std::string_view kUpperHex = "0123456789ABCDEF";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::tm UtcOf(system_clock::time_point time, int* milliseconds) {
  constexpr std::int64_t kLastMs = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z
  std::int64_t ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  ms = std::clamp<std::int64_t>(ms, 0, kLastMs);
  const std::time_t seconds = ms / 1000;
  *milliseconds = static_cast<int>(ms % 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return utc;
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text, PlusSign plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == PlusSign::kSpace) {
      decoded.push_back(' ');
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexValue(text[i + 1]);
      const int low = HexValue(text[i + 2]);
      if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  if (!IsValidUtf8(decoded)) return std::nullopt;
  return decoded;
}

std::string PercentEncode(std::string_view text, Slash slash) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c) || (c == '/' && slash == Slash::kKeep)) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(kUpperHex[byte >> 4]);
      encoded.push_back(kUpperHex[byte & 15]);
    }
  }
  return encoded;
}

std::size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // No overlong forms, no surrogates.
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2, 0x80, 0xBF) && continues(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

std::string FormatTimestamp(system_clock::time_point time) {
  int milliseconds = 0;
  const std::tm utc = UtcOf(time, &milliseconds);
  char text[40];
  const int length =
      std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900,
                    utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, milliseconds);
  return std::string(text, static_cast<std::size_t>(length));
}

std::string FormatHttpDate(system_clock::time_point time) {
  // Not strftime: its day and month names follow the process's locale.
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  int milliseconds = 0;
  const std::tm utc = UtcOf(time, &milliseconds);
  char text[40];
  const int length = std::snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                   kDays[utc.tm_wday], utc.tm_mday, kMonths[utc.tm_mon],
                                   utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return std::string(text, static_cast<std::size_t>(length));
}

std::string ContentDisposition(Disposition disposition, std::string_view file_name) {
  std::string fallback;
  bool exact = true;
  for (const char c : file_name) {
    const bool plain = c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '%' && c != '/';
    exact = exact && plain;
    // One underscore for a whole multi-byte character.
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) fallback.push_back(plain ? c : '_');
  }
  std::string value = disposition == Disposition::kInline ? "inline" : "attachment";
  value += "; filename=\"" + fallback + "\"";
  if (!exact) value += "; filename*=UTF-8''" + PercentEncode(file_name, Slash::kEncode);
  return value;
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return AsciiLower(x) == AsciiLower(y);
         });
}

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace dormouse::http
