// SPDX-License-Identifier: Apache-2.0
// Blocks, branches, returns, and the metering ticks.
#include <algorithm>
#include <utility>

#include "aot/c_text.h"
#include "aot/function_emitter.h"
#include "aot/instruction_weight.h"

namespace dormouse::aot {
namespace {

// From this many targets on, a br_table in a loop is taken for the dispatch of an interpreter.
constexpr std::size_t kDispatchTargets = 64;
constexpr std::uint32_t kDispatchLargest = 1023;

}  // namespace

void FunctionEmitter::EmitLabel(std::uint32_t id) {
  Append(out_, "L", id, ":;\n");
  ++stretch_;
}

void FunctionEmitter::PushLabel(std::size_t height, const wabt::TypeVector& types,
                                const char* prefix) {
  Label label;
  label.id = label_ids_++;
  label.height = height;
  label.types = &types;
  if (!types.empty()) label.prefix = Text(prefix, label.id, "_");
  label.handler = label.handler_inside = handler_;
  labels_.push_back(std::move(label));
}

void FunctionEmitter::DeclareLabelVariables(const Label& label) {
  for (std::size_t i = 0; i < label.types->size(); ++i) {
    Append(out_, CTypeName((*label.types)[i]), " ", label.prefix, i, ";\n");
  }
}

void FunctionEmitter::AssignLabelVariables(const Label& label, std::string_view indent) {
  const std::size_t count = label.types->size();
  for (std::size_t i = 0; i < count; ++i) {
    Append(out_, indent, label.prefix, i, " = ", stack_.FromTop(count - 1 - i).text, ";\n");
  }
}

void FunctionEmitter::PushLabelVariables(const Label& label) {
  for (std::size_t i = 0; i < label.types->size(); ++i) {
    Value value;
    value.type = (*label.types)[i];
    value.text = Text(label.prefix, i);
    value.is_stable = true;
    stack_.Push(std::move(value));
  }
}

void FunctionEmitter::CloseBlock() {
  const Label label = std::move(labels_.back());
  labels_.pop_back();
  if (!label.used) {
    // No branch comes here: the values of the fall-through, if any, are simply the results.
    if (!reachable_) stack_.Truncate(label.height);
    return;
  }
  if (reachable_) {
    stack_.MaterialiseTop(label.types->size());
    AssignLabelVariables(label, "");
  }
  EmitLabel(label.id);
  stack_.Truncate(label.height);
  PushLabelVariables(label);
  reachable_ = error_.empty();
}

void FunctionEmitter::EmitBlock(const wabt::Block& block) {
  stack_.MaterialiseAll();
  PushLabel(stack_.size() - block.decl.sig.param_types.size(), block.decl.sig.result_types, "r");
  DeclareLabelVariables(labels_.back());
  EmitList(block.exprs);
  CloseBlock();
}

void FunctionEmitter::EmitLoop(const wabt::Block& block) {
  stack_.MaterialiseAll();
  const wabt::TypeVector& parameters = block.decl.sig.param_types;
  const std::size_t height = stack_.size() - parameters.size();
  PushLabel(height, parameters, "p");
  DeclareLabelVariables(labels_.back());
  AssignLabelVariables(labels_.back(), "");
  stack_.Truncate(height);
  PushLabelVariables(labels_.back());
  labels_.back().is_loop = true;
  EmitLabel(labels_.back().id);
  EmitTick(block.exprs);
  EmitList(block.exprs);
  // Branches go to the head, so the end is reached by falling through only.
  labels_.pop_back();
  if (!reachable_) stack_.Truncate(height);
}

void FunctionEmitter::EmitIf(const wabt::IfExpr& expr) {
  const Value condition = stack_.Pop();
  stack_.MaterialiseAll();
  const wabt::FuncSignature& signature = expr.true_.decl.sig;
  const std::size_t height = stack_.size() - signature.param_types.size();
  PushLabel(height, signature.result_types, "r");
  DeclareLabelVariables(labels_.back());
  const std::uint32_t else_id = label_ids_++;
  Append(out_, "if (!", Condition(condition), ") goto L", else_id, ";\n");
  // Both arms start from the same parameters, which are stable.
  std::vector<Value> parameters;
  for (std::size_t i = signature.param_types.size(); i-- > 0;) {
    parameters.push_back(stack_.FromTop(i));
  }
  EmitList(expr.true_.exprs);
  if (reachable_) {
    stack_.MaterialiseTop(signature.result_types.size());
    AssignLabelVariables(labels_.back(), "");
    Append(out_, "goto L", labels_.back().id, ";\n");
    labels_.back().used = true;
  }
  EmitLabel(else_id);
  reachable_ = error_.empty();
  stack_.Truncate(height);
  for (Value& value : parameters) stack_.Push(std::move(value));
  EmitList(expr.false_);
  CloseBlock();
}

std::string FunctionEmitter::ReturnText() {
  const wabt::TypeVector& types = signature_->result_types;
  if (calls_setjmp_) return JumpReturnText();
  std::string text = has_try_ ? HandlerChangeText(kCallersHandler) : "";
  if (types.empty()) return text + "return;";
  if (types.size() == 1) return Text(text, "return ", stack_.FromTop(0).text, ";");
  Append(text, "return (", context_.ResultType(*signature_), "){");
  for (std::size_t i = types.size(); i-- > 0;) {
    Append(text, stack_.FromTop(i).text, i == 0 ? "};" : ", ");
  }
  return text;
}

std::string FunctionEmitter::JumpText(wabt::Index depth) {
  Label& label = LabelAt(depth);
  if (label.is_function) return ReturnText();
  label.used = true;
  std::string text = HandlerChangeText(label.handler);
  const std::size_t count = label.types->size();
  for (std::size_t i = 0; i < count; ++i) {
    Append(text, label.prefix, i, " = ", stack_.FromTop(count - 1 - i).text, "; ");
  }
  Append(text, "goto L", label.id, ";");
  return text;
}

void FunctionEmitter::EmitBranch(wabt::Index depth) {
  // The assignments happen one after another: none may read what an earlier one wrote.
  const Label& label = LabelAt(depth);
  if (!label.is_function) stack_.MaterialiseTop(label.types->size());
  if (label.types->size() > 1) CopyLoopVariables(label.types->size());
  Append(out_, JumpText(depth), "\n");
  reachable_ = false;
}

void FunctionEmitter::EmitBranchIf(wabt::Index depth) {
  const Value condition = stack_.Pop();
  const std::size_t count = LabelAt(depth).types->size();
  // The values are used twice: by the branch, and by what follows if it is not taken.
  stack_.MaterialiseTop(count);
  if (count > 1) CopyLoopVariables(count);
  const std::string jump = JumpText(depth);
  Append(out_, "if ", Condition(condition), " { ", jump, " }\n");
}

void FunctionEmitter::EmitBranchTable(const wabt::BrTableExpr& expr) {
  const Value index = stack_.Pop();
  if (IsDispatch(expr, index)) return EmitDispatch(expr, index);
  const std::size_t count = LabelAt(expr.default_target.index()).types->size();
  stack_.MaterialiseTop(count);
  if (count > 1) CopyLoopVariables(count);
  Append(out_, "switch (", index.text, ") {\n");
  for (std::size_t i = 0; i < expr.targets.size();) {
    const wabt::Index target = expr.targets[i].index();
    std::size_t last = i;
    while (last + 1 < expr.targets.size() && expr.targets[last + 1].index() == target) ++last;
    if (target != expr.default_target.index()) {
      Append(out_, "case ", i);
      if (last != i) Append(out_, " ... ", last);
      Append(out_, ": ", JumpText(target), "\n");
    }
    i = last + 1;
  }
  Append(out_, "default: ", JumpText(expr.default_target.index()), "\n}\n");
  reachable_ = false;
}

bool FunctionEmitter::IsDispatch(const wabt::BrTableExpr& expr, const Value& index) {
  if (expr.targets.size() < kDispatchTargets || index.largest > kDispatchLargest) return false;
  const auto is_plain = [&](const wabt::Var& target) {
    const Label& label = LabelAt(target.index());
    return !label.is_function && label.types->empty() && label.handler == handler_;
  };
  return std::any_of(labels_.begin(), labels_.end(), [](const Label& l) { return l.is_loop; }) &&
         is_plain(expr.default_target) &&
         std::all_of(expr.targets.begin(), expr.targets.end(), is_plain);
}

// A computed goto, which clang copies to the end of each target: every guest instruction then jumps
// to the next one by a jump of its own, which the CPU predicts far better than one jump for all. No
// bounds check may stand before it (that would be one place again), hence the known range of the
// index.
void FunctionEmitter::EmitDispatch(const wabt::BrTableExpr& expr, const Value& index) {
  const std::string name = Text("d", label_ids_++);
  Append(out_, "static const void* const ", name, "[] = {\n");
  for (std::uint32_t i = 0; i <= index.largest; ++i) {
    const wabt::Var& target = i < expr.targets.size() ? expr.targets[i] : expr.default_target;
    Label& label = LabelAt(target.index());
    label.used = true;
    Append(out_, "&&L", label.id, i % 16 == 15 ? ",\n" : ",");
  }
  Append(out_, "};\ngoto *", name, "[", index.text, "];\n");
  reachable_ = false;
}

void FunctionEmitter::CopyLoopVariables(std::size_t count) {
  for (std::size_t i = count; i-- > 0;) {
    Value& value = stack_.FromTop(i);
    if (value.text[0] == 'p') value = stack_.NewVariable(value.type, value.text);
  }
}

void FunctionEmitter::EmitReturn() {
  Append(out_, ReturnText(), "\n");
  reachable_ = false;
}

void FunctionEmitter::EmitUnreachable() {
  out_ += "__builtin_trap();\n";
  reachable_ = false;
}

void FunctionEmitter::EmitTick(const wabt::ExprList& list) {
  if (context_.options().metering != Metering::kExact) return;
  Append(out_, "DM_TICK(", std::max<std::uint64_t>(1, InstructionWeight(list)), ");\n");
}

}  // namespace dormouse::aot
