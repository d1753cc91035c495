// SPDX-License-Identifier: Apache-2.0
#include "aot/unsupported_features.h"

namespace dormouse::aot {

using wabt::ExprType;

std::string_view FeatureOfInstruction(ExprType type) {
  switch (type) {
    case ExprType::AtomicLoad:
    case ExprType::AtomicRmw:
    case ExprType::AtomicRmwCmpxchg:
    case ExprType::AtomicStore:
    case ExprType::AtomicNotify:
    case ExprType::AtomicFence:
    case ExprType::AtomicWait:
      return "threads";
    case ExprType::SimdLaneOp:
    case ExprType::SimdLoadLane:
    case ExprType::SimdStoreLane:
    case ExprType::SimdShuffleOp:
    case ExprType::LoadSplat:
    case ExprType::LoadZero:
    case ExprType::Ternary:
      return "SIMD";
    case ExprType::ReturnCall:
    case ExprType::ReturnCallIndirect:
      return "tail calls";
    case ExprType::TableCopy:
    case ExprType::TableInit:
    case ExprType::TableGet:
    case ExprType::TableGrow:
    case ExprType::TableSet:
    case ExprType::TableFill:
    case ExprType::TableSize:
    case ExprType::ElemDrop:
      return "changing tables at run time";
    case ExprType::RefIsNull:
    case ExprType::RefFunc:
    case ExprType::RefNull:
    case ExprType::CallRef:
      return "references as values";
    default:
      return "an instruction";
  }
}

std::string_view FeatureOfType(wabt::Type type) {
  if (type == wabt::Type::V128) return "SIMD";
  return "references as values";
}

}  // namespace dormouse::aot
