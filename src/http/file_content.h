// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "common/result.h"

namespace dormouse::http {

// Replaces `out` by exactly `length` bytes of `fd` from `offset` on; kCorrupt if the file is
// shorter. The caller bounds `length`.
Result<void> ReadContent(int fd, std::uint64_t offset, std::uint64_t length, std::string& out);

}  // namespace dormouse::http
