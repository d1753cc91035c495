// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace dormouse::cli {

// Runs the server until SIGINT or SIGTERM; a second signal ends it at once. Requires: no threads
// yet.
int ServeCommand(const CommonArguments& common, const ServeArguments& arguments);

}  // namespace dormouse::cli
