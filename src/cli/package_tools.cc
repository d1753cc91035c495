// SPDX-License-Identifier: Apache-2.0
#include "cli/package_tools.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <fstream>
#include <sstream>

extern char** environ;

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kPythonVersion = "3.13";  // of the engines
constexpr std::uint64_t kMaxManifestBytes = 1u << 20;
// In a tree of npm's: what was asked for, and the archives that were given.
constexpr const char* kNodeManifest = ".package.json";
constexpr const char* kNodeArchives = ".archives";

// What the tool says goes to standard error; results alone are for standard output.
Result<void> RunTool(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return Error(ErrorCode::kNotFound, arguments[0] + " is not installed: packages are fetched with it");
  }
  if (error != 0) return SystemError("starting " + arguments[0], error);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return Error(ErrorCode::kInvalidRequest, arguments[0] + " could not do it; nothing was changed");
}

Result<void> Failed(const std::string& what, const std::error_code& error) {
  if (!error) return {};
  return Error(ErrorCode::kInternal, what + ": " + error.message());
}

// npm works on a directory that has the tree as its node_modules. `tree` is moved there and back.
Result<void> RunNpm(const fs::path& tree, const std::vector<std::string>& action,
                    const std::vector<std::string>& packages) {
  const fs::path project = tree.string() + ".npm";
  const fs::path modules = project / "node_modules";
  std::error_code error;
  fs::create_directories(project, error);
  if (!error) fs::rename(tree, modules, error);
  if (!error && fs::exists(modules / kNodeManifest)) {
    fs::rename(modules / kNodeManifest, project / "package.json", error);
  }
  DORMOUSE_TRY(Failed("preparing " + project.string(), error));
  std::vector<std::string> command = {"npm"};
  command.insert(command.end(), action.begin(), action.end());
  command.insert(command.end(), {"--prefix", project.string(), "--ignore-scripts", "--no-audit", "--no-fund",
                                 "--no-bin-links", "--omit=dev", "--no-update-notifier",
                                 "--loglevel=error", "--install-links"});
  command.emplace_back("--");
  for (const std::string& package : packages) {
    if (!fs::is_regular_file(package)) {
      command.push_back(package);
      continue;
    }
    // npm remembers where an archive was: it must stay there.
    const fs::path kept = fs::path("node_modules") / kNodeArchives / fs::path(package).filename();
    fs::create_directories(modules / kNodeArchives, error);
    fs::copy_file(package, project / kept, fs::copy_options::overwrite_existing, error);
    DORMOUSE_TRY(Failed("copying " + package, error));
    command.push_back("file:" + (project / kept).string());
  }
  auto ran = RunTool(std::move(command));
  if (ran.ok()) {
    fs::rename(project / "package.json", modules / kNodeManifest, error);
    if (!error) fs::rename(modules, tree, error);
    ran = Failed("taking over what npm installed", error);
  }
  fs::remove_all(project, error);
  return ran;
}

std::string ReadNodeManifest(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none) || fs::file_size(file, none) > kMaxManifestBytes) return "";
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

struct PythonPackage {
  std::string name;
  std::string version;
  fs::path record;
};

// From the directories NAME-VERSION.dist-info.
std::vector<PythonPackage> PythonPackages(const fs::path& tree) {
  std::vector<PythonPackage> packages;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(tree, none)) {
    Distribution found = DistributionOfDirectory(entry.path().filename());
    if (found.name.empty()) continue;
    packages.push_back({std::move(found.name), std::move(found.version), entry.path() / "RECORD"});
  }
  return packages;
}

// RECORD lists a package's files, a line each: the path, relative to the tree, up to the first comma.
Result<void> RemovePythonPackage(const fs::path& tree, const std::string& package) {
  for (const PythonPackage& found : PythonPackages(tree)) {
    if (NormalName(found.name) != NormalName(package)) continue;
    std::ifstream record(found.record);
    std::error_code none;
    for (std::string line; std::getline(record, line);) {
      const fs::path relative = fs::path(line.substr(0, line.find(','))).lexically_normal();
      if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") continue;
      fs::remove(tree / relative, none);
      // Directories go with the last of their files.
      for (fs::path up = relative.parent_path(); !up.empty(); up = up.parent_path()) {
        if (!fs::is_empty(tree / up, none) || none || !fs::remove(tree / up, none)) break;
      }
    }
    fs::remove_all(found.record.parent_path(), none);
    return {};
  }
  return Error(ErrorCode::kNotFound, "there is no package " + package);
}

