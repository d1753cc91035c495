// SPDX-License-Identifier: Apache-2.0
// Whether an engine directory (docs/engine-abi.md §6) is what it says, before anything of it is
// offered.
#pragma once

#include <filesystem>

#include "common/engine_manifest.h"
#include "common/result.h"

namespace dormouse::worker {

// Checks engine.json, the sizes of all files, and the build id, without running anything of it.
// kCorrupt names what is wrong.
Result<EngineManifest> CheckEngineFiles(const std::filesystem::path& directory);

// Loads the engine in a process of its own, checks its ABI, and runs an empty cell in a clone. Runs
// code of the engine: only after CheckEngineFiles, and only for packages that are trusted.
// Requires: no threads. What goes wrong in the engine itself goes to standard error.
Result<void> TryEngine(const std::filesystem::path& directory);

}  // namespace dormouse::worker
