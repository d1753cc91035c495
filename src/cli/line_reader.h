// SPDX-License-Identifier: Apache-2.0
// LineReader: lines from a person with editing and history, or from a pipe without.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace dormouse::cli {

class LineReader {
 public:
  enum class Outcome { kLine, kInterrupted, kEnd };

  virtual ~LineReader() = default;
  // Reads a line, without its end. kInterrupted: Ctrl-C was pressed, the line is gone.
  virtual Outcome Read(const std::string& prompt, std::string& line) = 0;
  // Remembers a whole cell.
  virtual void Remember(const std::string& cell) = 0;
};

// Editing if standard input is a terminal; history is kept in `history_file` then.
std::unique_ptr<LineReader> MakeLineReader(const std::filesystem::path& history_file);

}  // namespace dormouse::cli
