// SPDX-License-Identifier: Apache-2.0
#include "worker/engine_check.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>

#include "engine/linear_memory.h"
#include "snapshot/page.h"
#include "worker/engine_image.h"
#include "worker/loaded_engine.h"

namespace dormouse::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxCodeBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxRootfsBytes = std::uint64_t{4} << 30;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxVersionBytes = 64;
constexpr unsigned kTrialSeconds = 60;

Error Wrong(std::string what) { return Error(ErrorCode::kCorrupt, std::move(what)); }

// Names become directories and appear in listings.
Result<void> CheckWord(std::string_view field, std::string_view word) {
  bool good =
      !word.empty() && word.size() <= kMaxNameBytes && word.front() != '.' && word.front() != '-';
  for (const char c : word) {
    good = good && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                    c == '_' || c == '+');
  }
  if (good) return {};
  return Wrong(
      "engine.json: " + std::string(field) +
      " must be 1 to 64 small letters, digits and . - _ +, and begin with a letter or digit");
}

Result<std::uint64_t> SizeOfFile(const fs::path& file, std::uint64_t most) {
  struct stat status;
  if (::lstat(file.c_str(), &status) != 0) return SystemError(file.string(), errno);
  const std::string name = file.filename().string();
  if (!S_ISREG(status.st_mode)) return Wrong(name + " is not a regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size == 0 || size > most) {
    return Wrong(name + " has " + std::to_string(size) + " bytes, allowed are 1 to " +
                 std::to_string(most));
  }
  return size;
}

Result<void> CheckManifest(const EngineManifest& manifest) {
  DORMOUSE_TRY(CheckWord("name", manifest.name));
  DORMOUSE_TRY(CheckWord("language", manifest.language));
  if (!manifest.extends.empty()) DORMOUSE_TRY(CheckWord("extends", manifest.extends));
  if (manifest.version.empty() || manifest.version.size() > kMaxVersionBytes) {
    return Wrong("engine.json: version must have 1 to 64 characters");
  }
  for (const char c : manifest.version) {
    if (c < 0x21 || c > 0x7e)
      return Wrong("engine.json: version holds characters that no version has");
  }
  if (!manifest.preload.empty()) {
    return Wrong(
        "engine.json: this is the image of a binding's preload, which is made where it is used");
  }
  if (manifest.memory_pages == 0 || manifest.memory_pages > manifest.max_memory_pages ||
      manifest.max_memory_pages > engine::kMaxWasmPages) {
    return Wrong("engine.json: impossible memory sizes");
  }
  const std::uint64_t memory_bytes = manifest.memory_pages * engine::kWasmPageBytes;
  for (const EngineManifest::Interrupt& entry : manifest.interrupts) {
    const bool known = (entry.size_bytes == 1 || entry.size_bytes == 4 || entry.size_bytes == 8) &&
                       entry.operation <= 1;
    if (!known || std::uint64_t{entry.address} + entry.size_bytes > memory_bytes) {
      return Wrong("engine.json: an impossible interrupt entry");
    }
  }
  for (const EngineManifest::PageRun& run : manifest.hot_pages) {
    if ((std::uint64_t{run.first} + run.count) * snapshot::kPageBytes > memory_bytes) {
      return Wrong("engine.json: hot pages outside of the memory");
    }
  }
  return {};
}

Result<void> RunEmptyCell(const fs::path& directory) {
  BootOutput output;
  DORMOUSE_ASSIGN(LoadedEngine engine, LoadedEngine::Open(directory));
  if (engine.module.abi().max_pages != engine.manifest.max_memory_pages) {
    return Wrong("engine.json and engine.so do not agree on the memory");
  }
  DORMOUSE_ASSIGN(
      auto instance,
      NewBootInstance(engine.module, directory / "boot.img",
                      {.pages = engine.manifest.memory_pages, .rootfs = engine.rootfs}, output));
  DORMOUSE_TRY(engine.module.RestoreGlobals(engine.manifest.globals));
  instance->wasi().BeginRun({});
  if (instance->Reseed().trap) return Wrong("dormouse_reseed trapped");
  const boost::json::object request{
      {"code", ""}, {"language", engine.manifest.language}, {"filename", "cell-1"}};
  const Instance::Ended ended = instance->Run(boost::json::serialize(request));
  if (ended.trap)
    return Wrong(std::string("an empty cell trapped: ") + engine::TrapName(ended.trap.kind));
  if (ended.result != 0 || output.has_error()) return Wrong("an empty cell does not run");
  return {};
}

}  // namespace

Result<EngineManifest> CheckEngineFiles(const fs::path& directory) {
  DORMOUSE_ASSIGN(EngineManifest manifest, EngineManifest::Load(directory));
  DORMOUSE_TRY(CheckManifest(manifest));
  DORMOUSE_TRY(SizeOfFile(directory / "engine.so", kMaxCodeBytes));
  DORMOUSE_ASSIGN(
      const std::uint64_t image_bytes,
      SizeOfFile(directory / "boot.img", manifest.memory_pages * engine::kWasmPageBytes));
  if (image_bytes % engine::kWasmPageBytes != 0) {
    return Wrong("boot.img is not a multiple of 64 KiB");
  }
  if (manifest.has_rootfs) {
    DORMOUSE_TRY(SizeOfFile(directory / "rootfs.img", kMaxRootfsBytes));
    DORMOUSE_TRY(OpenRootfs(directory / "rootfs.img"));
  }
  DORMOUSE_ASSIGN(const std::string build_id, BuildIdOf(directory, manifest.has_rootfs));
  if (build_id != manifest.build_id) {
    return Wrong("the files have the build id " + build_id + ", engine.json says " +
                 manifest.build_id);
  }
  return manifest;
}

int TryEngineMain(int argc, char** argv) {
  if (argc != 3) return 2;
  ::alarm(kTrialSeconds);
  const Result<void> ran = RunEmptyCell(argv[2]);
  if (!ran.ok()) std::fprintf(stderr, "%s\n", ran.error().message.c_str());
  return ran.ok() ? 0 : 1;
}

Result<void> TryEngine(const fs::path& executable, const fs::path& directory) {
  const pid_t child = ::fork();
  if (child < 0) return SystemError("fork", errno);
  if (child == 0) {
    ::execl(executable.c_str(), executable.c_str(), "try-engine", directory.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return Wrong(WIFSIGNALED(status)
                   ? "the engine does not run: signal " + std::to_string(WTERMSIG(status))
                   : "the engine does not run");
}

}  // namespace dormouse::worker
