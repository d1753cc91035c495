// SPDX-License-Identifier: Apache-2.0
#include "cli/ruby_blocks.h"

#include <gtest/gtest.h>

#include "cli/cell_completeness.h"

namespace dormouse::cli {
namespace {

TEST(RubyBlocks, WaitForTheirEnd) {
  EXPECT_EQ(OpenRubyBlocks("def f(n)\n  n * 2"), 1);
  EXPECT_EQ(OpenRubyBlocks("def f(n)\n  n * 2\nend"), 0);
  EXPECT_EQ(OpenRubyBlocks("class A < B\n  def self.x"), 2);
  EXPECT_EQ(OpenRubyBlocks("[1].each do |x|"), 1);
  EXPECT_EQ(OpenRubyBlocks("x = if y\n 1\nelse"), 1);
  EXPECT_EQ(OpenRubyBlocks("x = begin"), 1);
  EXPECT_EQ(OpenRubyBlocks("case x\nin [a]\nend"), 0);
}

TEST(RubyBlocks, ALoopAndItsDoAreOneBlock) {
  EXPECT_EQ(OpenRubyBlocks("while x do\n y\nend"), 0);
  EXPECT_EQ(OpenRubyBlocks("for i in 1..2\n i\nend"), 0);
  EXPECT_EQ(OpenRubyBlocks("while x\n y.each do |z|\n"), 2);
}

TEST(RubyBlocks, ModifiersAndEndlessDefinitionsHaveNone) {
  EXPECT_EQ(OpenRubyBlocks("x = 1 if y"), 0);
  EXPECT_EQ(OpenRubyBlocks("x() while y"), 0);
  EXPECT_EQ(OpenRubyBlocks("def f = 1"), 0);
  EXPECT_EQ(OpenRubyBlocks("def f(a, b = (1)) = a"), 0);
  EXPECT_EQ(OpenRubyBlocks("def ==(other)\n"), 1);
}

TEST(RubyBlocks, WordsElsewhereDoNotCount) {
  EXPECT_EQ(OpenRubyBlocks("x.class; :begin; {if: 1, end: 2}; @do; y.end"), 0);
  EXPECT_EQ(OpenRubyBlocks("\"do\" + 'def' # class"), 0);
  EXPECT_EQ(OpenRubyBlocks("block_given? && ends"), 0);
}

TEST(RubyBlocks, MakeACellGoOn) {
  EXPECT_TRUE(NeedsMoreLines("ruby", "def f(n)"));
  EXPECT_TRUE(NeedsMoreLines("ruby", "def f(n)\n\n  n"));
  EXPECT_FALSE(NeedsMoreLines("ruby", "def f(n)\n\n"));
  EXPECT_FALSE(NeedsMoreLines("ruby", "def f(n)\n  n\nend"));
  EXPECT_FALSE(NeedsMoreLines("javascript", "def f"));
}

}  // namespace
}  // namespace dormouse::cli
