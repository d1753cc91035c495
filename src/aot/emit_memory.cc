// SPDX-License-Identifier: Apache-2.0
// Loads, stores, and instructions on the memory as a whole.
#include <algorithm>

#include "aot/c_text.h"
#include "aot/function_emitter.h"

namespace dormouse::aot {
namespace {

using wabt::Opcode;

struct Access {
  Opcode::Enum opcode;
  const char* type;  // of the bytes in memory
  const char* cast;  // from there to the value's type (loads), from the value to there (stores)
};

constexpr Access kAccesses[] = {
    {Opcode::I32Load, "u32", ""},
    {Opcode::I64Load, "u64", ""},
    {Opcode::F32Load, "f32", ""},
    {Opcode::F64Load, "f64", ""},
    {Opcode::I32Load8S, "s8", "(u32)(s32)"},
    {Opcode::I32Load8U, "u8", "(u32)"},
    {Opcode::I32Load16S, "s16", "(u32)(s32)"},
    {Opcode::I32Load16U, "u16", "(u32)"},
    {Opcode::I64Load8S, "s8", "(u64)(s64)"},
    {Opcode::I64Load8U, "u8", "(u64)"},
    {Opcode::I64Load16S, "s16", "(u64)(s64)"},
    {Opcode::I64Load16U, "u16", "(u64)"},
    {Opcode::I64Load32S, "s32", "(u64)(s64)"},
    {Opcode::I64Load32U, "u32", "(u64)"},
    {Opcode::I32Store, "u32", ""},
    {Opcode::I64Store, "u64", ""},
    {Opcode::F32Store, "f32", ""},
    {Opcode::F64Store, "f64", ""},
    {Opcode::I32Store8, "u8", "(u8)"},
    {Opcode::I32Store16, "u16", "(u16)"},
    {Opcode::I64Store8, "u8", "(u8)"},
    {Opcode::I64Store16, "u16", "(u16)"},
    {Opcode::I64Store32, "u32", "(u32)"},
};

const Access* FindAccess(Opcode opcode) {
  const auto found = std::find_if(std::begin(kAccesses), std::end(kAccesses),
                                  [&](const Access& row) { return row.opcode == opcode; });
  return found == std::end(kAccesses) ? nullptr : found;
}

}  // namespace

void FunctionEmitter::EmitLoad(const wabt::LoadExpr& expr) {
  const Access* const access = FindAccess(expr.opcode);
  if (access == nullptr) return Unsupported("SIMD", expr.opcode.GetName());
  const Value index = stack_.Pop();
  Value value;
  value.type = expr.opcode.GetResultType();
  value.text = *access->cast == '\0'
                   ? Text("DM_AT(", access->type, ", ", index.text, ", ", expr.offset, "u)")
                   : Text("(", access->cast, "DM_AT(", access->type, ", ", index.text, ", ",
                          expr.offset, "u))");
  value.locals = index.locals;
  value.reads_globals = index.reads_globals;
  value.reads_memory = true;
  value.depth = index.depth + 1;
  if (expr.opcode == Opcode::I32Load8U) value.largest = UINT8_MAX;
  if (expr.opcode == Opcode::I32Load16U) value.largest = UINT16_MAX;
  stack_.Push(std::move(value));
}

void FunctionEmitter::EmitStore(const wabt::StoreExpr& expr) {
  const Access* const access = FindAccess(expr.opcode);
  if (access == nullptr) return Unsupported("SIMD", expr.opcode.GetName());
  const Value value = stack_.Pop();
  const Value index = stack_.Pop();
  stack_.MaterialiseReadersOfMemory();
  Append(out_, "DM_AT(", access->type, ", ", index.text, ", ", expr.offset, "u) = ", access->cast,
         value.text, ";\n");
}

void FunctionEmitter::EmitMemorySize() {
  Value value;
  value.text = "dormouse_pages";
  value.reads_memory = true;
  stack_.Push(std::move(value));
}

void FunctionEmitter::EmitMemoryGrow() {
  const Value delta = stack_.Pop();
  stack_.MaterialiseReadersOfMemoryAndGlobals();
  stack_.Push(stack_.NewVariable(wabt::Type::I32, Text("dormouse_memory_grow(", delta.text, ")")));
}

void FunctionEmitter::EmitMemoryCopy() {
  const std::string arguments = PopArguments(3);
  stack_.MaterialiseReadersOfMemory();
  Append(out_, "dormouse_memory_copy", arguments, ";\n");
}

void FunctionEmitter::EmitMemoryFill() {
  const std::string arguments = PopArguments(3);
  stack_.MaterialiseReadersOfMemory();
  Append(out_, "dormouse_memory_fill", arguments, ";\n");
}

void FunctionEmitter::EmitMemoryInit(wabt::Index segment) {
  const std::string arguments = PopArguments(3);
  stack_.MaterialiseReadersOfMemory();
  if (IsPassive(segment)) {
    Append(out_, "dormouse_memory_init", segment, arguments, ";\n");
  } else {
    Append(out_, "dormouse_memory_init_dropped", arguments, ";\n");
  }
}

void FunctionEmitter::EmitDataDrop(wabt::Index segment) {
  if (IsPassive(segment)) Append(out_, "dormouse_segment_size", segment, " = 0;\n");
}

bool FunctionEmitter::IsPassive(wabt::Index segment) const {
  // An active segment counts as dropped once the memory is there.
  return context_.module().data_segments[segment]->kind == wabt::SegmentKind::Passive;
}

}  // namespace dormouse::aot
