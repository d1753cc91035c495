// SPDX-License-Identifier: Apache-2.0
#include "cli/packages_command.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "cli/output.h"
#include "cli/package_tools.h"
#include "cli/report.h"
#include "cli/resolve.h"
#include "cli/running_server.h"
#include "cli/staging.h"
#include "common/sha256.h"
#include "scheduler/worker_host.h"
#include "service/bindings.h"
#include "service/package_library.h"
#include "service/preloads.h"

namespace dormouse::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using PackagesAction = PackagesArguments::Action;

constexpr std::size_t kIdCharacters = 32;

Error LibraryFailed(const std::string& what, const std::error_code& error) {
  return Error(ErrorCode::kInternal, what + ": " + error.message());
}

// A hash of paths, links and contents, in an order that is always the same.
Result<std::string> IdOfTree(const fs::path& tree) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator it(tree, error), end; !error && it != end; it.increment(error)) {
    paths.push_back(it->path());
  }
  if (error) return LibraryFailed("reading " + tree.string(), error);
  std::sort(paths.begin(), paths.end());
  std::string text = "dormouse packages 1\n";
  for (const fs::path& path : paths) {
    text += path.lexically_relative(tree).string();
    if (fs::is_symlink(path, error)) {
      text += " -> " + fs::read_symlink(path, error).string();
    } else if (fs::is_regular_file(path, error)) {
      const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      if (!file.valid()) return SystemError("opening " + path.string(), errno);
      DORMOUSE_ASSIGN(const Sha256Digest digest, Sha256OfFile(file.get()));
      text += " " + digest.Hex();
    }
    text += "\n";
  }
  return Sha256(text).Hex().substr(0, kIdCharacters);
}

// The library of one language while it is changed.
class LibraryChange {
 public:
  static Result<LibraryChange> Begin(const fs::path& data_directory, const std::string& language) {
    const fs::path root = service::LibraryRoot(data_directory, language);
    DORMOUSE_ASSIGN(FileDescriptor lock, LockDirectory(root));
    DORMOUSE_ASSIGN(StagingDirectory staging, StagingDirectory::Make(root));
    LibraryChange change(root, std::move(lock), std::move(staging));
    std::error_code error;
    const auto installed = service::InstalledLibrary(data_directory, language);
    if (installed) {
      change.before_ = installed->id;
      fs::copy(installed->directory, change.tree(), fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    } else {
      fs::create_directory(change.tree(), error);
    }
    if (error) return LibraryFailed("copying the library", error);
    return change;
  }

  // What may be changed.
  fs::path tree() const { return staging_.path() / "tree"; }

  // Makes the changed tree the current library; none, if it is empty.
  Result<void> Select() {
    std::error_code error;
    if (fs::is_empty(tree(), error) && !error) return PointAt("");
    DORMOUSE_ASSIGN(const std::string id, IdOfTree(tree()));
    if (!fs::exists(root_ / id, error)) fs::rename(tree(), root_ / id, error);
    if (error) return LibraryFailed("installing the library", error);
    return PointAt(id);
  }
  // Back to the library that there was.
  Result<void> Undo() { return PointAt(before_); }

  // Removes libraries that are no longer current.
  void RemoveOthers() {
    std::error_code none;
    const fs::path current = fs::read_symlink(root_ / "current", none);
    for (const auto& entry : fs::directory_iterator(root_, none)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_symlink(none) || !entry.is_directory(none)) continue;
      if (name == current || name.starts_with('.')) continue;
      fs::remove_all(entry.path(), none);
    }
  }

 private:
  LibraryChange(fs::path root, FileDescriptor lock, StagingDirectory staging)
      : root_(std::move(root)), lock_(std::move(lock)), staging_(std::move(staging)) {}

  Result<void> PointAt(const std::string& id) {
    if (!id.empty()) return PointCurrentAt(root_, id);
    std::error_code error;
    fs::remove(root_ / "current", error);
    if (error) return LibraryFailed("removing the library", error);
    return SyncDirectory(root_);
  }

  fs::path root_;
  FileDescriptor lock_;
  StagingDirectory staging_;
  std::string before_;
};

// Makes the images that bindings now need. Returns the build of each binding.
Result<std::map<std::string, std::string>> MakeImages(const service::Config& config) {
  DORMOUSE_ASSIGN(auto engines, scheduler::LoadEngines(config.engines_directory));
  DORMOUSE_TRY(service::AddPreloads(config, engines));
  DORMOUSE_ASSIGN(const auto table, service::BindingTable::Make(config, std::move(engines)));
  std::map<std::string, std::string> builds;
  for (const service::Binding& binding : table.All()) builds[binding.name] = binding.build_id;
  return builds;
}

