// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

int KeysCommand(Backend& backend, const CommonArguments& common, const KeysArguments& arguments);
int ProjectsCommand(Backend& backend, const CommonArguments& common,
                    const ProjectsArguments& arguments);

}  // namespace dormouse::cli
