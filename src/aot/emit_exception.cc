// SPDX-License-Identifier: Apache-2.0
// Exceptions: try with its catches or its delegate, throw, rethrow.
//
// A try is a handler on the C stack that dormouse_try makes the innermost one; it returns once more
// when an exception arrives (exception_runtime.h). C makes no promise about what variables hold
// then, so that whatever a catch or the code behind it may read is in a structure `kept` as well,
// whose address others know: stores to it must have happened before any call, and reads behind
// dormouse_try are not done before. It is written wherever a variable changes and read only where
// an exception arrives; the code of a try works on variables that can be in registers.
//
// In `kept` are: the handlers, one for each level of nesting; the locals that are live at some
// catch; and the operands that lie below a try on the stack, by their position.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "aot/c_text.h"
#include "aot/function_emitter.h"
#include "aot/unsupported_features.h"

namespace dormouse::aot {
namespace {

std::string PayloadText(const wabt::Type type, std::size_t i) {
  const std::string bits = Text("dormouse_thrown.values[", i, "]");
  switch (type) {
    case wabt::Type::I32:
      return Text("(u32)", bits);
    case wabt::Type::F32:
      return Text("dm_float32((u32)", bits, ")");
    case wabt::Type::F64:
      return Text("dm_float64(", bits, ")");
    default:
      return bits;
  }
}

std::string BitsText(const Value& value) {
  if (value.type == wabt::Type::F32) return Text("dm_bits32(", value.text, ")");
  if (value.type == wabt::Type::F64) return Text("dm_bits64(", value.text, ")");
  return value.text;
}

// Materialised values are variables, whose names begin so, or constants.
bool IsVariable(const std::string& text) {
  return text.size() > 1 && std::strchr("tprc", text[0]) != nullptr &&
         std::isdigit(static_cast<unsigned char>(text[1])) != 0;
}

std::string SlotName(std::size_t position, wabt::Type type) {
  return Text("o", position, "_", CTypeName(type));
}

}  // namespace

void FunctionEmitter::EmitTry(const wabt::TryExpr& expr) {
  if (calls_setjmp_) return Unsupported("setjmp in a function with", "try");
  switch (expr.kind) {
    case wabt::TryKind::Plain:
      return EmitBlock(expr.block);
    case wabt::TryKind::Delegate:
      return EmitDelegate(expr);
    case wabt::TryKind::Catch:
      return EmitTryWithCatches(expr);
  }
}

void FunctionEmitter::EmitTryWithCatches(const wabt::TryExpr& expr) {
  stack_.MaterialiseAll();
  const std::size_t height = stack_.size() - expr.block.decl.sig.param_types.size();
  PushLabel(height, expr.block.decl.sig.result_types, "r");
  DeclareLabelVariables(labels_.back());
  const std::string outer = handler_;
  const std::string object = Text("kept.h", handlers_++);
  most_handlers_ = std::max(most_handlers_, handlers_);
  const std::uint32_t arrival = label_ids_++;
  Append(out_, SaveOperandsText(height), "if (DM_UNLIKELY(dormouse_try(&", object, "))) goto L",
         arrival, ";\n");
  handler_ = labels_.back().handler_inside = "&" + object;
  EmitList(expr.block.exprs);
  EndPartOfTry();

  EmitLabel(arrival);
  stack_.Truncate(height);
  for (std::size_t i = 0; i < kept_locals_.size(); ++i) {
    if (kept_locals_[i]) Append(out_, "l", i, " = kept.l", i, ";\n");
  }
  out_ += RestoreOperandsText(height);
  SetHandler(outer);
  labels_.back().handler_inside = outer;
  labels_.back().exception = object + ".exception";
  Append(out_, object, ".exception = dormouse_thrown;\n");
  EmitCatches(expr);
  --handlers_;
  CloseBlock();
}

void FunctionEmitter::EmitCatches(const wabt::TryExpr& expr) {
  const std::size_t height = labels_.back().height;
  for (const wabt::Catch& handler : expr.catches) {
    const std::uint32_t next = label_ids_++;
    if (!handler.IsCatchAll()) {
      const wabt::Index tag = handler.var.index();
      Append(out_, "if (dormouse_thrown.tag != ", tag, "u) goto L", next, ";\n");
      const wabt::TypeVector& types = context_.module().tags[tag]->decl.sig.param_types;
      for (std::size_t i = 0; i < types.size(); ++i) {
        stack_.Push(stack_.NewVariable(types[i], PayloadText(types[i], i)));
      }
    }
    reachable_ = error_.empty();
    EmitTick(handler.exprs);
    EmitList(handler.exprs);
    EndPartOfTry();
    stack_.Truncate(height);
    if (handler.IsCatchAll()) return;
    EmitLabel(next);
  }
  out_ += "dormouse_raise();\n";
}

void FunctionEmitter::EndPartOfTry() {
  Label& label = labels_.back();
  if (reachable_) {
    stack_.MaterialiseTop(label.types->size());
    AssignLabelVariables(label, "");
    Append(out_, HandlerChangeText(label.handler), "goto L", label.id, ";\n");
    label.used = true;
  }
  reachable_ = false;
}

// No handler of its own: while it runs, the one at its target is the innermost one.
void FunctionEmitter::EmitDelegate(const wabt::TryExpr& expr) {
  stack_.MaterialiseAll();
  const std::string outer = handler_;
  SetHandler(LabelAt(expr.delegate_target.index()).handler_inside);
  PushLabel(stack_.size() - expr.block.decl.sig.param_types.size(),
            expr.block.decl.sig.result_types, "r");
  labels_.back().handler = outer;
  DeclareLabelVariables(labels_.back());
  EmitList(expr.block.exprs);
  EndPartOfTry();
  handler_ = outer;
  CloseBlock();
}

void FunctionEmitter::EmitThrow(wabt::Index tag) {
  const std::size_t count = context_.module().tags[tag]->decl.sig.param_types.size();
  Append(out_, "dormouse_thrown.tag = ", tag, "u;\n");
  for (std::size_t i = 0; i < count; ++i) {
    Append(out_, "dormouse_thrown.values[", i, "] = ", BitsText(stack_.FromTop(count - 1 - i)),
           ";\n");
  }
  out_ += "dormouse_raise();\n";
  reachable_ = false;
}

void FunctionEmitter::EmitRethrow(wabt::Index depth) {
  Append(out_, "dormouse_thrown = ", LabelAt(depth).exception, ";\ndormouse_raise();\n");
  reachable_ = false;
}

std::string FunctionEmitter::HandlerChangeText(const std::string& handler) const {
  return handler == handler_ ? "" : Text("dormouse_handler = ", handler, "; ");
}

void FunctionEmitter::SetHandler(const std::string& handler) {
  if (handler != handler_) Append(out_, "dormouse_handler = ", handler, ";\n");
  handler_ = handler;
}

std::string FunctionEmitter::SaveOperandsText(std::size_t height) {
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    const Value& value = stack_.FromTop(stack_.size() - 1 - i);
    if (!IsVariable(value.text)) continue;
    const std::string slot = SlotName(i, value.type);
    kept_operands_.emplace(slot, CTypeName(value.type));
    Append(text, "kept.", slot, " = ", value.text, ";\n");
  }
  return text;
}

std::string FunctionEmitter::RestoreOperandsText(std::size_t height) {
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    const Value& value = stack_.FromTop(stack_.size() - 1 - i);
    if (!IsVariable(value.text)) continue;
    Append(text, value.text, " = kept.", SlotName(i, value.type), ";\n");
  }
  return text;
}

std::string FunctionEmitter::KeptText(const wabt::Func& func) const {
  std::string members = "struct DormouseHandler* outer;\n";
  std::string values = Text(kCallersHandler, " = dormouse_handler;\n");
  for (std::size_t i = 0; i < most_handlers_; ++i) {
    Append(members, "struct DormouseHandler h", i, ";\n");
  }
  for (std::size_t i = 0; i < kept_locals_.size(); ++i) {
    if (!kept_locals_[i]) continue;
    Append(members, CTypeName(local_types_[i]), " l", i, ";\n");
    const bool is_parameter = i < func.GetNumParams();
    Append(values, "kept.l", i, " = ", is_parameter ? Text("l", i) : "0", ";\n");
  }
  for (const auto& [name, type] : kept_operands_) Append(members, type, " ", name, ";\n");
  return Text("struct {\n", members, "} kept;\n", values);
}

}  // namespace dormouse::aot
