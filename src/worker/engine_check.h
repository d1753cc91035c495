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

// Loads the engine in a process of its own, `EXECUTABLE try-engine DIRECTORY`, checks its ABI, and
// runs an empty cell. Runs code of the engine: only after CheckEngineFiles, and only for packages
// that are trusted. What goes wrong in the engine itself goes to standard error.
Result<void> TryEngine(const std::filesystem::path& executable,
                       const std::filesystem::path& directory);

// That process; argv[1] is "try-engine". Returns its exit status.
int TryEngineMain(int argc, char** argv);

}  // namespace dormouse::worker
