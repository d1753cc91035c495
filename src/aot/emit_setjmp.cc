// SPDX-License-Identifier: Apache-2.0
// Functions that call a setjmp made with asyncify.
//
// There, setjmp unwinds the whole stack into a buffer and rewinds it, so that longjmp can rewind it
// once more. Here the function only copies its variables. A longjmp unwinds as before, but ends
// where it returns to the function that called setjmp: that puts the copies back and goes on behind
// the call. So setjmp costs next to nothing, longjmp the frames that it leaves, and neither depends
// on the depth of the stack.
//
// The copies are variables of the function too: when the stack is unwound for another reason (a
// fiber is left, say) they go into asyncify's buffer above the function's own, and come back before
// those when it is rewound.
//
// Asyncify keeps nothing on the operand stack across a call that may unwind, so that locals are all
// there is to copy.
#include "aot/adapter.h"
#include "aot/c_text.h"
#include "aot/function_emitter.h"
#include "aot/nested_lists.h"
#include "wabt/cast.h"

namespace dormouse::aot {
namespace {

// A variable that is copied: its C type and the names of variable and copy.
struct Kept {
  const char* type;
  std::string variable;
  std::string copy;
};

// What site number `site` keeps; buffer and what dormouse_jump_begin returned come first.
std::vector<Kept> KeptBy(std::size_t site, const std::vector<wabt::Type>& locals) {
  std::vector<Kept> kept = {{"u32", "", Text("j", site, "_buffer")},
                            {"u32", "", Text("j", site, "_kept")}};
  for (std::size_t i = 0; i < locals.size(); ++i) {
    kept.push_back({CTypeName(locals[i]), Text("l", i), Text("j", site, "_l", i)});
  }
  return kept;
}

std::uint32_t SizeOf(const char* type) { return type[1] == '6' ? 8 : 4; }

}  // namespace

bool FunctionEmitter::CallsSetjmp(const wabt::ExprList& list) const {
  if (!context_.adapter_names().setjmp) return false;
  for (const wabt::Expr& expr : list) {
    const auto* call = wabt::dyn_cast<wabt::CallExpr>(&expr);
    if (call != nullptr && context_.IsSetjmp(call->var.index())) return true;
    bool inside = false;
    ForEachListIn(expr, [&](const wabt::ExprList& nested) { inside |= CallsSetjmp(nested); });
    if (inside) return true;
  }
  return false;
}

void FunctionEmitter::EmitSetjmp() {
  const Value buffer = stack_.Pop();
  if (stack_.size() != 0) return Unsupported("setjmp with operands on the stack", "call");
  if (signature_->result_types.size() > 1)
    return Unsupported("setjmp in a function of several results", "call");
  const std::size_t site = jump_sites_.size();
  const std::vector<Kept> kept = KeptBy(site, local_types_);
  Append(out_, kept[0].copy, " = ", buffer.text, ";\n");
  // The same buffer at another call: that one is over.
  for (std::size_t i = 0; i < site; ++i) {
    Append(out_, "if (j", i, "_buffer == ", kept[0].copy, ") j", i, "_buffer = 0;\n");
  }
  Append(out_, kept[1].copy, " = dormouse_jump_begin(", kept[0].copy, ");\n");
  for (std::size_t i = 2; i < kept.size(); ++i)
    Append(out_, kept[i].copy, " = ", kept[i].variable, ";\n");
  Value result = stack_.NewVariable(wabt::Type::I32, "0u");
  Append(out_, "J", site, ":;\n");
  ++stretch_;
  // Not stable: it is assigned once more when a jump arrives.
  jump_sites_.push_back({result.text});
  stack_.Push(std::move(result));
}

std::string FunctionEmitter::JumpReturnText() {
  if (signature_->result_types.empty()) return "goto leave;";
  return Text("{ j_result = ", stack_.FromTop(0).text, "; goto leave; }");
}

std::string FunctionEmitter::JumpPrologue() const {
  std::string out, loads;
  std::uint32_t size = 0;
  for (std::size_t site = 0; site < jump_sites_.size(); ++site) {
    for (const Kept& kept : KeptBy(site, local_types_)) {
      Append(out, kept.type, " ", kept.copy, " = 0;\n");
      Append(loads, kept.copy, " = DM_AT(", kept.type, ", j_at, ", size, "u);\n");
      size += SizeOf(kept.type);
    }
  }
  if (!signature_->result_types.empty())
    Append(out, CTypeName(signature_->result_types[0]), " j_result = 0;\n");
  Append(out, "u32 j_at = dormouse_jump_enter(", size, "u);\nif (j_at != 0) {\n", loads, "}\n");
  return out;
}

void FunctionEmitter::EmitJumpEpilogue() {
  std::string jumps, stores;
  std::uint32_t size = 0;
  for (std::size_t site = 0; site < jump_sites_.size(); ++site) {
    const std::vector<Kept> all = KeptBy(site, local_types_);
    Append(jumps, "if (j_target == ", all[0].copy, ") {\n", jump_sites_[site].result,
           " = dormouse_jump_arrive(", all[0].copy, ", ", all[1].copy, ");\n");
    for (const Kept& kept : all) {
      if (!kept.variable.empty()) Append(jumps, kept.variable, " = ", kept.copy, ";\n");
      Append(stores, "DM_AT(", kept.type, ", j_at, ", size, "u) = ", kept.copy, ";\n");
      size += SizeOf(kept.type);
    }
    Append(jumps, "goto J", site, ";\n}\n");
  }
  Append(out_,
         "leave:;\nif (DM_UNLIKELY(dormouse_jump_unwinding())) {\nconst u32 j_target = "
         "dormouse_jump_target();\n",
         jumps, "if (j_target == 0) {\nj_at = dormouse_jump_leave(", size, "u);\n", stores,
         "}\n}\n", signature_->result_types.empty() ? "return;\n" : "return j_result;\n");
}

}  // namespace dormouse::aot
