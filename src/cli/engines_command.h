// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

// `engines add`: installs a package and tells the server that runs on the data directory. Requires:
// no threads.
int AddEngineCommand(const CommonArguments& common, const EnginesArguments& arguments);

// `engines list` and `engines prune`.
int EnginesCommand(Backend& backend, const CommonArguments& common,
                   const EnginesArguments& arguments);

}  // namespace dormouse::cli
