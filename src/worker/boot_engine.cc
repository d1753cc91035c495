// SPDX-License-Identifier: Apache-2.0
#include "worker/boot_engine.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "common/engine_manifest.h"
#include "snapshot/dirty_pages.h"
#include "wasi/rootfs_image.h"
#include "worker/engine_image.h"
#include "worker/instance.h"
#include "worker/loaded_engine.h"

namespace dormouse::worker {
namespace {

namespace fs = std::filesystem;

struct BootArguments {
  std::map<std::string, std::string> values;
  std::vector<std::string> warm_ups;

  const std::string& at(const std::string& name) const {
    static const std::string kNone;
    const auto found = values.find(name);
    return found == values.end() ? kNone : found->second;
  }
};

Result<BootArguments> ParseBoot(int argc, char** argv) {
  BootArguments arguments;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--warm-up") {
      arguments.warm_ups.emplace_back(argv[i + 1]);
    } else {
      arguments.values[option] = argv[i + 1];
    }
  }
  for (const char* name : {"--module", "--memory", "--name", "--language", "--version", "--output"}) {
    if (arguments.at(name).empty()) {
      return Error(ErrorCode::kInvalidRequest, std::string(name) + " is missing");
    }
  }
  return arguments;
}

Result<void> Boot(const BootArguments& arguments, const fs::path& directory, EngineManifest& manifest) {
  BootOutput output;
  DORMOUSE_ASSIGN(engine::EngineModule module,
                  engine::EngineModule::Load((directory / "engine.so").string()));
  std::optional<wasi::RootfsImage> rootfs;
  if (manifest.has_rootfs) {
    DORMOUSE_ASSIGN(wasi::RootfsImage image, OpenRootfs(directory / "rootfs.img"));
    rootfs = std::move(image);
  }
  // Contexts begin much later, so that no time which boot leaves in the image lies in their future.
  DORMOUSE_ASSIGN(auto instance,
                  NewBootInstance(module, arguments.at("--memory"),
                                  {.pages = module.abi().initial_pages,
                                   .rootfs = std::move(rootfs),
                                   .monotonic_start_ns = 0},
                                  output));
  instance->wasi().BeginRun({});
  if (const auto ended = instance->Initialize(); ended.trap) {
    return Error(ErrorCode::kInternal, std::string("_initialize trapped: ") + engine::TrapName(ended.trap.kind));
  }
  const Instance::Ended ended = instance->Boot();
  if (ended.trap || ended.result != 0) {
    return Error(ErrorCode::kInternal,
                 ended.trap ? std::string("dormouse_boot trapped: ") + engine::TrapName(ended.trap.kind)
                            : "dormouse_boot returned " + std::to_string(ended.result));
  }
  DORMOUSE_ASSIGN(const auto interrupts, instance->FindInterrupts());
  for (const engine::InterruptEntry& entry : interrupts) {
    manifest.interrupts.push_back(
        {entry.address, entry.size_bytes, static_cast<std::uint32_t>(entry.operation), entry.value});
  }
  return SaveImage(*instance, directory, manifest);
}

// Runs the warm-up cells in a clone, one after the other, and reports the pages that more than one of them wrote to: the
// interpreter's own, not those of a cell's data.
Result<std::vector<EngineManifest::PageRun>> FindHotPages(const fs::path& directory,
                                                          const EngineManifest& manifest,
                                                          const std::vector<std::string>& cells) {
  BootOutput output;
  DORMOUSE_ASSIGN(LoadedEngine engine, LoadedEngine::Open(directory));
  DORMOUSE_ASSIGN(auto instance,
                  NewBootInstance(engine.module, directory / "boot.img",
                                  {.pages = manifest.memory_pages, .rootfs = engine.rootfs}, output));
  DORMOUSE_TRY(engine.module.RestoreGlobals(manifest.globals));
  engine::LinearMemory& memory = instance->memory();
  DORMOUSE_ASSIGN(auto dirty, snapshot::DirtyPages::Watch(memory.base()));
  std::map<snapshot::PageIndex, std::size_t> writes;
  for (const std::string& cell : cells) {
    DORMOUSE_ASSIGN(const std::string code, ReadWholeFile(cell));
    boost::json::object request{{"code", code}, {"language", manifest.language}, {"filename", "cell-0"}};
    instance->wasi().BeginRun({});
    const Instance::Ended ended = instance->Run(boost::json::serialize(request));
    if (ended.trap || ended.result != 0) return Error(ErrorCode::kInternal, cell + " did not run");
    DORMOUSE_ASSIGN(const auto pages, dirty->Collect(memory.size_bytes()));
    for (const snapshot::PageIndex page : pages) ++writes[page];
  }
  const std::size_t enough = cells.size() > 1 ? 2 : 1;
  std::vector<EngineManifest::PageRun> runs;
  for (const auto& [page, count] : writes) {
    if (count < enough) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == page) {
      ++runs.back().count;
    } else {
      runs.push_back({page, 1});
    }
  }
  return runs;
}

