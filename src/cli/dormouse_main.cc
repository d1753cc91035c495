// SPDX-License-Identifier: Apache-2.0
// The dormouse command.
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "cli/arguments.h"
#include "cli/artifacts_command.h"
#include "cli/connect.h"
#include "cli/contexts_command.h"
#include "cli/data_directory.h"
#include "cli/engines_command.h"
#include "cli/files_command.h"
#include "cli/internal_commands.h"
#include "cli/keys_command.h"
#include "cli/output.h"
#include "cli/packages_command.h"
#include "cli/repl_command.h"
#include "cli/run_command.h"
#include "cli/sandboxes_command.h"
#include "cli/serve_command.h"
#include "cli/workspace_runs_command.h"

namespace dormouse::cli {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

int Run(const Arguments& arguments) {
  const CommonArguments& common = arguments.common;
  if (const auto* const serve = std::get_if<ServeArguments>(&arguments.command)) {
    return ServeCommand(common, *serve);
  }
  if (const auto* const engines = std::get_if<EnginesArguments>(&arguments.command);
      engines != nullptr && engines->action == EnginesArguments::Action::kAdd) {
    return AddEngineCommand(common, *engines);
  }
  if (const auto* const packages = std::get_if<PackagesArguments>(&arguments.command)) {
    return PackagesCommand(common, *packages);
  }
  const auto connected = Connect(common);
  if (!connected.ok()) return ReportError(connected.error(), common.json);
  Backend& backend = **connected;
  return std::visit(
      Overloaded{
          [](const ServeArguments&) -> int { return kExitUsage; },
          [](const PackagesArguments&) -> int { return kExitUsage; },
          [&](const RunArguments& run) { return RunCommand(backend, common, run); },
          [&](const ReplArguments& repl) {
            return ReplCommand(backend, repl, DataDirectory(common) / "repl-history");
          },
          [&](const SandboxesArguments& sandboxes) {
            return SandboxesCommand(backend, common, sandboxes);
          },
          [&](const ContextsArguments& contexts) {
            return ContextsCommand(backend, common, contexts);
          },
          [&](const FilesArguments& files) { return FilesCommand(backend, common, files); },
          [&](const KeysArguments& keys) { return KeysCommand(backend, common, keys); },
          [&](const ProjectsArguments& projects) {
            return ProjectsCommand(backend, common, projects);
          },
          [&](const ArtifactsArguments& artifacts) {
            return ArtifactsCommand(backend, common, artifacts);
          },
          [&](const WorkspaceRunsArguments& workspace_runs) {
            return WorkspaceRunsCommand(backend, common, workspace_runs);
          },
          [&](const EnginesArguments& engines) {
            return EnginesCommand(backend, common, engines);
          },
      },
      arguments.command);
}

}  // namespace
}  // namespace dormouse::cli

int main(int argc, char** argv) {
  // Before anything else: the zygote must find a process without threads, handlers or open files.
  if (const auto exit_code = dormouse::cli::RunInternalCommand(argc, argv)) return *exit_code;
  ::signal(SIGPIPE, SIG_IGN);
  // Standard output is for results. Commands that people type speak of their own failures
  // themselves.
  spdlog::set_default_logger(spdlog::stderr_color_mt("dormouse"));
  spdlog::set_level(spdlog::level::err);
  const auto parsed = dormouse::cli::ParseArguments(argc, argv);
  if (const int* const exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& arguments = std::get<dormouse::cli::Arguments>(parsed);
  const int exit_code = dormouse::cli::Run(arguments);
  const int failure = dormouse::cli::OutputFailure();
  if (failure == 0 || exit_code != dormouse::cli::kExitOk) return exit_code;
  // A result that nobody got is no success.
  return dormouse::cli::ReportError(dormouse::SystemError("writing standard output", failure),
                                    arguments.common.json);
}
