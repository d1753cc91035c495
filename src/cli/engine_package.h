// SPDX-License-Identifier: Apache-2.0
// Putting an engine package (docs/engine-abi.md §6) where servers look for engines, and taking
// builds away.
//
// A build appears and disappears as a whole: it is copied, checked and tried under a name that
// nobody looks at. One process at a time changes a directory of engines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/engine_manifest.h"
#include "common/result.h"

namespace dormouse::cli {

struct InstalledEngine {
  EngineManifest manifest;
  std::filesystem::path directory;
  bool was_there = false;
};

enum class MakeCurrent { kYes, kNo };

// Copies `package`, checks the copy and tries it in a process of `executable`, and installs it as
// `engines`/NAME/BUILD. kCorrupt when it is not what it says. Requires: no threads.
Result<InstalledEngine> InstallEngine(const std::filesystem::path& package,
                                      const std::filesystem::path& engines,
                                      const std::filesystem::path& executable,
                                      MakeCurrent make_current);

// Removes a build's directory and returns how many bytes it held.
Result<std::uint64_t> RemoveBuild(const std::filesystem::path& directory);

}  // namespace dormouse::cli