// In a process of its own: an engine's code has one instance per process, and Boot had it.
Result<std::vector<EngineManifest::PageRun>> FindHotPagesApart(const fs::path& directory,
                                                               const EngineManifest& manifest,
                                                               const std::vector<std::string>& cells) {
  const fs::path report = directory / "hot.tmp";
  const pid_t child = ::fork();
  if (child < 0) return SystemError("fork", errno);
  if (child == 0) {
    auto runs = FindHotPages(directory, manifest, cells);
    std::ostringstream text;
    if (runs.ok()) {
      for (const auto& run : *runs) text << run.first << ' ' << run.count << '\n';
    } else {
      std::fprintf(stderr, "warm-up: %s\n", runs.error().message.c_str());
    }
    ::_exit(runs.ok() && WriteWholeFile(report, text.str()).ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return Error(ErrorCode::kInternal, "the warm-up cells do not run");
  std::ifstream text(report);
  std::vector<EngineManifest::PageRun> runs;
  EngineManifest::PageRun run;
  while (text >> run.first >> run.count) runs.push_back(run);
  fs::remove(report);
  return runs;
}

Result<void> BootEngine(const BootArguments& arguments) {
  const fs::path directory = arguments.at("--output");
  std::error_code error;
  fs::create_directories(directory, error);
  fs::copy_file(arguments.at("--module"), directory / "engine.so", fs::copy_options::overwrite_existing, error);
  if (error) return Error(ErrorCode::kInternal, "copying " + arguments.at("--module") + ": " + error.message());

  EngineManifest manifest;
  manifest.name = arguments.at("--name");
  manifest.language = arguments.at("--language");
  manifest.version = arguments.at("--version");
  manifest.extends = arguments.at("--extends");
  manifest.has_rootfs = !arguments.at("--rootfs").empty();
  if (manifest.has_rootfs) {
    DORMOUSE_ASSIGN(const std::string packed, wasi::PackRootfs(arguments.at("--rootfs")));
    DORMOUSE_TRY(WriteWholeFile(directory / "rootfs.img", packed));
  }
  manifest.build_id = std::string(64, '0');
  // The clone for warm-up must not share this process with the boot.
  const pid_t child = ::fork();
  if (child < 0) return SystemError("fork", errno);
  if (child == 0) {
    const Result<void> booted = Boot(arguments, directory, manifest);
    if (!booted.ok()) std::fprintf(stderr, "boot-engine: %s\n", booted.error().message.c_str());
    ::_exit(booted.ok() && WriteWholeFile(directory / "engine.json", manifest.ToJson()).ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return Error(ErrorCode::kInternal, "the engine does not boot");
  DORMOUSE_ASSIGN(manifest, EngineManifest::Load(directory));
  if (!arguments.warm_ups.empty()) {
    DORMOUSE_ASSIGN(manifest.hot_pages, FindHotPagesApart(directory, manifest, arguments.warm_ups));
  }
  DORMOUSE_ASSIGN(manifest.build_id, BuildIdOf(directory, manifest.has_rootfs));
  return WriteWholeFile(directory / "engine.json", manifest.ToJson());
}

}  // namespace

int BootMain(int argc, char** argv) {
  const Result<BootArguments> arguments = ParseBoot(argc, argv);
  const Result<void> booted =
      arguments.ok() ? BootEngine(*arguments) : Result<void>(arguments.error());
  if (!booted.ok()) {
    std::fprintf(stderr, "dormouse boot-engine: %s\n", booted.error().message.c_str());
    return 1;
  }
  return 0;
}

}  // namespace dormouse::worker
