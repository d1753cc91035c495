// SPDX-License-Identifier: Apache-2.0
// RunPrinter: shows the events of a run as they come and knows how the command should end.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "common/error.h"

namespace dormouse::cli {

// What becomes of the memory of a context when a run could not be saved.
enum class Unsaved {
  kHeldByServer,   // the next run of the context saves it, if that works
  kHeldMeanwhile,  // so it is until this process ends
  kLost,           // this process ends with the run
};

class RunPrinter {
 public:
  // `own_directory`: the data directory, if the service is in this process.
  explicit RunPrinter(Unsaved unsaved, std::filesystem::path own_directory = {})
      : unsaved_(unsaved), own_directory_(std::move(own_directory)) {}

  void OnEvent(const boost::json::object& event);

  // Nothing as long as no result came: then the stream broke off.
  std::optional<int> exit_code() const { return exit_code_; }
  // False also when the server said why there will be no result.
  bool has_result() const { return has_result_; }
  // Whether the run's effects are in memory only.
  bool is_unsaved() const { return is_unsaved_; }

 private:
  void PrintOutput(const boost::json::object& output);
  // Names what was shown before and needs an artifact, unless what comes next belongs to it.
  void PrintUnkept(const std::string& next_format);
  void PrintArtifact(const boost::json::object& output);
  void OnServerFailure(const boost::json::object& error);
  void PrintResult(const boost::json::object& run);
  void PrintNotes(const boost::json::object& run);
  void PrintLosses(const boost::json::object& run);
  void PrintFailure(const std::string& message);

  const Unsaved unsaved_;
  const std::filesystem::path own_directory_;
  std::optional<int> exit_code_;
  bool has_result_ = false;
  bool is_unsaved_ = false;
  bool text_shown_ = false;  // by an output before
  std::string unkept_;       // formats that would have become artifacts
};

// The exit code for a RunCodeResult. Success of code whose state was not saved, or that found
// earlier state lost, is kExitNotSaved: whoever goes on from there would go on from something else.
int ExitCodeOfRun(const boost::json::object& run);

}  // namespace dormouse::cli
