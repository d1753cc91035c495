// SPDX-License-Identifier: Apache-2.0
// Names that cannot be guessed.
#pragma once

#include <cstddef>
#include <string>

namespace dormouse {

// `characters` digits of Crockford's base 32 in lower case (5 bits each), from the kernel's random source.
std::string RandomId(std::size_t characters);

}  // namespace dormouse
