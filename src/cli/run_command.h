// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include "cli/arguments.h"
#include "cli/backend.h"
#include "cli/resolve.h"

namespace dormouse::cli {

int RunCommand(Backend& backend, const CommonArguments& common, const RunArguments& arguments);

// The request for `code` in `context`.
boost::json::object RunBody(const ResolvedContext& context, std::string_view code);

struct StreamedRun {
  int exit_code = 0;
  bool has_result = false;  // otherwise the exit code is the server's fault
  bool is_unsaved = false;  // what it did is in memory only
};

// Whether this process goes on after a run.
enum class Afterwards { kMoreRuns, kEnd };

// Runs with live output; Ctrl-C interrupts the run.
StreamedRun StreamRun(Backend& backend, const ResolvedContext& context, boost::json::object body,
                      Afterwards afterwards);

}  // namespace dormouse::cli
