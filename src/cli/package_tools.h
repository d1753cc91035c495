// SPDX-License-Identifier: Apache-2.0
// The tools that know packages: pip for Python's, npm for JavaScript's. They work on the tree of a
// library: what `site-packages` or `node_modules` holds.
#pragma once

#include <boost/json/array.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/engine_distributions.h"
#include "common/result.h"

namespace dormouse::cli {

struct PackageRequest {
  std::vector<std::string> packages;  // names, with versions or without, and local files
  std::string from;                   // Python: a directory of wheels, in place of an index; empty: none
  bool build = false;                 // Python: source packages are built, which runs their code here
  std::vector<Distribution> of_engine;  // Python: what need not be installed
};

// Installs packages and what they need into `tree`. kInvalidRequest when the tool fails, which has
// said why on standard error by then; kNotFound when there is no such tool.
Result<void> InstallPackages(const std::string& language, const std::filesystem::path& tree,
                             const PackageRequest& request);

// Removes one package from `tree`. kNotFound when it is not there.
Result<void> UninstallPackage(const std::string& language, const std::filesystem::path& tree,
                              const std::string& package);

// `{"name", "version"}` of each package in `tree`, by name.
boost::json::array PackagesIn(const std::string& language, const std::filesystem::path& tree);

// kInvalidRequest, naming the file, when `tree` holds code for a processor: it cannot run here.
Result<void> CheckPure(const std::filesystem::path& tree);

}  // namespace dormouse::cli
