// SPDX-License-Identifier: Apache-2.0
// The instructions inside an instruction.
#pragma once

#include "wabt/cast.h"
#include "wabt/ir.h"

namespace dormouse::aot {

// Calls `visit` with each list of instructions that `expr` holds itself: a block's, a loop's, the
// arms of an if, the parts of a try.
template <typename F>
void ForEachListIn(const wabt::Expr& expr, F&& visit) {
  if (const auto* block = wabt::dyn_cast<wabt::BlockExpr>(&expr)) {
    visit(block->block.exprs);
  } else if (const auto* loop = wabt::dyn_cast<wabt::LoopExpr>(&expr)) {
    visit(loop->block.exprs);
  } else if (const auto* branch = wabt::dyn_cast<wabt::IfExpr>(&expr)) {
    visit(branch->true_.exprs);
    visit(branch->false_);
  } else if (const auto* attempt = wabt::dyn_cast<wabt::TryExpr>(&expr)) {
    visit(attempt->block.exprs);
    for (const wabt::Catch& handler : attempt->catches) visit(handler.exprs);
  }
}

}  // namespace dormouse::aot
