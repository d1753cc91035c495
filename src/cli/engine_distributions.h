// SPDX-License-Identifier: Apache-2.0
// The Python packages that an engine has of its own, and how pip is told of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

namespace dormouse::cli {

struct Distribution {
  std::string name;
  std::string version;
};

// As package indexes compare names: case and `-`, `_`, `.` do not count.
std::string NormalName(std::string name);

// Of a directory `NAME-VERSION.dist-info`; both empty for other names.
Distribution DistributionOfDirectory(const std::filesystem::path& name);

// What the `site-packages` of the engine in `directory` say. Empty for an engine without files.
Result<std::vector<Distribution>> DistributionsOfEngine(const std::filesystem::path& directory);

// Stands for packages of the engine while pip works out what others need: a wheel without content
// for each, of a version that pip prefers to any other that is as good, and a file of constraints
// that keeps it from another version: the engine has imported its own.
struct StandIns {
  std::filesystem::path wheels;
  std::filesystem::path constraints;
};
// A command that writes them into `directory`, and their places.
std::vector<std::string> CommandForStandIns(const std::filesystem::path& directory,
                                            const std::vector<Distribution>& distributions);
StandIns StandInsIn(const std::filesystem::path& directory);

// Whether pip has installed a stand-in by that version.
bool IsStandIn(const std::string& version);

}  // namespace dormouse::cli
