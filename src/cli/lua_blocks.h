// SPDX-License-Identifier: Apache-2.0
// Whether a piece of Lua goes on: a block, bracket, long string or long comment is open. A rule
// about words, not a parser.
#pragma once

#include <string_view>

namespace dormouse::cli {

bool LuaGoesOn(std::string_view text);

}  // namespace dormouse::cli