bool OffersBuilds(Backend& backend, const std::map<std::string, std::string>& builds) {
  const auto bindings = ListUnpaged(backend, "/v1/bindings");
  if (!bindings.ok()) return false;
  return std::all_of(bindings->begin(), bindings->end(), [&](const json::value& item) {
    if (!item.is_object()) return false;
    const auto build = builds.find(TextOf(item.get_object(), "name"));
    return build == builds.end() || build->second == TextOf(item.get_object(), "buildId");
  });
}

// Of the engine that the language means.
Result<std::vector<Distribution>> OfEngine(const service::Config& config,
                                           const std::string& language) {
  DORMOUSE_ASSIGN(auto engines, scheduler::LoadEngines(config.engines_directory));
  DORMOUSE_TRY(service::AddPreloads(config, engines));
  DORMOUSE_ASSIGN(const auto table, service::BindingTable::Make(config, engines));
  const auto binding = table.ByLanguage(language);
  if (!binding.ok()) return std::vector<Distribution>();
  const scheduler::EngineBuild* const engine =
      service::CurrentBuild(engines, (*binding)->info.engine);
  if (engine == nullptr) return std::vector<Distribution>();
  return DistributionsOfEngine(engine->directory);
}

Result<void> ChangeTree(const service::Config& config, const std::string& language,
                        const fs::path& tree, const PackagesArguments& arguments) {
  if (arguments.action == PackagesAction::kAdd) {
    PackageRequest request{arguments.packages, arguments.from, arguments.build, {}};
    if (language == "python") {
      DORMOUSE_ASSIGN(request.of_engine, OfEngine(config, language));
    }
    DORMOUSE_TRY(InstallPackages(language, tree, request));
    return CheckPure(tree);
  }
  for (const std::string& package : arguments.packages) {
    DORMOUSE_TRY(UninstallPackage(language, tree, package));
  }
  if (PackagesIn(language, tree).empty()) {
    // What is left belongs to no package.
    std::error_code error;
    fs::remove_all(tree, error);
    if (!error) fs::create_directory(tree, error);
    if (error) return LibraryFailed("emptying the library", error);
  }
  return {};
}

Result<void> Change(const CommonArguments& common, const service::Config& config,
                    const std::string& language, const PackagesArguments& arguments) {
  DORMOUSE_ASSIGN(const auto server, ServerOf(config));
  DORMOUSE_ASSIGN(LibraryChange change, LibraryChange::Begin(config.data_directory, language));
  DORMOUSE_TRY(ChangeTree(config, language, change.tree(), arguments));
  DORMOUSE_TRY(change.Select());
  const auto builds = MakeImages(config);
  if (!builds.ok()) {
    DORMOUSE_TRY(change.Undo());
    change.RemoveOthers();
    return builds.error();
  }
  if (server) {
    DORMOUSE_TRY(TellServer(common, *server, [&](Backend& backend) {
      return OffersBuilds(backend, *builds);
    }));
  }
  change.RemoveOthers();
  return {};
}

Table PackageTable() {
  return {{"PACKAGE", "VERSION"}, [](const json::object& package) -> std::vector<std::string> {
            return {Cell(package, "name"), Cell(package, "version")};
          }};
}

Result<json::array> ChangeAndList(const CommonArguments& common, const PackagesArguments& arguments) {
  const std::string language(service::LibraryLanguage(arguments.language));
  if (language.empty()) {
    return Error(ErrorCode::kInvalidRequest,
                 "there are packages for python, javascript and typescript, not for " + arguments.language,
                 {{"field", "language"}});
  }
  DORMOUSE_ASSIGN(const service::Config config, ConfigFor(common));
  if (arguments.action != PackagesAction::kList) {
    DORMOUSE_TRY(Change(common, config, language, arguments));
  }
  const auto library = service::InstalledLibrary(config.data_directory, language);
  return library ? PackagesIn(language, library->directory) : json::array();
}

}  // namespace

int PackagesCommand(const CommonArguments& common, const PackagesArguments& arguments) {
  if (RefusesUrl(common, "packages are kept")) return kExitUsage;
  return ReportList(ChangeAndList(common, arguments), common, PackageTable());
}

}  // namespace dormouse::cli
