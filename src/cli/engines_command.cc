// SPDX-License-Identifier: Apache-2.0
#include "cli/engines_command.h"

#include <signal.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <set>

#include "cli/data_directory.h"
#include "cli/engine_package.h"
#include "cli/output.h"
#include "cli/resolve.h"
#include "cli/running_server.h"
#include "cli/staging.h"
#include "scheduler/worker_host.h"
#include "service/preloads.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using EnginesAction = EnginesArguments::Action;

constexpr std::size_t kShownBuildCharacters = 16;

std::string ShortBuild(const json::object& object) {
  return Cell(object, "buildId").substr(0, kShownBuildCharacters);
}

std::string JoinedNames(const json::object& object, std::string_view name) {
  const json::value* const list = object.if_contains(name);
  std::string text;
  if (list != nullptr && list->is_array()) {
    for (const json::value& item : list->get_array()) {
      if (item.is_string()) text += (text.empty() ? "" : " ") + std::string(item.get_string());
    }
  }
  return text.empty() ? "-" : text;
}

int ListEngines(Backend& backend, const CommonArguments& common) {
  const auto bindings = ListUnpaged(backend, "/v1/bindings");
  if (!bindings.ok()) return ReportError(bindings.error(), common.json);
  const auto engines = ListUnpaged(backend, "/v1/engines");
  if (!engines.ok()) return ReportError(engines.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *bindings}, {"engines", *engines}});
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {
      {"BINDING", "LANGUAGE", "ENGINE", "VERSION", "BUILD", "CONTEXTS"}};
  for (const json::value& item : *bindings) {
    if (!item.is_object()) continue;
    const json::object& binding = item.get_object();
    rows.push_back({Cell(binding, "name"), Cell(binding, "language"), Cell(binding, "engine"),
                    Cell(binding, "version"), ShortBuild(binding),
                    Cell(binding, "contexts") == "true" ? "durable" : "none"});
  }
  PrintTable(rows);
  rows = {{"ENGINE", "BUILD", "CURRENT", "BINDINGS", "CONTEXTS"}};
  for (const json::value& item : *engines) {
    if (!item.is_object()) continue;
    const json::object& engine = item.get_object();
    const bool preloaded = Cell(engine, "preloaded") == "true";
    rows.push_back({Cell(engine, "name") + (preloaded ? " (preloaded)" : ""), ShortBuild(engine),
                    Cell(engine, "current") == "true" ? "yes" : "no",
                    JoinedNames(engine, "bindings"), Cell(engine, "contexts")});
  }
  WriteOut("\n");
  PrintTable(rows);
  return kExitOk;
}

// `wanted`: only as the build that new contexts get.
bool ServerOffers(Backend& backend, const std::string& build_id, MakeCurrent wanted) {
  const auto engines = ListUnpaged(backend, "/v1/engines");
  if (!engines.ok()) return false;
  return std::any_of(engines->begin(), engines->end(), [&](const json::value& item) {
    return item.is_object() && TextOf(item.get_object(), "buildId") == build_id &&
           (wanted == MakeCurrent::kNo || Cell(item.get_object(), "current") == "true");
  });
}

// What the server knows and nothing needs, by build id.
Result<std::set<std::string>> UnusedBuilds(Backend& backend) {
  DORMOUSE_ASSIGN(const json::array engines, ListUnpaged(backend, "/v1/engines"));
  std::set<std::string> unused;
  for (const json::value& item : engines) {
    if (!item.is_object()) continue;
    const json::object& engine = item.get_object();
    const bool idle = Cell(engine, "current") == "false" && Cell(engine, "contexts") == "0" &&
                      JoinedNames(engine, "bindings") == "-";
    if (idle) unused.insert(TextOf(engine, "buildId"));
  }
  return unused;
}

Result<std::vector<scheduler::EngineBuild>> BuildsOnDisk(const service::Config& config) {
  DORMOUSE_ASSIGN(auto builds, scheduler::LoadEngines(config.engines_directory));
  DORMOUSE_ASSIGN(auto images, scheduler::LoadPreloads(service::PreloadsDirectory(config)));
  builds.insert(builds.end(), std::make_move_iterator(images.begin()),
                std::make_move_iterator(images.end()));
  return builds;
}

