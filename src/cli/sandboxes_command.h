// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

int SandboxesCommand(Backend& backend, const CommonArguments& common,
                     const SandboxesArguments& arguments);

}  // namespace dormouse::cli
