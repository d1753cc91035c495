// SPDX-License-Identifier: Apache-2.0
// Evaluates the constant expressions of a module: initial values of globals, offsets of segments.
#pragma once

#include <cstdint>
#include <optional>

#include "common/result.h"
#include "wabt/ir.h"

namespace dormouse::aot {

struct ConstantValue {
  wabt::Type type = wabt::Type::I32;
  std::uint64_t bits = 0;  // 32-bit types zero-extended
};

// Constants, global.get of immutable globals defined earlier, and integer +, -, *. Refuses imported
// globals and references.
Result<ConstantValue> EvaluateConstant(const wabt::Module& module,
                                       const wabt::ExprList& expression);

// What one element of an element segment refers to: a function, or nothing for null.
Result<std::optional<wabt::Index>> EvaluateFunctionReference(const wabt::ExprList& expression);

}  // namespace dormouse::aot
