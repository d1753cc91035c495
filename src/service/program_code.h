// SPDX-License-Identifier: Apache-2.0
// ProgramCode: a program of a command line as cells that a fresh context runs in order, so that it sees what a process of
// its interpreter would see: its arguments, its module search path, `__main__`, its exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/command_line.h"
#include "service/types.h"

namespace dormouse::service {

struct ProgramCode {
  std::string language;  // as contexts name it
  std::vector<std::string> cells;
  // Run after the cells, also after one that failed, to learn the exit status; empty: the cells themselves tell.
  std::string last_cell_after_success;
  std::string last_cell_after_error;
};

ProgramCode CodeOf(const Program& program);

// What an interpreter prints of an uncaught error, without the lines that are about cells.
std::string TraceOf(const CodeError& error);

}  // namespace dormouse::service
