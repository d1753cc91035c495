// SPDX-License-Identifier: Apache-2.0
#include "service/program_code.h"

#include <gtest/gtest.h>

namespace dormouse::service {
namespace {

Program ProgramOf(std::string_view line) {
  const auto steps = ParsePrograms(line);
  EXPECT_TRUE(steps.ok()) << line;
  return steps.ok() ? steps->back().program : Program();
}

TEST(ProgramCode, PythonIsOneCell) {
  const ProgramCode code = CodeOf(ProgramOf("python 'a \"b\\.py' x"));
  EXPECT_EQ(code.language, "python");
  ASSERT_EQ(code.cells.size(), 1u);
  EXPECT_NE(code.cells[0].find("(\"file\", \"a \\\"b\\\\.py\", [\"x\"])"), std::string::npos) << code.cells[0];
  EXPECT_TRUE(code.last_cell_after_success.empty());
}

TEST(ProgramCode, JavaScriptFilesAreImportedByTheirAbsolutePath) {
  const ProgramCode code = CodeOf(ProgramOf("cd sub && node a.js 'x\ny'"));
  EXPECT_EQ(code.language, "javascript");
  ASSERT_EQ(code.cells.size(), 1u);
  EXPECT_NE(code.cells[0].find("\"/workspace/sub/a.js\""), std::string::npos);
  EXPECT_NE(code.cells[0].find("[\"x\\ny\"]"), std::string::npos);
}

TEST(ProgramCode, CodeIsACellOfItsOwn) {
  const ProgramCode code = CodeOf(ProgramOf("tsx -e 'let a: number = 1'"));
  EXPECT_EQ(code.language, "typescript");
  ASSERT_EQ(code.cells.size(), 2u);
  EXPECT_EQ(code.cells[1], "let a: number = 1");
}

TEST(ProgramCode, PerlAndRubyAreOneCellWithQuotedText) {
  ProgramCode code = CodeOf(ProgramOf("perl -w \"it's\" 'a\\b' '$x'"));
  EXPECT_EQ(code.language, "perl");
  ASSERT_EQ(code.cells.size(), 1u);
  EXPECT_NE(code.cells[0].find("target = 'it\\'s'"), std::string::npos) << code.cells[0];
  EXPECT_NE(code.cells[0].find("options = ('-w')"), std::string::npos);
  EXPECT_NE(code.cells[0].find("@ARGV = ('a\\\\b', '$x')"), std::string::npos);
  code = CodeOf(ProgramOf("ruby -e 'p 1' a b"));
  EXPECT_EQ(code.language, "ruby");
  ASSERT_EQ(code.cells.size(), 1u);
  EXPECT_NE(code.cells[0].find("launch.('code', 'p 1', [], ['a', 'b'])"), std::string::npos);
}

TEST(ProgramCode, TracesDoNotSpeakOfCells) {
  CodeError error;
  error.name = "Error";
  error.message = "no";
  error.traceback = {"Error: no\n    at f (/workspace/a.js:1:2)\n    at cell-1:4:1"};
  EXPECT_EQ(TraceOf(error), "Error: no\n    at f (/workspace/a.js:1:2)\n");
  error.traceback.clear();
  EXPECT_EQ(TraceOf(error), "Error: no\n");
}

}  // namespace
}  // namespace dormouse::service
