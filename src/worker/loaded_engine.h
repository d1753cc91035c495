// SPDX-License-Identifier: Apache-2.0
// LoadedEngine: an engine directory, opened and loaded into this process. Nothing of it is instantiated yet.
//
// The zygote opens all engines once; its children inherit code, mappings and descriptors.
#pragma once

#include <filesystem>
#include <optional>

#include "common/engine_manifest.h"
#include "common/file_descriptor.h"
#include "common/result.h"
#include "engine/engine_module.h"
#include "snapshot/boot_image.h"
#include "wasi/rootfs_image.h"

namespace dormouse::worker {

struct LoadedEngine {
  EngineManifest manifest;
  engine::EngineModule module;
  FileDescriptor boot_file;
  snapshot::BootImage boot;
  std::optional<wasi::RootfsImage> rootfs;

  // Checks sizes and formats, not the build id: that was done at installation.
  static Result<LoadedEngine> Open(const std::filesystem::path& directory);
};

// Opens and checks a packed rootfs.
Result<wasi::RootfsImage> OpenRootfs(const std::filesystem::path& file);

}  // namespace dormouse::worker
