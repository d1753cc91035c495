// SPDX-License-Identifier: Apache-2.0
#include "aot/constant_expression.h"

#include <string>
#include <vector>

#include "wabt/cast.h"

namespace dormouse::aot {
namespace {

Error Unsupported(const std::string& what) {
  return Error(ErrorCode::kInvalidRequest, "constant expression: " + what + " is not supported");
}

Result<ConstantValue> ValueOf(const wabt::Const& constant) {
  switch (constant.type()) {
    case wabt::Type::I32:
      return ConstantValue{wabt::Type::I32, constant.u32()};
    case wabt::Type::I64:
      return ConstantValue{wabt::Type::I64, constant.u64()};
    case wabt::Type::F32:
      return ConstantValue{wabt::Type::F32, constant.f32_bits()};
    case wabt::Type::F64:
      return ConstantValue{wabt::Type::F64, constant.f64_bits()};
    default:
      return Unsupported(constant.type().GetName());
  }
}

// Depth bounds a chain of globals that refer to each other (validation only allows earlier ones).
Result<ConstantValue> Evaluate(const wabt::Module& module, const wabt::ExprList& expression,
                               int depth);

Result<ConstantValue> ValueOfGlobal(const wabt::Module& module, wabt::Index index, int depth) {
  if (index < module.num_global_imports) return Unsupported("an imported global");
  if (depth > 100) return Unsupported("a chain of more than 100 globals");
  return Evaluate(module, module.globals[index]->init_expr, depth + 1);
}

Result<ConstantValue> Combine(wabt::Opcode opcode, const ConstantValue& a, const ConstantValue& b) {
  switch (opcode) {
    case wabt::Opcode::I32Add:
      return ConstantValue{a.type, static_cast<std::uint32_t>(a.bits + b.bits)};
    case wabt::Opcode::I32Sub:
      return ConstantValue{a.type, static_cast<std::uint32_t>(a.bits - b.bits)};
    case wabt::Opcode::I32Mul:
      return ConstantValue{a.type, static_cast<std::uint32_t>(a.bits * b.bits)};
    case wabt::Opcode::I64Add:
      return ConstantValue{a.type, a.bits + b.bits};
    case wabt::Opcode::I64Sub:
      return ConstantValue{a.type, a.bits - b.bits};
    case wabt::Opcode::I64Mul:
      return ConstantValue{a.type, a.bits * b.bits};
    default:
      return Unsupported(opcode.GetName());
  }
}

Result<ConstantValue> Evaluate(const wabt::Module& module, const wabt::ExprList& expression,
                               int depth) {
  std::vector<ConstantValue> stack;
  for (const wabt::Expr& expr : expression) {
    if (const auto* constant = wabt::dyn_cast<wabt::ConstExpr>(&expr)) {
      DORMOUSE_ASSIGN(ConstantValue value, ValueOf(constant->const_));
      stack.push_back(value);
    } else if (const auto* get = wabt::dyn_cast<wabt::GlobalGetExpr>(&expr)) {
      DORMOUSE_ASSIGN(ConstantValue value, ValueOfGlobal(module, get->var.index(), depth));
      stack.push_back(value);
    } else if (const auto* binary = wabt::dyn_cast<wabt::BinaryExpr>(&expr);
               binary != nullptr && stack.size() >= 2) {
      const ConstantValue b = stack.back();
      stack.pop_back();
      DORMOUSE_ASSIGN(stack.back(), Combine(binary->opcode, stack.back(), b));
    } else {
      return Unsupported(wabt::GetExprTypeName(expr));
    }
  }
  if (stack.size() != 1) return Unsupported("an expression without a value");
  return stack.back();
}

}  // namespace

Result<ConstantValue> EvaluateConstant(const wabt::Module& module,
                                       const wabt::ExprList& expression) {
  return Evaluate(module, expression, 0);
}

Result<std::optional<wabt::Index>> EvaluateFunctionReference(const wabt::ExprList& expression) {
  if (expression.size() == 1) {
    const wabt::Expr& expr = expression.front();
    if (const auto* reference = wabt::dyn_cast<wabt::RefFuncExpr>(&expr)) {
      return std::optional<wabt::Index>(reference->var.index());
    }
    if (wabt::isa<wabt::RefNullExpr>(&expr)) return std::optional<wabt::Index>();
  }
  return Error(ErrorCode::kInvalidRequest, "an element of a table is neither a function nor null");
}

}  // namespace dormouse::aot
