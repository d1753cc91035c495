// SPDX-License-Identifier: Apache-2.0
#include "worker/loaded_engine.h"

#include <fcntl.h>

#include <cerrno>

#include "engine/linear_memory.h"

namespace dormouse::worker {
namespace {

Result<FileDescriptor> OpenReadOnly(const std::filesystem::path& file) {
  FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("opening " + file.string(), errno);
  return fd;
}

}  // namespace

Result<wasi::RootfsImage> OpenRootfs(const std::filesystem::path& file) {
  DORMOUSE_ASSIGN(const FileDescriptor fd, OpenReadOnly(file));
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < 0) return SystemError("lseek of " + file.string(), errno);
  DORMOUSE_ASSIGN(wasi::SharedBytes bytes,
                  wasi::SharedBytes::FromFile(fd, static_cast<std::uint64_t>(size)));
  return wasi::RootfsImage::Open(std::move(bytes));
}

Result<LoadedEngine> LoadedEngine::Open(const std::filesystem::path& directory) {
  DORMOUSE_ASSIGN(EngineManifest manifest, EngineManifest::Load(directory));
  DORMOUSE_ASSIGN(engine::EngineModule module,
                  engine::EngineModule::Load((directory / "engine.so").string()));
  DORMOUSE_ASSIGN(FileDescriptor boot_file, OpenReadOnly(directory / "boot.img"));
  DORMOUSE_ASSIGN(snapshot::BootImage boot, snapshot::BootImage::Map(boot_file.get()));
  if (boot.size_bytes() > std::uint64_t{manifest.memory_pages} << 16 ||
      boot.size_bytes() % engine::kWasmPageBytes != 0) {
    return Error(ErrorCode::kCorrupt, directory.string() + ": boot.img is larger than engine.json says");
  }
  std::optional<wasi::RootfsImage> rootfs;
  if (manifest.has_rootfs) {
    DORMOUSE_ASSIGN(wasi::RootfsImage image, OpenRootfs(directory / "rootfs.img"));
    rootfs = std::move(image);
  }
  return LoadedEngine{.manifest = std::move(manifest),
                      .module = std::move(module),
                      .boot_file = std::move(boot_file),
                      .boot = std::move(boot),
                      .rootfs = std::move(rootfs)};
}

}  // namespace dormouse::worker
