// SPDX-License-Identifier: Apache-2.0
// Text forms of the HTTP interface: percent and form encoding, UTF-8, base64, dates, header values.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/base64.h"

namespace dormouse::http {

// Decodes %XX; with `kPlusIsSpace` also `+`. Nothing for a malformed escape, an encoded NUL or a
// result that is not UTF-8.
enum class PlusSign { kLiteral, kSpace };
std::optional<std::string> PercentDecode(std::string_view text, PlusSign plus);

// Encodes everything but letters, digits and `-._~`, and `/` when asked.
enum class Slash { kEncode, kKeep };
std::string PercentEncode(std::string_view text, Slash slash);

// The length of the well-formed UTF-8 sequence that `text` begins with (1 to 4), or 0. `text` must
// not be empty.
std::size_t Utf8SequenceLength(std::string_view text);

using dormouse::Base64Decode;
using dormouse::Base64Encode;

// "2026-07-01T09:30:00.125Z"; times before the epoch or after the year 9999 are clamped.
std::string FormatTimestamp(std::chrono::system_clock::time_point time);
// "Wed, 01 Jul 2026 09:30:00 GMT"
std::string FormatHttpDate(std::chrono::system_clock::time_point time);

// `attachment` or `inline` with an ASCII fallback and, when the name needs it, the exact name in RFC 5987 form.
enum class Disposition { kAttachment, kInline };
std::string ContentDisposition(Disposition disposition, std::string_view file_name);

bool EqualsIgnoringCase(std::string_view a, std::string_view b);
std::string_view TrimSpaces(std::string_view text);

}  // namespace dormouse::http
