// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

// `workspace-runs …`; returns the exit code.
int WorkspaceRunsCommand(Backend& backend, const CommonArguments& common,
                         const WorkspaceRunsArguments& arguments);

}  // namespace dormouse::cli
