// SPDX-License-Identifier: Apache-2.0
// How much fuel a stretch of code costs under exact metering.
#pragma once

#include <cstdint>

#include "wabt/ir.h"

namespace dormouse::aot {

// The number of instructions in `list`, with those of nested blocks and of both arms of an if, but
// without the bodies of nested loops, which are paid for at each iteration, and without catches,
// which are paid for when an exception arrives.
std::uint64_t InstructionWeight(const wabt::ExprList& list);

}  // namespace dormouse::aot
