// SPDX-License-Identifier: Apache-2.0
// Functions of the guest's C library that the host's does better.
#pragma once

#include <string>
#include <string_view>

#include "wabt/ir.h"

namespace dormouse::aot {

// The body (without braces) to use for `func` in place of its own, or null. A function is known by
// its name in the name section and its signature; both mean what ISO C says. The host's versions
// touch linear memory only, at the addresses that the guest's would touch, so a stray one faults as
// ever.
const char* NativeLibcBody(const wabt::Func& func, std::string_view signature);

}  // namespace dormouse::aot
