// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: translates one wasm function to one C function.
//
// Control flow becomes labels and gotos in one flat scope; values become expressions
// (value_stack.h). The instruction groups live in emit_control.cc, emit_exception.cc, emit_call.cc,
// emit_memory.cc, emit_variable.cc and emit_numeric.cc; a new group of instructions gets a file and
// its cases in Dispatch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aot/module_context.h"
#include "aot/value_stack.h"
#include "common/result.h"
#include "wabt/ir.h"

namespace dormouse::aot {

// The handler that the function's caller has, in functions with a try.
inline constexpr const char* kCallersHandler = "kept.outer";

class FunctionEmitter {
 public:
  // Appends to `out`. Borrows both.
  FunctionEmitter(const ModuleContext& context, std::string& out)
      : context_(context), out_(out), stack_(out) {}

  // Appends the definition of `function`, which is not an import. On an error, which names the
  // function, the text appended is useless.
  Result<void> Emit(wabt::Index function);

  // Whether an adapter has a part in what Emit appended last.
  bool adapted() const { return adapted_; }

  // The functions that the definitions so far call directly, with repetitions.
  const std::vector<wabt::Index>& callees() const { return callees_; }

 private:
  struct Label {
    std::uint32_t id = 0;
    bool is_function = false;  // a branch returns
    bool is_loop = false;
    bool used = false;
    std::size_t height = 0;                   // of the stack below the block's parameters
    const wabt::TypeVector* types = nullptr;  // of the values that a branch carries
    std::string prefix;  // the variables that carry them are prefix0, prefix1, …
    // In functions with a try: the innermost handler outside the block, and inside where no other
    // block is; and for the catches of a try, the exception.
    std::string handler, handler_inside, exception;
  };

  void EmitBody(const wabt::Func& func);
  void EmitList(const wabt::ExprList& list);
  void Dispatch(const wabt::Expr& expr);

  // emit_control.cc
  void EmitBlock(const wabt::Block& block);
  void EmitLoop(const wabt::Block& block);
  void EmitIf(const wabt::IfExpr& expr);
  void EmitBranch(wabt::Index depth);
  void EmitBranchIf(wabt::Index depth);
  void EmitBranchTable(const wabt::BrTableExpr& expr);
  bool IsDispatch(const wabt::BrTableExpr& expr, const Value& index);
  void EmitDispatch(const wabt::BrTableExpr& expr, const Value& index);
  void EmitLabel(std::uint32_t id);
  void EmitReturn();
  void EmitUnreachable();
  void EmitTick(const wabt::ExprList& list);
  Label& LabelAt(wabt::Index depth) { return labels_[labels_.size() - 1 - depth]; }
  void PushLabel(std::size_t height, const wabt::TypeVector& types, const char* prefix);
  void DeclareLabelVariables(const Label& label);
  void AssignLabelVariables(const Label& label, std::string_view indent);
  void PushLabelVariables(const Label& label);
  // The end of a block: joins the fall-through with the branches to its label and pops the label.
  void CloseBlock();
  // "goto L5;" or "return l0;", taking the values from the top of the stack without popping them.
  std::string JumpText(wabt::Index depth);
  std::string ReturnText();
  // Moves loop parameters among the topmost values into variables of their own, since a branch to
  // that loop assigns them.
  void CopyLoopVariables(std::size_t count);

  // emit_call.cc
  void EmitCall(wabt::Index callee);
  void EmitCallIndirect(const wabt::CallIndirectExpr& expr);
  std::string PopArguments(std::size_t count);
  void PushCallResult(const wabt::FuncSignature& signature, const std::string& call);

  // emit_setjmp.cc
  struct JumpSite {
    std::string result;  // the variable that setjmp's value is in
  };
  bool CallsSetjmp(const wabt::ExprList& list) const;
  void EmitSetjmp();
  // What the function begins with, once its calls of setjmp are known; and what it ends with.
  std::string JumpPrologue() const;
  void EmitJumpEpilogue();
  std::string JumpReturnText();

  // emit_exception.cc
  void EmitTry(const wabt::TryExpr& expr);
  void EmitTryWithCatches(const wabt::TryExpr& expr);
  void EmitDelegate(const wabt::TryExpr& expr);
  void EmitCatches(const wabt::TryExpr& expr);
  void EmitThrow(wabt::Index tag);
  void EmitRethrow(wabt::Index depth);
  // Leaves a part of a try for its end, if it gets that far.
  void EndPartOfTry();
  // Makes `handler` the innermost one from here on.
  void SetHandler(const std::string& handler);
  // What must be done on the way out to where `handler` is the innermost one; often nothing.
  std::string HandlerChangeText(const std::string& handler) const;
  // The operands below `height`, into memory and back.
  std::string SaveOperandsText(std::size_t height);
  std::string RestoreOperandsText(std::size_t height);
  // What a function with a try begins with, once it is known what it keeps in memory.
  std::string KeptText(const wabt::Func& func) const;

  // emit_memory.cc
  void EmitLoad(const wabt::LoadExpr& expr);
  void EmitStore(const wabt::StoreExpr& expr);
  void EmitMemorySize();
  void EmitMemoryGrow();
  void EmitMemoryCopy();
  void EmitMemoryFill();
  void EmitMemoryInit(wabt::Index segment);
  void EmitDataDrop(wabt::Index segment);
  bool IsPassive(wabt::Index segment) const;

  // emit_variable.cc
  void EmitConst(const wabt::Const& constant);
  void EmitLocalGet(wabt::Index local);
  void EmitLocalSet(wabt::Index local);
  void EmitLocalTee(wabt::Index local);
  void EmitGlobalGet(wabt::Index global);
  void EmitGlobalSet(wabt::Index global);
  void EmitSelect();

  // emit_numeric.cc
  void EmitNumeric(wabt::Opcode opcode);

  // Remembers the first instruction that cannot be translated; the rest of the function is skipped.
  void Unsupported(std::string_view feature, std::string_view instruction);
  // `value` as the condition of an if.
  static std::string Condition(const Value& value);

  const ModuleContext& context_;
  std::string& out_;
  ValueStack stack_;
  std::vector<Label> labels_;
  std::vector<wabt::Type> local_types_;
  // What is known of a local's value since it was last set, in this stretch without labels.
  struct Knowledge {
    std::uint32_t largest = UINT32_MAX;
    std::uint32_t stretch = 0;
  };
  std::vector<Knowledge> local_knowledge_;
  std::uint32_t stretch_ = 1;  // counts labels
  const wabt::FuncSignature* signature_ = nullptr;
  std::vector<wabt::Index> callees_;
  std::uint32_t label_ids_ = 0;
  bool adapted_ = false;
  bool calls_setjmp_ = false;
  std::vector<JumpSite> jump_sites_;
  // Of functions with a try (emit_exception.cc).
  bool has_try_ = false;
  std::vector<bool> kept_locals_;                     // empty without a try
  std::map<std::string, const char*> kept_operands_;  // name and C type
  std::string handler_;                               // the innermost one here, as C text
  std::size_t handlers_ = 0;  // that enclose this place, or whose catches do
  std::size_t most_handlers_ = 0;
  bool reachable_ = true;
  std::string error_;  // empty: none
};

}  // namespace dormouse::aot
