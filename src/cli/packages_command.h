// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace dormouse::cli {

// `packages add`, `list` and `remove`: changes the library of a language in the data directory, makes the
// images of the bindings that use it, and tells the server that runs there. Requires: no threads.
int PackagesCommand(const CommonArguments& common, const PackagesArguments& arguments);

}  // namespace dormouse::cli