struct Pruned {
  json::array builds;
  std::uint64_t bytes = 0;
};

Result<Pruned> PruneBuilds(Backend& backend, const service::Config& config, bool dry_run) {
  DORMOUSE_ASSIGN(const FileDescriptor lock, LockDirectory(config.engines_directory));
  DORMOUSE_ASSIGN(const std::set<std::string> unused, UnusedBuilds(backend));
  DORMOUSE_ASSIGN(const auto builds, BuildsOnDisk(config));
  Pruned pruned;
  for (const scheduler::EngineBuild& build : builds) {
    if (!unused.contains(build.build_id) || build.current) continue;
    std::uint64_t bytes = 0;
    if (!dry_run) {
      DORMOUSE_ASSIGN(bytes, RemoveBuild(build.directory));
    }
    pruned.bytes += bytes;
    pruned.builds.push_back(json::object{{"name", build.name},
                                         {"buildId", build.build_id},
                                         {"directory", build.directory.string()},
                                         {"bytes", bytes}});
  }
  return pruned;
}

int PruneEngines(Backend& backend, const CommonArguments& common, bool dry_run) {
  if (RefusesUrl(common, "engines are pruned")) return kExitUsage;
  const auto config = ConfigFor(common);
  if (!config.ok()) return ReportError(config.error(), common.json);
  const auto server = ServerOf(*config);
  if (!server.ok()) return ReportError(server.error(), common.json);
  const auto pruned = PruneBuilds(backend, *config, dry_run);
  if (!pruned.ok()) return ReportError(pruned.error(), common.json);
  if (*server && !dry_run && !pruned->builds.empty()) ::kill((*server)->pid, SIGHUP);
  if (common.json) {
    PrintJson(json::object{{"removed", pruned->builds}, {"dryRun", dry_run}});
    return kExitOk;
  }
  for (const json::value& item : pruned->builds) {
    const json::object& build = item.get_object();
    WriteOut((dry_run ? "would remove " : "removed ") + Cell(build, "name") + " " +
             ShortBuild(build) + "\n");
  }
  if (pruned->builds.empty()) WriteOut("nothing to remove\n");
  if (pruned->bytes > 0) WriteOut(HumanBytes(static_cast<double>(pruned->bytes)) + " freed\n");
  return kExitOk;
}

}  // namespace

int AddEngineCommand(const CommonArguments& common, const EnginesArguments& arguments) {
  if (RefusesUrl(common, "engines are added")) return kExitUsage;
  const auto config = ConfigFor(common);
  if (!config.ok()) return ReportError(config.error(), common.json);
  const auto server = ServerOf(*config);
  if (!server.ok()) return ReportError(server.error(), common.json);
  const MakeCurrent wanted = arguments.keep_current ? MakeCurrent::kNo : MakeCurrent::kYes;
  const auto installed = InstallEngine(arguments.package, config->engines_directory,
                                       config->executable, wanted);
  if (!installed.ok()) return ReportError(installed.error(), common.json);
  const EngineManifest& manifest = installed->manifest;
  if (*server) {
    const auto told = TellServer(common, **server, [&](Backend& backend) {
      return ServerOffers(backend, manifest.build_id, wanted);
    });
    if (!told.ok()) return ReportError(told.error(), common.json);
  }
  if (common.json) {
    PrintJson(json::object{{"name", manifest.name},
                           {"version", manifest.version},
                           {"buildId", manifest.build_id},
                           {"directory", installed->directory.string()},
                           {"wasInstalled", installed->was_there},
                           {"offered", server->has_value()}});
    return kExitOk;
  }
  WriteOut(manifest.name + " " + manifest.version + ", build " +
           manifest.build_id.substr(0, kShownBuildCharacters) +
           (installed->was_there ? ", was installed already\n" : ", is installed\n"));
  if (*server) WriteOut("the server at " + (*server)->url + " has it\n");
  return kExitOk;
}

int EnginesCommand(Backend& backend, const CommonArguments& common,
                   const EnginesArguments& arguments) {
  if (arguments.action == EnginesAction::kPrune) {
    return PruneEngines(backend, common, arguments.dry_run);
  }
  return ListEngines(backend, common);
}

}  // namespace dormouse::cli
