// SPDX-License-Identifier: Apache-2.0
// Where things are on this machine, and who serves a data directory right now.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "common/result.h"
#include "service/config.h"

namespace dormouse::cli {

// --data, else $XDG_DATA_HOME/dormouse, else ~/.local/share/dormouse.
std::filesystem::path DataDirectory(const CommonArguments& arguments);

// The configuration file over the defaults, and the command line over both. Engines are looked for
// in
// --engines, else where the configuration says, else beside the program (engines/ in a build tree,
// ../lib/dormouse/engines when installed), else in the data directory.
Result<service::Config> ConfigFor(const CommonArguments& arguments);

// server.json: written by a server for those who want to use its data directory.
struct ServerRecord {
  std::string url;
  int pid = 0;
  std::string engines;  // where it has its engines
};
Result<void> WriteServerRecord(const std::filesystem::path& data_directory,
                               const ServerRecord& record);
// Removes the record if it is this process's own.
void RemoveServerRecord(const std::filesystem::path& data_directory);
// The record of a process that still runs.
std::optional<ServerRecord> FindRunningServer(const std::filesystem::path& data_directory);

// The file in which a data directory keeps the key for this machine's own use.
std::filesystem::path KeyFile(const std::filesystem::path& data_directory);
// The first line of a file; at most 4 KiB are read.
Result<std::string> ReadKeyFile(const std::filesystem::path& file);

}  // namespace dormouse::cli
