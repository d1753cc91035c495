// SPDX-License-Identifier: Apache-2.0
// Constants, locals, globals, select.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "aot/c_text.h"
#include "aot/function_emitter.h"
#include "aot/literal.h"
#include "aot/unsupported_features.h"

namespace dormouse::aot {

void FunctionEmitter::EmitConst(const wabt::Const& constant) {
  Value value;
  value.type = constant.type();
  value.is_stable = true;
  switch (constant.type()) {
    case wabt::Type::I32:
      value.text = Literal(constant.type(), constant.u32());
      value.largest = constant.u32();
      break;
    case wabt::Type::I64:
      value.text = Literal(constant.type(), constant.u64());
      break;
    case wabt::Type::F32:
      value.text = Literal(constant.type(), constant.f32_bits());
      break;
    case wabt::Type::F64:
      value.text = Literal(constant.type(), constant.f64_bits());
      break;
    default:
      return Unsupported(FeatureOfType(constant.type()), "const");
  }
  stack_.Push(std::move(value));
}

void FunctionEmitter::EmitLocalGet(wabt::Index local) {
  Value value;
  value.type = local_types_[local];
  value.text = Text("l", local);
  value.locals.Add(local);
  if (local_knowledge_[local].stretch == stretch_) value.largest = local_knowledge_[local].largest;
  stack_.Push(std::move(value));
}

void FunctionEmitter::EmitLocalSet(wabt::Index local) {
  const Value value = stack_.Pop();
  stack_.MaterialiseReadersOfLocal(local);
  Append(out_, "l", local, " = ", value.text, ";\n");
  if (!kept_locals_.empty() && kept_locals_[local]) {
    Append(out_, "kept.l", local, " = l", local, ";\n");
  }
  local_knowledge_[local] = {value.largest, stretch_};
}

void FunctionEmitter::EmitLocalTee(wabt::Index local) {
  EmitLocalSet(local);
  EmitLocalGet(local);
}

void FunctionEmitter::EmitGlobalGet(wabt::Index global) {
  Value value;
  value.type = context_.module().globals[global]->type;
  value.text = context_.GlobalText(global);
  const bool is_mutable = context_.module().globals[global]->mutable_;
  value.reads_globals = is_mutable;
  value.is_stable = !is_mutable;
  stack_.Push(std::move(value));
}

void FunctionEmitter::EmitGlobalSet(wabt::Index global) {
  const Value value = stack_.Pop();
  stack_.MaterialiseReadersOfGlobals();
  Append(out_, context_.GlobalText(global), " = ", value.text, ";\n");
}

void FunctionEmitter::EmitSelect() {
  const Value condition = stack_.Pop();
  Value second = stack_.Pop();
  Value first = stack_.Pop();
  if (CTypeName(first.type) == nullptr) return Unsupported(FeatureOfType(first.type), "select");
  // Both sides are computed, as in wasm: a load under "?:" would become a branch.
  if (first.reads_memory) stack_.Materialise(first);
  if (second.reads_memory) stack_.Materialise(second);
  Value value;
  value.type = first.type;
  value.text = Text("(", Condition(condition), " ? ", first.text, " : ", second.text, ")");
  for (const Value* part : std::initializer_list<const Value*>{&condition, &second, &first}) {
    value.locals.Add(part->locals);
    value.reads_memory |= part->reads_memory;
    value.reads_globals |= part->reads_globals;
    value.depth = std::max<std::uint16_t>(value.depth, part->depth + 1);
  }
  stack_.Push(std::move(value));
}

}  // namespace dormouse::aot
