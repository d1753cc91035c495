// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

int SandboxesCommand(Backend& backend, const CommonArguments& common,
                     const SandboxesArguments& arguments);

// The bindings and the engines behind them.
int EnginesCommand(Backend& backend, const CommonArguments& common);

}  // namespace dormouse::cli
