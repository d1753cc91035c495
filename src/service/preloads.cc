// SPDX-License-Identifier: Apache-2.0
#include "service/preloads.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <set>

#include "common/file_descriptor.h"
#include "service/bindings.h"
#include "service/package_library.h"

namespace dormouse::service {
namespace {

namespace fs = std::filesystem;
using scheduler::EngineBuild;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{120};
// Of what the code says: the end, where the traceback is.
constexpr std::size_t kMaxReportBytes = 16u << 10;

struct Ended {
  int status = -1;
  bool in_time = true;
  std::string report;
};

// Reads until the other end closes or the deadline comes; keeps the end of what came.
bool ReadReport(int fd, SteadyClock::time_point deadline, std::string& report) {
  char piece[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return false;
    pollfd event{fd, POLLIN, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return false;
    const ssize_t length = ::read(fd, piece, sizeof(piece));
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return true;
    report.append(piece, static_cast<std::size_t>(length));
    if (report.size() > 2 * kMaxReportBytes) report.erase(0, report.size() - kMaxReportBytes);
  }
}

// Runs a program without an environment; what it writes to standard error is the report.
Result<Ended> RunProgram(std::vector<std::string> arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SystemError("pipe", errno);
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDERR_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return SystemError("starting " + arguments[0], error);
  write_end.reset();
  Ended ended;
  ended.in_time = ReadReport(read_end.get(), SteadyClock::now() + kPatience, ended.report);
  if (!ended.in_time) ::kill(pid, SIGKILL);
  while (::waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  if (ended.report.size() > kMaxReportBytes) {
    ended.report.erase(0, ended.report.size() - kMaxReportBytes);
  }
  while (ended.report.ends_with('\n')) ended.report.pop_back();
  return ended;
}

Error PreloadFailed(const std::string& name, const BindingConfig& binding, const std::string& why) {
  const bool has_code = !binding.preload.empty();
  return Error(ErrorCode::kInvalidRequest,
               "binding " + name + (has_code ? ": its preload failed: " : ": its packages cannot be used: ") + why,
               {{"field", "bindings." + name + (has_code ? ".preload" : ".packages")}});
}

// Makes the image aside and gives it its name when it is whole.
Result<void> MakeImage(const Config& config, const std::string& name, const BindingConfig& binding,
                       const EngineBuild& base, const std::string& key) {
  const fs::path directory = PreloadsDirectory(config);
  std::string aside = (directory / ".new-XXXXXX").string();
  if (::mkdtemp(aside.data()) == nullptr)
    return SystemError("mkdtemp in " + directory.string(), errno);
  struct Cleanup {
    fs::path path;
    ~Cleanup() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  const Cleanup cleanup{aside};
  const std::uint64_t memory_bytes = std::max(binding.memory_bytes, binding.max_memory_bytes);
  std::vector<std::string> program = {config.executable.string(), "preload-engine",
                                      "--base", base.directory.string(), "--key", key,
                                      "--memory-bytes", std::to_string(memory_bytes),
                                      "--output", aside};
  if (!binding.preload.empty()) {
    const fs::path code = fs::path(aside) / "preload";
    std::ofstream(code, std::ios::binary) << binding.preload;
    program.insert(program.end(), {"--code", code.string()});
  }
  const auto library = InstalledLibrary(config.data_directory, base.language);
  if (library && binding.packages) {
    program.insert(program.end(), {"--packages", library->directory.string()});
  }
  DORMOUSE_ASSIGN(const Ended ended, RunProgram(std::move(program)));
  if (!ended.in_time) {
    return PreloadFailed(name, binding,
                         "it has not ended after " + std::to_string(kPatience.count()) + " s");
  }
  if (ended.status != 0) {
    return PreloadFailed(
        name, binding, ended.report.empty() ? "the process that ran it crashed" : "\n" + ended.report);
  }
  if (!ended.report.empty()) spdlog::info("binding {}: its preload says:\n{}", name, ended.report);
  std::error_code error;
  fs::rename(aside, directory / key, error);
  // Another process may have been faster.
  if (error && !fs::exists(directory / key / "engine.json")) {
    return Error(ErrorCode::kInternal, "renaming " + aside + ": " + error.message());
  }
  return {};
}

Result<void> PrepareDirectory(const Config& config) {
  std::error_code error;
  if (!fs::exists(config.data_directory, error)) {
    fs::create_directories(config.data_directory, error);
    fs::permissions(config.data_directory, fs::perms::owner_all, error);
  }
  fs::create_directory(PreloadsDirectory(config), error);
  if (!error) return {};
  return Error(ErrorCode::kInternal,
               "creating " + PreloadsDirectory(config).string() + ": " + error.message());
}

}  // namespace

fs::path PreloadsDirectory(const Config& config) { return config.data_directory / "preloads"; }

Result<void> AddPreloads(const Config& config, std::vector<EngineBuild>& engines) {
  DORMOUSE_ASSIGN(std::vector<EngineBuild> images,
                  scheduler::LoadPreloads(PreloadsDirectory(config)));
  std::set<std::string> wanted;
  for (const auto& [name, binding] : OfferedBindings(config, engines)) {
    const EngineBuild* const base = CurrentBuild(engines, binding.engine);
    if (base == nullptr) continue;
    const std::string key = ImageKey(config, binding, *base);
    if (key.empty() || !wanted.insert(key).second) continue;
    const auto has_key = [&key](const EngineBuild& image) { return image.preload == key; };
    auto image = std::find_if(images.begin(), images.end(), has_key);
    if (image == images.end()) {
      spdlog::info("binding {}: making its image of {} {}", name, base->name,
                   base->build_id.substr(0, 16));
      const auto begin = SteadyClock::now();
      DORMOUSE_TRY(PrepareDirectory(config));
      DORMOUSE_TRY(MakeImage(config, name, binding, *base, key));
      DORMOUSE_ASSIGN(images, scheduler::LoadPreloads(PreloadsDirectory(config)));
      image = std::find_if(images.begin(), images.end(), has_key);
      if (image == images.end())
        return Error(ErrorCode::kInternal, "the new image " + key + " is gone");
      spdlog::info("binding {}: made in {:.1f} s", name,
                   std::chrono::duration<double>(SteadyClock::now() - begin).count());
    }
  }
  for (EngineBuild& image : images) image.current = wanted.contains(image.preload);
  engines.insert(engines.end(), std::make_move_iterator(images.begin()),
                 std::make_move_iterator(images.end()));
  return {};
}

}  // namespace dormouse::service
