// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "common/result.h"

namespace dormouse::cli {

// All of a file, or of standard input for "-". kFileTooLarge beyond `limit` bytes.
Result<std::string> ReadLocalFile(const std::string& file, std::uint64_t limit);

}  // namespace dormouse::cli
