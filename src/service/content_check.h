// SPDX-License-Identifier: Apache-2.0
// What contents are, told from their bytes: whether they fit the type that they were declared to have, and whether a
// browser would run something in them. Pure functions; every input is hostile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse::service {

enum class Fit {
  kFits,
  kMismatch,  // the bytes are not what they were declared to be
  kUnsafe,    // they hide something that runs, or that explodes when it is read
};

struct ContentCheck {
  Fit fit = Fit::kMismatch;
  bool active = false;
};

// `format`: png, jpeg, svg or html. Any text counts as HTML, and all HTML as active: what a browser makes of it cannot be
// told from outside.
ContentCheck CheckContent(std::string_view format, std::string_view bytes);

struct ContentType {
  std::string content_type = "application/octet-stream";
  bool active = false;
};

// How much of a file ContentTypeOf wants to see.
inline constexpr std::size_t kTypeSampleBytes = 1u << 20;
enum class Sample { kWhole, kBeginning };

// The type that the name's extension claims, if the bytes bear it out.
ContentType ContentTypeOf(std::string_view name, std::string_view bytes, Sample sample);

// Whether a browser may show the type in place: pictures of pixels, and plain text.
bool MayShowInline(std::string_view content_type);

}  // namespace dormouse::service
