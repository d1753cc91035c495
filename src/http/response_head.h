// SPDX-License-Identifier: Apache-2.0
// The bytes of a response that are not its body.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/message.h"

namespace dormouse::http {

struct Framing {
  bool keep_alive = true;
  bool http_1_0 = false;
  bool head_only = false;
};

// Status line and headers, with the empty line. Control characters in values are dropped.
std::string FormatHead(const Response& response, std::string_view request_id,
                       const Framing& framing);

// The line before a chunk's bytes.
std::string FormatChunkSize(std::size_t size);

}  // namespace dormouse::http
