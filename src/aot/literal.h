// SPDX-License-Identifier: Apache-2.0
// Constants of wasm as C expressions of exactly their type and bits.
#pragma once

#include <cstdint>
#include <string>

#include "wabt/type.h"

namespace dormouse::aot {

// `bits` of a value of type i32, i64, f32 or f64.
std::string Literal(wabt::Type type, std::uint64_t bits);

}  // namespace dormouse::aot
