// SPDX-License-Identifier: Apache-2.0
// Whether what was typed is a whole cell. A simple rule, not a parser: it asks for more lines when
// that is clearly needed. An empty line ends an indented block, two empty lines end everything.
#pragma once

#include <string_view>

namespace dormouse::cli {

bool NeedsMoreLines(std::string_view language, std::string_view text);

}  // namespace dormouse::cli
