// SPDX-License-Identifier: Apache-2.0
// RunPrinter: shows the events of a run as they come and knows how the command should end.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "common/error.h"

namespace dormouse::cli {

class RunPrinter {
 public:
  void OnEvent(const boost::json::object& event);

  // Nothing as long as no result came: then the stream broke off.
  std::optional<int> exit_code() const { return exit_code_; }
  // False also when the server said why there will be no result.
  bool has_result() const { return has_result_; }

 private:
  void PrintOutput(const boost::json::object& output);
  void OnServerFailure(const boost::json::object& error);
  void PrintResult(const boost::json::object& run);

  std::optional<int> exit_code_;
  bool has_result_ = false;
  bool text_shown_ = false;  // by the output before
};

// The exit code for a RunCodeResult.
int ExitCodeOfRun(const boost::json::object& run);

}  // namespace dormouse::cli
