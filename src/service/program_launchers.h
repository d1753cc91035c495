// SPDX-License-Identifier: Apache-2.0
// The cells that run a program of Perl, Ruby or Lua, each in its file; see program_code.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/command_line.h"

namespace dormouse::service {

std::string PerlCell(const Program& program);
std::string RubyCell(const Program& program);
std::string LuaCell(const Program& program);

// "file", "code" or "module".
std::string_view NameOf(Program::Kind kind);

// As Perl and Ruby write text that is nothing but text.
std::string SingleQuoted(std::string_view text);
std::string SingleQuotedList(const std::vector<std::string>& items);

}  // namespace dormouse::service
