// SPDX-License-Identifier: Apache-2.0
// WorkerHost: starts workers through the zygote, a process of the same binary that has the engines loaded and forks.
//
// The zygote is started at construction and again whenever it dies; its workers die with it, and all of them die with
// the server. Spare workers are forked ahead of need, so Start usually costs a message.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "scheduler/worker.h"

namespace dormouse::scheduler {

// One installed engine build, read from its engine.json.
struct EngineBuild {
  std::string name;      // "python-3.13"
  std::string language;  // "python"
  std::string version;   // "3.13.5"
  std::string build_id;  // 64 hex digits
  std::filesystem::path directory;
  bool current = false;  // new contexts get it
  std::string extends;   // the engine, without its version, whose place this one takes; or empty
  std::string preload;   // names what made this image of another build; empty: an engine of its own
  std::uint64_t boot_memory_bytes = 0;
  std::uint64_t max_memory_bytes = 0;
};

// Reads every `NAME/BUILD/engine.json` below `directory`; `NAME/current` is a link to the build that new contexts get. A
// broken engine is an error that names it. Names that begin with a dot are builds that come or go.
Result<std::vector<EngineBuild>> LoadEngines(const std::filesystem::path& directory);
// Reads every `KEY/engine.json` below `directory`, of images that preloaded code. None if there is no such directory.
Result<std::vector<EngineBuild>> LoadPreloads(const std::filesystem::path& directory);

struct WorkerHostOptions {
  std::filesystem::path executable;  // the dormouse binary, run as `dormouse zygote`
  std::vector<EngineBuild> engines;
  int spares_per_engine = 1;          // of current builds; others have none
  std::chrono::milliseconds stop_grace{300};  // between soft and hard stop
  std::uint64_t tmp_bytes = 256ull << 20;     // /tmp of one context
  std::uint64_t workspace_bytes = 4ull << 30; // contents a run may add
  std::uint32_t workspace_files = 100'000;
};

// How a context becomes resident.
struct StartSpec {
  std::string build_id;
  std::vector<Segment> segments;  // oldest first; empty: born from the boot image
  bool reseed = false;            // born, forked or rolled back
  std::uint64_t memory_bytes = 0; // linear memory limit
};

class WorkerHost {
 public:
  virtual ~WorkerHost() = default;  // ends the zygote and all workers
  // `executor` runs all I/O of the workers.
  static Result<std::unique_ptr<WorkerHost>> Create(boost::asio::any_io_executor executor,
                                                    WorkerHostOptions options);

  // kNotFound if the build is not installed, kCorrupt if a segment fails its checksum, kUnavailable if no process
  // can be had.
  virtual boost::asio::awaitable<Result<std::unique_ptr<Worker>>> Start(StartSpec spec) = 0;
  // Loads what is new and forgets what is missing; running workers go on. When something cannot be loaded, all stays as it
  // is.
  virtual boost::asio::awaitable<Result<void>> SetEngines(std::vector<EngineBuild> engines) = 0;
  // Requires: SetEngines is not going on.
  virtual const std::vector<EngineBuild>& engines() const = 0;
};

}  // namespace dormouse::scheduler
