// SPDX-License-Identifier: Apache-2.0
#include "service/program_launchers.h"

namespace dormouse::service {

std::string_view NameOf(Program::Kind kind) {
  switch (kind) {
    case Program::Kind::kFile:
      return "file";
    case Program::Kind::kCode:
      return "code";
    case Program::Kind::kModule:
      return "module";
  }
  return "file";
}

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "'";
}

std::string SingleQuotedList(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ", ") + SingleQuoted(item);
  return list;
}

}  // namespace dormouse::service
