// SPDX-License-Identifier: Apache-2.0
// Which engine builds are installed.
#include <algorithm>

#include "common/engine_manifest.h"
#include "scheduler/worker_host.h"

namespace dormouse::scheduler {
namespace {

namespace fs = std::filesystem;

bool IsBuild(const fs::directory_entry& entry) {
  std::error_code none;
  return !entry.is_symlink(none) && !entry.path().filename().string().starts_with('.') &&
         fs::exists(entry.path() / "engine.json", none);
}

Result<EngineBuild> LoadBuild(const fs::path& directory) {
  DORMOUSE_ASSIGN(EngineManifest manifest, EngineManifest::Load(directory));
  EngineBuild build;
  build.name = std::move(manifest.name);
  build.language = std::move(manifest.language);
  build.version = std::move(manifest.version);
  build.build_id = std::move(manifest.build_id);
  build.directory = directory;
  build.boot_memory_bytes = std::uint64_t{manifest.memory_pages} << 16;
  build.max_memory_bytes = std::uint64_t{manifest.max_memory_pages} << 16;
  build.extends = std::move(manifest.extends);
  build.preload = std::move(manifest.preload);
  return build;
}

}  // namespace

Result<std::vector<EngineBuild>> LoadEngines(const fs::path& directory) {
  std::vector<EngineBuild> engines;
  std::error_code error;
  for (const auto& engine : fs::directory_iterator(directory, error)) {
    std::error_code none;
    const fs::path current = fs::read_symlink(engine.path() / "current", none);
    for (const auto& entry : fs::directory_iterator(engine.path(), none)) {
      if (!IsBuild(entry)) continue;
      DORMOUSE_ASSIGN(EngineBuild build, LoadBuild(entry.path()));
      build.current = entry.path().filename() == current;
      engines.push_back(std::move(build));
    }
  }
  if (error) {
    return Error(ErrorCode::kNotFound, "the engines directory " + directory.string() +
                                           " cannot be read: " + error.message());
  }
  std::sort(engines.begin(), engines.end(),
            [](const EngineBuild& a, const EngineBuild& b) { return a.name < b.name; });
  return engines;
}

Result<std::vector<EngineBuild>> LoadPreloads(const fs::path& directory) {
  std::vector<EngineBuild> images;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    if (!IsBuild(entry)) continue;
    DORMOUSE_ASSIGN(EngineBuild image, LoadBuild(entry.path()));
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace dormouse::scheduler
