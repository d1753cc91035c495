// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

// The server at --url; else the server that runs on the data directory; else the directory itself,
// opened in this process. Requires: no threads yet.
Result<std::unique_ptr<Backend>> Connect(const CommonArguments& arguments);

}  // namespace dormouse::cli
