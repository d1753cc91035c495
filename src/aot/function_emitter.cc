// SPDX-License-Identifier: Apache-2.0
#include "aot/function_emitter.h"

#include "aot/adapter.h"
#include "aot/c_text.h"
#include "aot/catch_liveness.h"
#include "aot/unsupported_features.h"
#include "wabt/cast.h"

namespace dormouse::aot {

using wabt::cast;
using wabt::ExprType;

Result<void> FunctionEmitter::Emit(wabt::Index function) {
  const wabt::Func& func = *context_.module().funcs[function];
  stack_.Clear();
  labels_.clear();
  label_ids_ = 0;
  reachable_ = true;
  error_.clear();
  signature_ = &func.decl.sig;
  calls_setjmp_ = CallsSetjmp(func.exprs);
  adapted_ = calls_setjmp_ || context_.IsWrapped(function);
  jump_sites_.clear();
  has_try_ = ContainsTry(func.exprs);
  kept_locals_ = has_try_ ? LocalsLiveAtCatches(func) : std::vector<bool>();
  kept_operands_.clear();
  handler_ = has_try_ ? kCallersHandler : "";
  handlers_ = most_handlers_ = 0;
  if (calls_setjmp_) {
    for (const char* prototype : kAdapterJumps) Append(out_, "DM_HIDDEN ", prototype, ";\n");
  }
  if (context_.IsWrapped(function)) {
    const std::string prototype = context_.OriginalPrototype(function);
    Append(out_, "DM_HIDDEN ", prototype, ";\n", prototype, " {\n");
  } else {
    Append(out_, context_.Prototype(function), " {\n");
  }
  const std::size_t begin = out_.size();
  EmitBody(func);
  if (calls_setjmp_) {
    EmitJumpEpilogue();
    out_.insert(begin, JumpPrologue());
  }
  if (has_try_ && error_.empty()) out_.insert(begin, KeptText(func));
  out_ += "}\n\n";
  if (!error_.empty()) {
    return Error(ErrorCode::kInvalidRequest,
                 Text("function ", function, " (", func.name, "): ", error_));
  }
  return {};
}

void FunctionEmitter::EmitBody(const wabt::Func& func) {
  local_types_ = func.decl.sig.param_types;
  for (const auto& [type, count] : func.local_types.decls()) {
    if (CTypeName(type) == nullptr) return Unsupported(FeatureOfType(type), type.GetName());
    Append(out_, CTypeName(type), " ");
    for (wabt::Index i = 0; i < count; ++i) {
      Append(out_, i == 0 ? "l" : ", l", local_types_.size(), " = 0");
      local_types_.push_back(type);
    }
    out_ += ";\n";
  }
  local_knowledge_.assign(local_types_.size(), {});
  PushLabel(0, func.decl.sig.result_types, "");
  labels_.back().is_function = true;
  EmitTick(func.exprs);
  EmitList(func.exprs);
  if (reachable_) Append(out_, ReturnText(), "\n");
}

void FunctionEmitter::EmitList(const wabt::ExprList& list) {
  for (const wabt::Expr& expr : list) {
    // The rest cannot run; wasm only requires that it is well typed.
    if (!reachable_ || !error_.empty()) return;
    Dispatch(expr);
  }
}

void FunctionEmitter::Dispatch(const wabt::Expr& expr) {
  switch (expr.type()) {
    case ExprType::Block:
      return EmitBlock(cast<wabt::BlockExpr>(&expr)->block);
    case ExprType::Loop:
      return EmitLoop(cast<wabt::LoopExpr>(&expr)->block);
    case ExprType::If:
      return EmitIf(*cast<wabt::IfExpr>(&expr));
    case ExprType::Br:
      return EmitBranch(cast<wabt::BrExpr>(&expr)->var.index());
    case ExprType::BrIf:
      return EmitBranchIf(cast<wabt::BrIfExpr>(&expr)->var.index());
    case ExprType::BrTable:
      return EmitBranchTable(*cast<wabt::BrTableExpr>(&expr));
    case ExprType::Return:
      return EmitReturn();
    case ExprType::Unreachable:
      return EmitUnreachable();
    case ExprType::Nop:
      return;
    case ExprType::Try:
      return EmitTry(*cast<wabt::TryExpr>(&expr));
    case ExprType::Throw:
      return EmitThrow(cast<wabt::ThrowExpr>(&expr)->var.index());
    case ExprType::Rethrow:
      return EmitRethrow(cast<wabt::RethrowExpr>(&expr)->var.index());
    case ExprType::Call:
      return EmitCall(cast<wabt::CallExpr>(&expr)->var.index());
    case ExprType::CallIndirect:
      return EmitCallIndirect(*cast<wabt::CallIndirectExpr>(&expr));
    case ExprType::Load:
      return EmitLoad(*cast<wabt::LoadExpr>(&expr));
    case ExprType::Store:
      return EmitStore(*cast<wabt::StoreExpr>(&expr));
    case ExprType::MemorySize:
      return EmitMemorySize();
    case ExprType::MemoryGrow:
      return EmitMemoryGrow();
    case ExprType::MemoryCopy:
      return EmitMemoryCopy();
    case ExprType::MemoryFill:
      return EmitMemoryFill();
    case ExprType::MemoryInit:
      return EmitMemoryInit(cast<wabt::MemoryInitExpr>(&expr)->var.index());
    case ExprType::DataDrop:
      return EmitDataDrop(cast<wabt::DataDropExpr>(&expr)->var.index());
    case ExprType::Const:
      return EmitConst(cast<wabt::ConstExpr>(&expr)->const_);
    case ExprType::LocalGet:
      return EmitLocalGet(cast<wabt::LocalGetExpr>(&expr)->var.index());
    case ExprType::LocalSet:
      return EmitLocalSet(cast<wabt::LocalSetExpr>(&expr)->var.index());
    case ExprType::LocalTee:
      return EmitLocalTee(cast<wabt::LocalTeeExpr>(&expr)->var.index());
    case ExprType::GlobalGet:
      return EmitGlobalGet(cast<wabt::GlobalGetExpr>(&expr)->var.index());
    case ExprType::GlobalSet:
      return EmitGlobalSet(cast<wabt::GlobalSetExpr>(&expr)->var.index());
    case ExprType::Drop:
      stack_.Pop();
      return;
    case ExprType::Select:
      return EmitSelect();
    case ExprType::Binary:
      return EmitNumeric(cast<wabt::BinaryExpr>(&expr)->opcode);
    case ExprType::Compare:
      return EmitNumeric(cast<wabt::CompareExpr>(&expr)->opcode);
    case ExprType::Convert:
      return EmitNumeric(cast<wabt::ConvertExpr>(&expr)->opcode);
    case ExprType::Unary:
      return EmitNumeric(cast<wabt::UnaryExpr>(&expr)->opcode);
    default:
      return Unsupported(FeatureOfInstruction(expr.type()), wabt::GetExprTypeName(expr));
  }
}

void FunctionEmitter::Unsupported(std::string_view feature, std::string_view instruction) {
  if (error_.empty()) error_ = Text(feature, " (", instruction, ") is not supported");
  reachable_ = false;  // and stays so: nothing that follows is translated
}

std::string FunctionEmitter::Condition(const Value& value) {
  static constexpr std::string_view kCast = "(u32)";
  return value.is_comparison ? value.text.substr(kCast.size()) : Text("(", value.text, ")");
}

}  // namespace dormouse::aot
