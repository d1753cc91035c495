// SPDX-License-Identifier: Apache-2.0
// The server that runs on a data directory, when what it offers changes under it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/backend.h"
#include "cli/data_directory.h"
#include "common/result.h"
#include "service/config.h"

namespace dormouse::cli {

// Reports wrong usage, and returns true, when a command that changes what is on this machine was
// given a server's URL. `what`: "engines are added".
bool RefusesUrl(const CommonArguments& common, const std::string& what);

// The server that runs on the data directory, if it has its engines where `config` has them.
// kConflict if it has them elsewhere.
Result<std::optional<ServerRecord>> ServerOf(const service::Config& config);

// Makes the server look again at what is installed, and waits until `has_taken_up`. kUnavailable
// when it does not within three minutes: it may have to make images first.
Result<void> TellServer(const CommonArguments& common, const ServerRecord& server,
                        const std::function<bool(Backend& backend)>& has_taken_up);

}  // namespace dormouse::cli
