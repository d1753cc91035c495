// SPDX-License-Identifier: Apache-2.0
// EngineManifest: what engine.json says of an engine build. Written when the engine is booted, read by the server (which
// offers it) and by the zygote (which runs it). docs/engine-abi.md §6 describes the directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace dormouse {

struct EngineManifest {
  struct Interrupt {
    std::uint32_t address = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t operation = 0;
    std::uint32_t value = 0;
  };
  // A run of pages of 4 KiB.
  struct PageRun {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  std::string name;      // "python-3.13"
  std::string language;  // "python"
  std::string version;   // of the interpreter
  std::string build_id;  // 64 hex digits
  std::uint32_t memory_pages = 0;      // after boot, of 64 KiB
  std::uint32_t max_memory_pages = 0;
  std::vector<std::uint64_t> globals;  // after boot
  std::vector<Interrupt> interrupts;
  std::vector<PageRun> hot_pages;      // what small runs write to: made private ahead of need
  bool has_rootfs = false;
  std::string extends;  // "python": the engine, named without its version, whose place this one takes; or empty
  std::string preload;  // names what made this image of another build; empty: an engine of its own

  std::string ToJson() const;
  static Result<EngineManifest> FromJson(std::string_view json);
  // Reads `directory`/engine.json; errors name the file.
  static Result<EngineManifest> Load(const std::filesystem::path& directory);
};

}  // namespace dormouse
