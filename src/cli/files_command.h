// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

int FilesCommand(Backend& backend, const CommonArguments& common, const FilesArguments& arguments);

}  // namespace dormouse::cli
