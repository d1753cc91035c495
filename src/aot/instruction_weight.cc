// SPDX-License-Identifier: Apache-2.0
#include "aot/instruction_weight.h"

#include "wabt/cast.h"

namespace dormouse::aot {

std::uint64_t InstructionWeight(const wabt::ExprList& list) {
  std::uint64_t weight = 0;
  for (const wabt::Expr& expr : list) {
    if (const auto* block = wabt::dyn_cast<wabt::BlockExpr>(&expr)) {
      weight += InstructionWeight(block->block.exprs);
    } else if (const auto* attempt = wabt::dyn_cast<wabt::TryExpr>(&expr)) {
      weight += InstructionWeight(attempt->block.exprs);
    } else if (const auto* if_expr = wabt::dyn_cast<wabt::IfExpr>(&expr)) {
      weight += 1 + InstructionWeight(if_expr->true_.exprs) + InstructionWeight(if_expr->false_);
    } else {
      weight += 1;
    }
  }
  return weight;
}

}  // namespace dormouse::aot
