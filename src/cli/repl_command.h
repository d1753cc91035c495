// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

int ReplCommand(Backend& backend, const ReplArguments& arguments,
                const std::filesystem::path& history_file);

}  // namespace dormouse::cli
