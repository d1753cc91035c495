// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/arguments.h"
#include "cli/backend.h"

namespace dormouse::cli {

// Writes what a GET of `target` answers to `local_file`; empty or "-": to standard output. A local
// file is not touched when there is nothing to download. Returns the exit code, after a report of
// what went wrong.
int Download(Backend& backend, const std::string& target, const std::string& local_file,
             const CommonArguments& common);

}  // namespace dormouse::cli
