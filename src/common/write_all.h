// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/result.h"

namespace dormouse {

// Writes all bytes at the descriptor's offset, in as many calls as it takes. An error says "WHAT: the system's reason".
Result<void> WriteAll(int fd, std::string_view bytes, std::string_view what);

}  // namespace dormouse
