// SPDX-License-Identifier: Apache-2.0
#include "cli/running_server.h"

#include <signal.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "cli/connect.h"
#include "cli/output.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTakeUpPatience{180};
constexpr std::chrono::milliseconds kPollPause{100};

}  // namespace

bool RefusesUrl(const CommonArguments& common, const std::string& what) {
  if (common.url.empty()) return false;
  ReportError(Error(ErrorCode::kInvalidRequest,
                    what + " on the server's machine: name its data directory, not its URL"),
              common.json);
  return true;
}

Result<std::optional<ServerRecord>> ServerOf(const service::Config& config) {
  auto record = FindRunningServer(config.data_directory);
  if (!record || record->engines.empty()) return record;
  std::error_code none;
  if (fs::equivalent(record->engines, config.engines_directory, none)) return record;
  return Error(ErrorCode::kConflict, "the server on " + config.data_directory.string() +
                                         " has its engines in " + record->engines + ", not in " +
                                         config.engines_directory.string() +
                                         ": name them with --engines");
}

Result<void> TellServer(const CommonArguments& common, const ServerRecord& server,
                        const std::function<bool(Backend& backend)>& has_taken_up) {
  if (::kill(server.pid, SIGHUP) != 0) return SystemError("telling the server", errno);
  DORMOUSE_ASSIGN(const std::unique_ptr<Backend> backend, Connect(common));
  const auto deadline = std::chrono::steady_clock::now() + kTakeUpPatience;
  while (!has_taken_up(*backend)) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Error(ErrorCode::kUnavailable,
                   "it is installed, but the server does not offer it; its log says why");
    }
    std::this_thread::sleep_for(kPollPause);
  }
  return {};
}

}  // namespace dormouse::cli
