// SPDX-License-Identifier: Apache-2.0
// Command lines: the part of the shell's language that can be run without a shell.
//
// A line is one or more commands joined by `&&`. Each is `cd DIR`, or NAME=value assignments and a program with its
// words. Words are quoted as in POSIX: '…', "…", backslash; a backslash before the end of a line joins lines. Whatever
// else means something to a shell (pipes, redirections, variables, patterns) is refused and never taken literally.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace dormouse::service {

inline constexpr std::size_t kMaxCommandBytes = 32u << 10;
inline constexpr std::size_t kMaxCommandWords = 2'000;
inline constexpr std::size_t kMaxCommands = 64;

struct SimpleCommand {
  std::vector<std::pair<std::string, std::string>> assignments;  // in order
  std::vector<std::string> words;                                // not empty; the first is the program

  bool operator==(const SimpleCommand&) const = default;
};

// kUnsupportedRuntimeOption for what needs a shell, kInvalidRequest for what no shell would take; both name the field
// `command`.
Result<std::vector<SimpleCommand>> ParseCommandLine(std::string_view line);

// What an interpreter is asked to run.
struct Program {
  enum class Language { kPython, kJavaScript, kTypeScript, kPerl, kRuby, kLua };
  enum class Kind { kFile, kCode, kModule };

  Language language = Language::kPython;
  Kind kind = Kind::kFile;
  std::string target;                  // a path, the code, or a module's name
  std::vector<std::string> options;    // those with an effect, a word each: "-w", "-Ilib"
  std::vector<std::string> arguments;  // without the program and the target
  std::vector<std::pair<std::string, std::string>> env;
  std::string directory;  // absolute, in /workspace: where it runs

  bool operator==(const Program&) const = default;
};

// One step of a line: a program, or only a change of the directory, which must exist when its turn comes.
struct CommandStep {
  bool is_change = false;
  std::string directory;  // is_change: the new one, absolute
  std::string written;    // is_change: as the client wrote it
  Program program;
};

// What the commands of `line` mean, begun in /workspace. kUnsupportedRuntimeOption for programs other than interpreters
// and for options of theirs that are not known; kPathOutsideWorkspace for a `cd` that leaves /workspace.
Result<std::vector<CommandStep>> ParsePrograms(std::string_view line);

}  // namespace dormouse::service
