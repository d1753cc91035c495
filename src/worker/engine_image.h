// SPDX-License-Identifier: Apache-2.0
// What making an engine directory takes (docs/engine-abi.md §6): an instance outside of a worker,
// its memory as an image, the build id.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/engine_manifest.h"
#include "common/result.h"
#include "worker/instance.h"

namespace dormouse::worker {

// What an engine says while it boots is for whoever builds it: it goes to standard error, errors
// with their traceback.
class BootOutput : public wasi::OutputSink, public EmitSink {
 public:
  wasi::Errno Write(wasi::OutputStream stream, std::span<const std::byte> bytes) override;
  void Emit(std::uint32_t kind, std::string_view json) override;

  bool has_error() const { return has_error_; }
  bool has_exit() const { return has_exit_; }

 private:
  bool has_error_ = false;
  bool has_exit_ = false;
};

struct BootInstanceOptions {
  std::uint32_t pages = 0;  // of 64 KiB
  std::optional<wasi::RootfsImage> rootfs;
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;
  std::optional<std::int64_t> monotonic_start_ns;
};

// An instance whose memory begins as `image`. Borrows `module` and `output`.
Result<std::unique_ptr<Instance>> NewBootInstance(engine::EngineModule& module,
                                                  const std::filesystem::path& image,
                                                  BootInstanceOptions options, BootOutput& output);

// Writes the memory to `directory`/boot.img, and its size and the globals into the manifest.
Result<void> SaveImage(Instance& instance, const std::filesystem::path& directory,
                       EngineManifest& manifest);

// The hash over the files that make the engine, 64 hex digits.
Result<std::string> BuildIdOf(const std::filesystem::path& directory, bool has_rootfs);

Result<void> WriteWholeFile(const std::filesystem::path& file, std::string_view bytes);
Result<std::string> ReadWholeFile(const std::filesystem::path& file);

}  // namespace dormouse::worker
