// SPDX-License-Identifier: Apache-2.0
#include "worker/preload_engine.h"

#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "worker/engine_image.h"
#include "worker/loaded_engine.h"

namespace dormouse::worker {
namespace {

namespace fs = std::filesystem;

// Between what a boot has seen of the clock and what contexts begin with (docs/engine-abi.md §3).
constexpr std::int64_t kPreloadStartNs = 500'000'000'000;

// Where engines look for packages, relative to their root.
constexpr std::string_view kPackages = "usr/lib/dormouse/packages";

using PreloadArguments = std::map<std::string, std::string>;

Result<PreloadArguments> ParsePreload(int argc, char** argv) {
  PreloadArguments arguments;
  for (int i = 2; i + 1 < argc; i += 2) arguments[argv[i]] = argv[i + 1];
  for (const char* name : {"--base", "--key", "--memory-bytes", "--output"}) {
    if (arguments[name].empty()) {
      return Error(ErrorCode::kInvalidRequest, std::string(name) + " is missing");
    }
  }
  return arguments;
}

// A second name where the file system allows: engine files are large and never change.
Result<void> LinkOrCopy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (!error) return {};
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) return {};
  return Error(ErrorCode::kInternal, "copying " + from.string() + ": " + error.message());
}

// Descriptors are not part of an image: the interpreter would hold numbers that mean nothing.
Result<void> CheckNothingIsOpen(wasi::Wasi& wasi) {
  constexpr std::size_t kStandardDescriptors = 4;
  const auto& open = wasi.descriptors().all();
  for (std::size_t fd = kStandardDescriptors; fd < open.size(); ++fd) {
    if (open[fd] == nullptr) continue;
    const std::string path = open[fd]->inode ? wasi.files().PathOf(*open[fd]->inode) : "";
    return Error(ErrorCode::kInvalidRequest,
                 "the code leaves a file open: " + (path.empty() ? "(deleted)" : path));
  }
  return {};
}

Result<void> RunPreload(Instance& instance, const std::string& language, const std::string& code,
                        const BootOutput& output) {
  const boost::json::object request{
      {"code", code}, {"language", language}, {"filename", "preload"}};
  instance.wasi().BeginRun({});
  const Instance::Ended ended = instance.Run(boost::json::serialize(request));
  if (ended.trap || ended.result != 0) {
    if (instance.memory_refused()) {
      return Error(ErrorCode::kInvalidRequest, "the code needs more memory than the binding has");
    }
    return Error(ErrorCode::kInvalidRequest,
                 ended.trap ? std::string("the interpreter ended with a trap: ") +
                                  engine::TrapName(ended.trap.kind)
                            : "the interpreter did not survive the code");
  }
  if (output.has_error()) return Error(ErrorCode::kInvalidRequest, "the code raised an error");
  if (output.has_exit()) return Error(ErrorCode::kInvalidRequest, "the code ended the interpreter");
  return CheckNothingIsOpen(instance.wasi());
}

// The image's own files: the engine's, with the packages among them.
Result<void> AddPackages(LoadedEngine& engine, const std::string& packages, const fs::path& directory) {
  if (!engine.rootfs) return Error(ErrorCode::kInvalidRequest, "the engine takes no packages");
  DORMOUSE_ASSIGN(const std::string bytes, wasi::PackRootfsOver(*engine.rootfs, kPackages, packages));
  DORMOUSE_TRY(WriteWholeFile(directory / "rootfs.img", bytes));
  DORMOUSE_ASSIGN(engine.rootfs, OpenRootfs(directory / "rootfs.img"));
  return {};
}

Result<void> Preload(PreloadArguments& arguments) {
  const fs::path base = arguments["--base"];
  const fs::path directory = arguments["--output"];
  std::error_code error;
  fs::create_directories(directory, error);
  std::string code;
  if (!arguments["--code"].empty()) {
    DORMOUSE_ASSIGN(code, ReadWholeFile(arguments["--code"]));
  }
  DORMOUSE_ASSIGN(LoadedEngine engine, LoadedEngine::Open(base));
  const std::string packages = arguments["--packages"];
  if (!packages.empty()) DORMOUSE_TRY(AddPackages(engine, packages, directory));
  EngineManifest manifest = engine.manifest;
  BootOutput output;
  DORMOUSE_ASSIGN(auto instance,
                  NewBootInstance(engine.module, base / "boot.img",
                                  {.pages = manifest.memory_pages,
                                   .rootfs = engine.rootfs,
                                   .memory_bytes = std::strtoull(
                                       arguments["--memory-bytes"].c_str(), nullptr, 10),
                                   .monotonic_start_ns = kPreloadStartNs},
                                  output));
  DORMOUSE_TRY(engine.module.RestoreGlobals(manifest.globals));
  DORMOUSE_TRY(RunPreload(*instance, manifest.language, code, output));
  DORMOUSE_TRY(SaveImage(*instance, directory, manifest));
  DORMOUSE_TRY(LinkOrCopy(base / "engine.so", directory / "engine.so"));
  if (manifest.has_rootfs && packages.empty()) {
    DORMOUSE_TRY(LinkOrCopy(base / "rootfs.img", directory / "rootfs.img"));
  }
  manifest.preload = arguments["--key"];
  DORMOUSE_ASSIGN(manifest.build_id, BuildIdOf(directory, manifest.has_rootfs));
  return WriteWholeFile(directory / "engine.json", manifest.ToJson());
}

}  // namespace

int PreloadMain(int argc, char** argv) {
  Result<PreloadArguments> arguments = ParsePreload(argc, argv);
  const Result<void> made = arguments.ok() ? Preload(*arguments) : Result<void>(arguments.error());
  if (made.ok()) return 0;
  std::fprintf(stderr, "%s\n", made.error().message.c_str());
  return 1;
}

}  // namespace dormouse::worker
