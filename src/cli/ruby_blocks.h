// SPDX-License-Identifier: Apache-2.0
// How many blocks of a piece of Ruby wait for their `end`. A rule about words, not a parser: it
// knows strings in plain quotes and comments, modifiers (`x if y`) and definitions without an end
// (`def f = 1`), and is wrong about words in heredocs and %w lists.
#pragma once

#include <string_view>

namespace dormouse::cli {

int OpenRubyBlocks(std::string_view text);

}  // namespace dormouse::cli
