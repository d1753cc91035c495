// SPDX-License-Identifier: Apache-2.0
// Direct and indirect calls.
#include "aot/c_text.h"
#include "aot/function_emitter.h"

namespace dormouse::aot {

std::string FunctionEmitter::PopArguments(std::size_t count) {
  std::string text = "(";
  for (std::size_t i = count; i-- > 0;) {
    Append(text, stack_.FromTop(i).text, i == 0 ? "" : ", ");
  }
  text.push_back(')');
  stack_.Truncate(stack_.size() - count);
  return text;
}

void FunctionEmitter::PushCallResult(const wabt::FuncSignature& signature,
                                     const std::string& call) {
  stack_.MaterialiseReadersOfMemoryAndGlobals();
  const wabt::TypeVector& results = signature.result_types;
  if (results.empty()) {
    Append(out_, call, ";\n");
  } else if (results.size() == 1) {
    stack_.Push(stack_.NewVariable(results[0], call));
  } else {
    const std::string name = Text("c", label_ids_++);
    Append(out_, context_.ResultType(signature), " ", name, " = ", call, ";\n");
    for (std::size_t i = 0; i < results.size(); ++i) {
      Value value;
      value.type = results[i];
      value.text = Text(name, ".v", i);
      value.is_stable = true;
      stack_.Push(std::move(value));
    }
  }
}

void FunctionEmitter::EmitCall(wabt::Index callee) {
  if (context_.IsSetjmp(callee)) return EmitSetjmp();
  const wabt::FuncSignature& signature = context_.module().funcs[callee]->decl.sig;
  callees_.push_back(callee);
  const std::string arguments = PopArguments(signature.param_types.size());
  if (const std::string* constant = context_.ConstantCall(callee, arguments)) {
    Append(out_, "DM_HIDDEN ", context_.ResultType(signature), " ", *constant, "(void);\n");
    adapted_ = true;
    return PushCallResult(signature, *constant + "()");
  }
  PushCallResult(signature, context_.FunctionName(callee) + arguments);
}

void FunctionEmitter::EmitCallIndirect(const wabt::CallIndirectExpr& expr) {
  const wabt::FuncSignature& signature = expr.decl.sig;
  const auto type = context_.TypeId(signature);
  if (!type.ok()) return Unsupported(type.error().message, "call_indirect");
  Value index = stack_.Pop();
  stack_.Materialise(index);
  const std::string table = Text("dormouse_table", expr.table.index());
  Append(out_, "DM_CALL_CHECK(", table, ", ", table, "_size, ", index.text, ", ", *type, "u);\n");
  const std::string arguments = PopArguments(signature.param_types.size());
  PushCallResult(signature, Text("(", context_.PointerCast(signature), table, "[", index.text,
                                 "].function)", arguments));
}

}  // namespace dormouse::aot
