// SPDX-License-Identifier: Apache-2.0
// WorkspaceRunJob: what a started workspace run does, from its turn in the queue to its end.
//
// Each step is stored before it begins, so that a successor of this server knows what was going on. When the service
// stops, the job leaves the run as it is: the next start ends it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/command_line.h"
#include "service/workspace_runs.h"

namespace dormouse::service {

// The name of the contexts that a run makes; what a crash leaves behind is found by it.
std::string ContextNameOf(const std::string& run_id);

class WorkspaceRunJob {
 public:
  WorkspaceRunJob(WorkspaceRuns& runs, ServiceImpl& service,
                  std::shared_ptr<WorkspaceRunState> state, std::shared_ptr<WorkspaceRunLog> log)
      : runs_(runs), service_(service), state_(std::move(state)), log_(std::move(log)) {}

  boost::asio::awaitable<void> Run();

 private:
  // How the run came to its end.
  struct End {
    std::string status = "succeeded";
    std::string reason;
    std::string failure_class;
    std::optional<std::int64_t> exit_code;
  };
  using Deadline = std::chrono::steady_clock::time_point;
  // Nothing: go on.
  using MaybeEnd = std::optional<End>;

  static End Failed(std::string reason, std::string failure_class);
  MaybeEnd EndIfCanceled();
  End EndAtDeadline();
  boost::asio::awaitable<End> RunInTurn();
  boost::asio::awaitable<MaybeEnd> FindSandbox();
  boost::asio::awaitable<MaybeEnd> Extract();
  boost::asio::awaitable<End> RunCommands();
  boost::asio::awaitable<MaybeEnd> ChangeDirectory(const CommandStep& step);
  // The exit code, or how the run ends with this program.
  boost::asio::awaitable<MaybeEnd> RunProgram(const Program& program);
  boost::asio::awaitable<MaybeEnd> RunCells(const Program& program);
  boost::asio::awaitable<Result<RunResult>> RunCell(const Program& program, const std::string& code);
  // What a cell that did not just go well means.
  MaybeEnd EndOfCell(const RunResult& result);
  boost::asio::awaitable<void> Collect();
  boost::asio::awaitable<void> CleanUp();
  boost::asio::awaitable<void> Finish(End end);
  boost::asio::awaitable<Result<void>> EnterStatus(std::string_view status);

  WorkspaceRuns& runs_;
  ServiceImpl& service_;
  const std::shared_ptr<WorkspaceRunState> state_;
  const std::shared_ptr<WorkspaceRunLog> log_;
  Deadline deadline_;
  std::string sandbox_id_;
  std::string context_id_;  // of the program that runs
  std::string unsaved_;     // why what the last cell did is not saved; empty: it is
  bool has_claim_ = false;  // of the sandbox
  std::optional<std::int64_t> exit_code_;
};

}  // namespace dormouse::service
