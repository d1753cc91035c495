// SPDX-License-Identifier: Apache-2.0
#include "cli/lua_blocks.h"

#include <gtest/gtest.h>

#include "cli/cell_completeness.h"

namespace dormouse::cli {
namespace {

TEST(LuaBlocks, GoOnUntilTheirEnd) {
  for (const char* text :
       {"function f(n)", "for i = 1, 2 do", "while x do\n if y then\n end", "repeat\n x()", "if a then b() elseif c then",
        "x = {1,", "s = [[a", "s = [==[ ]] ", "--[[ a", "f(function() return 1", "s = 'a\\"}) {
    EXPECT_TRUE(LuaGoesOn(text)) << text;
  }
}

TEST(LuaBlocks, AreOverThen) {
  for (const char* text :
       {"function f(n) return n end", "for i = 1, 2 do end", "repeat x() until y", "if a then b() elseif c then d() end",
        "x = {1, [2] = 3}", "s = [[do]]", "-- do", "--[[ do\n ]] x = 1", "x = 'do' .. \"if\"", "ending = doit", "a[b[1]]", ""}) {
    EXPECT_FALSE(LuaGoesOn(text)) << text;
  }
}

TEST(LuaBlocks, HoldTheCellOpen) {
  EXPECT_TRUE(NeedsMoreLines("lua", "for i = 1, 2 do\n  print(i)"));
  EXPECT_FALSE(NeedsMoreLines("lua", "for i = 1, 2 do\n  print(i)\nend"));
  EXPECT_FALSE(NeedsMoreLines("lua", "x = #list -- it's"));
  EXPECT_FALSE(NeedsMoreLines("lua", "for i = 1, 2 do\n\n"));
}

}  // namespace
}  // namespace dormouse::cli
