// SPDX-License-Identifier: Apache-2.0
#include "cli/cell_completeness.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

TEST(NeedsMoreLines, WholeCellsRunAtOnce) {
  for (const char* text :
       {"x = 1", "print('(')", "x = {'a': [1]}", "# def f(:", "s = 'it\\'s'", "", "a[1:2]"}) {
    EXPECT_FALSE(NeedsMoreLines("python", text)) << text;
  }
  for (const char* text : {"const x = {a: 1}", "f(`(`)", "// (", "/* ( */ 1", "\"{\""}) {
    EXPECT_FALSE(NeedsMoreLines("javascript", text)) << text;
  }
}

TEST(NeedsMoreLines, OpenBracketsAndStringsGoOn) {
  for (const char* text : {"x = [", "f(1,\n", "s = '''a", "s = \"\"\"a\n\nb", "x = 1 + \\"}) {
    EXPECT_TRUE(NeedsMoreLines("python", text)) << text;
  }
  for (const char* text : {"function f() {", "`a\n", "/* a\n", "if (x) {\n  y();\n"}) {
    EXPECT_TRUE(NeedsMoreLines("javascript", text)) << text;
  }
}

TEST(NeedsMoreLines, BlocksGoOnUntilAnEmptyLine) {
  EXPECT_TRUE(NeedsMoreLines("python", "def f():"));
  EXPECT_TRUE(NeedsMoreLines("python", "def f():\n  return 1"));
  EXPECT_TRUE(NeedsMoreLines("python", "if x:  # why"));
  EXPECT_FALSE(NeedsMoreLines("python", "def f():\n  return 1\n"));
  EXPECT_FALSE(NeedsMoreLines("python", "x = {'a': 1}; y: int = 2"));
}

TEST(NeedsMoreLines, TwoEmptyLinesEndEverything) {
  EXPECT_TRUE(NeedsMoreLines("python", "f(\n"));
  EXPECT_FALSE(NeedsMoreLines("python", "f(\n\n"));
  EXPECT_FALSE(NeedsMoreLines("javascript", "x = /(/\n\n"));
}

}  // namespace
}  // namespace dormouse::cli
