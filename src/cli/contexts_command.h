// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"
#include "cli/resolve.h"

namespace dormouse::cli {

int ContextsCommand(Backend& backend, const CommonArguments& common,
                    const ContextsArguments& arguments);

// The states that `context` can be rolled back to.
int PrintSnapshots(Backend& backend, const ResolvedContext& context, const CommonArguments& common);

}  // namespace dormouse::cli
