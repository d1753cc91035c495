// SPDX-License-Identifier: Apache-2.0
// Preloads: the engine images of bindings whose contexts begin with packages, or with code that has
// run. Each is an engine directory `preloads/KEY` below the data directory, made once for an engine
// build, a library and a source text, and kept until it is pruned.
//
// Threads: blocks; one call at a time on a data directory.
#pragma once

#include <vector>

#include "common/result.h"
#include "scheduler/worker_host.h"
#include "service/config.h"

namespace dormouse::service {

std::filesystem::path PreloadsDirectory(const Config& config);

// Makes the images that the bindings ask for and that are missing, in a process of its own
// each, and adds all that there are to `engines`. kInvalidRequest, with the traceback, when code
// fails.
Result<void> AddPreloads(const Config& config, std::vector<scheduler::EngineBuild>& engines);

}  // namespace dormouse::service
