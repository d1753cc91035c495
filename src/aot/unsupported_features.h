// SPDX-License-Identifier: Apache-2.0
// Names the wasm feature to which something untranslatable belongs, for messages.
#pragma once

#include <string_view>

#include "wabt/ir.h"

namespace dormouse::aot {

std::string_view FeatureOfInstruction(wabt::ExprType type);
std::string_view FeatureOfType(wabt::Type type);

}  // namespace dormouse::aot