// Moves what `from` holds into `to`; directories that both have are joined.
Result<void> MoveInto(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    const fs::path target = to / entry.path().filename();
    if (entry.is_directory(error) && !entry.is_symlink(error) && fs::is_directory(target)) {
      DORMOUSE_TRY(MoveInto(entry.path(), target));
    } else {
      fs::rename(entry.path(), target, error);
    }
    if (error) break;
  }
  return Failed("moving packages to " + to.string(), error);
}

// pip leaves the old version's files beside a new one's, so it gets a directory of its own.
Result<void> InstallWithPip(const fs::path& tree, const PackageRequest& request) {
  const fs::path fresh = tree.string() + ".pip";
  std::vector<std::string> command = {"python3", "-m", "pip", "install", "--quiet", "--no-input",
                                      "--disable-pip-version-check", "--no-compile",
                                      "--target", fresh.string()};
  if (!request.build) {
    command.insert(command.end(), {"--only-binary=:all:", "--python-version", kPythonVersion,
                                   "--implementation", "py", "--abi", "none", "--platform", "any"});
  }
  if (!request.from.empty()) {
    command.insert(command.end(), {"--no-index", "--find-links", request.from});
  }
  const fs::path aside = tree.string() + ".engine";
  if (!request.of_engine.empty()) {
    DORMOUSE_TRY(RunTool(CommandForStandIns(aside, request.of_engine)));
    const StandIns stand_ins = StandInsIn(aside);
    command.insert(command.end(), {"--find-links", stand_ins.wheels.string(),
                                   "--constraint", stand_ins.constraints.string()});
  }
  command.emplace_back("--");
  command.insert(command.end(), request.packages.begin(), request.packages.end());
  // What pip says to root is about packages of the system.
  ::setenv("PIP_ROOT_USER_ACTION", "ignore", /*overwrite=*/0);
  DORMOUSE_TRY(RunTool(std::move(command)));
  // Programs for a shell; there is none.
  std::error_code none;
  fs::remove_all(fresh / "bin", none);
  for (const PythonPackage& package : PythonPackages(fresh)) {
    if (IsStandIn(package.version)) {
      fs::remove_all(package.record.parent_path(), none);
      continue;
    }
    const auto removed = RemovePythonPackage(tree, package.name);
    if (!removed.ok() && removed.error().code != ErrorCode::kNotFound) return removed.error();
  }
  return MoveInto(fresh, tree);
}

void AddNodePackages(const fs::path& directory, const std::string& scope, json::array& packages) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    if (name.starts_with('@') && scope.empty()) {
      AddNodePackages(entry.path(), name + "/", packages);
      continue;
    }
    boost::system::error_code malformed;
    const json::value manifest = json::parse(ReadNodeManifest(entry.path() / "package.json"), malformed);
    if (malformed || !manifest.is_object()) continue;
    const json::value* const version = manifest.get_object().if_contains("version");
    packages.push_back(json::object{
        {"name", scope + name},
        {"version", version != nullptr && version->is_string() ? *version : json::value("")}});
  }
}

}  // namespace

Result<void> InstallPackages(const std::string& language, const fs::path& tree,
                             const PackageRequest& request) {
  if (language == "python") return InstallWithPip(tree, request);
  if (!request.from.empty() || request.build) {
    return Error(ErrorCode::kInvalidRequest, "--from and --build are for Python packages");
  }
  return RunNpm(tree, {"install"}, request.packages);
}

Result<void> UninstallPackage(const std::string& language, const fs::path& tree,
                              const std::string& package) {
  if (language == "python") return RemovePythonPackage(tree, package);
  json::array installed = PackagesIn(language, tree);
  const bool is_there = std::any_of(installed.begin(), installed.end(), [&](const json::value& item) {
    return item.at("name").as_string() == package;
  });
  if (!is_there) return Error(ErrorCode::kNotFound, "there is no package " + package);
  return RunNpm(tree, {"uninstall"}, {package});
}

json::array PackagesIn(const std::string& language, const fs::path& tree) {
  json::array packages;
  if (language == "python") {
    for (const PythonPackage& package : PythonPackages(tree)) {
      packages.push_back(json::object{{"name", package.name}, {"version", package.version}});
    }
  } else {
    AddNodePackages(tree, "", packages);
  }
  std::sort(packages.begin(), packages.end(), [](const json::value& a, const json::value& b) {
    return a.at("name").as_string() < b.at("name").as_string();
  });
  return packages;
}

Result<void> CheckPure(const fs::path& tree) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(tree, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string();
    for (const char* native : {".so", ".pyd", ".dll", ".dylib", ".node"}) {
      if (extension != native) continue;
      return Error(ErrorCode::kInvalidRequest,
                   "only packages without code for a processor can be used here, and " +
                       it->path().lexically_relative(tree).string() + " is such code");
    }
  }
  return Failed("reading " + tree.string(), error);
}

}  // namespace dormouse::cli
