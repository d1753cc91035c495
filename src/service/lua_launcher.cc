// SPDX-License-Identifier: Apache-2.0
#include "service/program_launchers.h"

namespace dormouse::service {
namespace {

// Follows the locals `kind`, `target` and `arg`. Frames of this code are not shown.
constexpr std::string_view kLuaLauncher = R"lua(
local path = os.getenv("LUA_PATH_5_4") or os.getenv("LUA_PATH")
if path then
  local standard = package.path:gsub("%%", "%%%%")
  package.path = (";" .. path .. ";"):gsub(";;", ";" .. standard .. ";", 1):gsub("^;+", ""):gsub(";+$", "")
end

local function fail(message)
  io.stderr:write("lua: ", message, "\n")
  os.exit(1)
end

local function traced(failure)
  if type(failure) ~= "string" then
    local meta = getmetatable(failure)
    if type(meta) ~= "table" or not meta.__tostring then
      return "(error object is a " .. type(failure) .. " value)"
    end
  end
  local text = debug.traceback(tostring(failure), 2)
  return (text:gsub("^(.*)\n\t%[C%]: in function 'xpcall'.*$", "%1\n\t[C]: in ?"))
end

local chunk, message
if kind == "code" then
  chunk, message = load(target, "=(command line)", "t")
else
  chunk, message = loadfile(target, "t")
end
if not chunk then fail(message) end
local done, failure = xpcall(chunk, traced, table.unpack(arg))
if not done then fail(failure) end
os.exit(0)
)lua";

std::string LuaQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\' || c == '\n') quoted.push_back('\\');
    if (c == '\r') {
      quoted.append("\\r");
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "'";
}

}  // namespace

std::string LuaCell(const Program& program) {
  std::string arguments;
  for (const std::string& item : program.arguments) arguments += LuaQuoted(item) + ", ";
  const bool is_code = program.kind == Program::Kind::kCode;
  return "local kind, target = " + LuaQuoted(NameOf(program.kind)) + ", " + LuaQuoted(program.target) +
         "\narg = {" + arguments + "[0] = " + (is_code ? "'lua'" : "target") + "}\n" +
         std::string(kLuaLauncher);
}

}  // namespace dormouse::service
