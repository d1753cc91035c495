// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, conversions: one row of C text for each instruction.
#include <algorithm>
#include <array>

#include "aot/c_text.h"
#include "aot/function_emitter.h"

namespace dormouse::aot {
namespace {

using wabt::Opcode;

enum Kind : std::uint8_t {
  kPlain,
  kCompare,  // text begins with "(u32)(", as Value::is_comparison says
  kTraps,    // must run exactly where it stands
};

struct Operation {
  Opcode::Enum opcode;
  std::uint8_t operands;
  const char* text;  // $0 and $1 are the operands; has exactly the type of the result
  Kind kind;
};

// clang-format off
constexpr Operation kOperations[] = {
    {Opcode::I32Eqz, 1, "(u32)(!$0)", kCompare},
    {Opcode::I32Eq, 2, "(u32)($0 == $1)", kCompare},
    {Opcode::I32Ne, 2, "(u32)($0 != $1)", kCompare},
    {Opcode::I32LtS, 2, "(u32)((s32)$0 < (s32)$1)", kCompare},
    {Opcode::I32LtU, 2, "(u32)($0 < $1)", kCompare},
    {Opcode::I32GtS, 2, "(u32)((s32)$0 > (s32)$1)", kCompare},
    {Opcode::I32GtU, 2, "(u32)($0 > $1)", kCompare},
    {Opcode::I32LeS, 2, "(u32)((s32)$0 <= (s32)$1)", kCompare},
    {Opcode::I32LeU, 2, "(u32)($0 <= $1)", kCompare},
    {Opcode::I32GeS, 2, "(u32)((s32)$0 >= (s32)$1)", kCompare},
    {Opcode::I32GeU, 2, "(u32)($0 >= $1)", kCompare},
    {Opcode::I32Clz, 1, "dm_clz32($0)", kPlain},
    {Opcode::I32Ctz, 1, "dm_ctz32($0)", kPlain},
    {Opcode::I32Popcnt, 1, "(u32)__builtin_popcount($0)", kPlain},
    {Opcode::I32Add, 2, "($0 + $1)", kPlain},
    {Opcode::I32Sub, 2, "($0 - $1)", kPlain},
    {Opcode::I32Mul, 2, "($0 * $1)", kPlain},
    {Opcode::I32And, 2, "($0 & $1)", kPlain},
    {Opcode::I32Or, 2, "($0 | $1)", kPlain},
    {Opcode::I32Xor, 2, "($0 ^ $1)", kPlain},
    {Opcode::I32DivS, 2, "dm_div_s32($0, $1)", kTraps},
    {Opcode::I32DivU, 2, "dm_div_u32($0, $1)", kTraps},
    {Opcode::I32RemS, 2, "dm_rem_s32($0, $1)", kTraps},
    {Opcode::I32RemU, 2, "dm_rem_u32($0, $1)", kTraps},
    {Opcode::I32Shl, 2, "($0 << ($1 & 31))", kPlain},
    {Opcode::I32ShrS, 2, "((u32)((s32)$0 >> ($1 & 31)))", kPlain},
    {Opcode::I32ShrU, 2, "($0 >> ($1 & 31))", kPlain},
    {Opcode::I32Rotl, 2, "__builtin_rotateleft32($0, $1)", kPlain},
    {Opcode::I32Rotr, 2, "__builtin_rotateright32($0, $1)", kPlain},
    {Opcode::I64Eqz, 1, "(u32)(!$0)", kCompare},
    {Opcode::I64Eq, 2, "(u32)($0 == $1)", kCompare},
    {Opcode::I64Ne, 2, "(u32)($0 != $1)", kCompare},
    {Opcode::I64LtS, 2, "(u32)((s64)$0 < (s64)$1)", kCompare},
    {Opcode::I64LtU, 2, "(u32)($0 < $1)", kCompare},
    {Opcode::I64GtS, 2, "(u32)((s64)$0 > (s64)$1)", kCompare},
    {Opcode::I64GtU, 2, "(u32)($0 > $1)", kCompare},
    {Opcode::I64LeS, 2, "(u32)((s64)$0 <= (s64)$1)", kCompare},
    {Opcode::I64LeU, 2, "(u32)($0 <= $1)", kCompare},
    {Opcode::I64GeS, 2, "(u32)((s64)$0 >= (s64)$1)", kCompare},
    {Opcode::I64GeU, 2, "(u32)($0 >= $1)", kCompare},
    {Opcode::I64Clz, 1, "dm_clz64($0)", kPlain},
    {Opcode::I64Ctz, 1, "dm_ctz64($0)", kPlain},
    {Opcode::I64Popcnt, 1, "(u64)__builtin_popcountll($0)", kPlain},
    {Opcode::I64Add, 2, "($0 + $1)", kPlain},
    {Opcode::I64Sub, 2, "($0 - $1)", kPlain},
    {Opcode::I64Mul, 2, "($0 * $1)", kPlain},
    {Opcode::I64And, 2, "($0 & $1)", kPlain},
    {Opcode::I64Or, 2, "($0 | $1)", kPlain},
    {Opcode::I64Xor, 2, "($0 ^ $1)", kPlain},
    {Opcode::I64DivS, 2, "dm_div_s64($0, $1)", kTraps},
    {Opcode::I64DivU, 2, "dm_div_u64($0, $1)", kTraps},
    {Opcode::I64RemS, 2, "dm_rem_s64($0, $1)", kTraps},
    {Opcode::I64RemU, 2, "dm_rem_u64($0, $1)", kTraps},
    {Opcode::I64Shl, 2, "($0 << ($1 & 63))", kPlain},
    {Opcode::I64ShrS, 2, "((u64)((s64)$0 >> ($1 & 63)))", kPlain},
    {Opcode::I64ShrU, 2, "($0 >> ($1 & 63))", kPlain},
    {Opcode::I64Rotl, 2, "__builtin_rotateleft64($0, $1)", kPlain},
    {Opcode::I64Rotr, 2, "__builtin_rotateright64($0, $1)", kPlain},
    {Opcode::I32Extend8S, 1, "((u32)(s32)(s8)$0)", kPlain},
    {Opcode::I32Extend16S, 1, "((u32)(s32)(s16)$0)", kPlain},
    {Opcode::I64Extend8S, 1, "((u64)(s64)(s8)$0)", kPlain},
    {Opcode::I64Extend16S, 1, "((u64)(s64)(s16)$0)", kPlain},
    {Opcode::I64Extend32S, 1, "((u64)(s64)(s32)$0)", kPlain},
    {Opcode::F32Eq, 2, "(u32)($0 == $1)", kCompare},
    {Opcode::F32Ne, 2, "(u32)($0 != $1)", kCompare},
    {Opcode::F32Lt, 2, "(u32)($0 < $1)", kCompare},
    {Opcode::F32Gt, 2, "(u32)($0 > $1)", kCompare},
    {Opcode::F32Le, 2, "(u32)($0 <= $1)", kCompare},
    {Opcode::F32Ge, 2, "(u32)($0 >= $1)", kCompare},
    {Opcode::F32Abs, 1, "__builtin_fabsf($0)", kPlain},
    {Opcode::F32Ceil, 1, "__builtin_ceilf($0)", kPlain},
    {Opcode::F32Floor, 1, "__builtin_floorf($0)", kPlain},
    {Opcode::F32Trunc, 1, "__builtin_truncf($0)", kPlain},
    {Opcode::F32Nearest, 1, "__builtin_nearbyintf($0)", kPlain},
    {Opcode::F32Sqrt, 1, "__builtin_sqrtf($0)", kPlain},
    {Opcode::F32Neg, 1, "(-$0)", kPlain},
    {Opcode::F32Add, 2, "($0 + $1)", kPlain},
    {Opcode::F32Sub, 2, "($0 - $1)", kPlain},
    {Opcode::F32Mul, 2, "($0 * $1)", kPlain},
    {Opcode::F32Div, 2, "($0 / $1)", kPlain},
    {Opcode::F32Min, 2, "dm_min_f32($0, $1)", kPlain},
    {Opcode::F32Max, 2, "dm_max_f32($0, $1)", kPlain},
    {Opcode::F32Copysign, 2, "__builtin_copysignf($0, $1)", kPlain},
    {Opcode::F64Eq, 2, "(u32)($0 == $1)", kCompare},
    {Opcode::F64Ne, 2, "(u32)($0 != $1)", kCompare},
    {Opcode::F64Lt, 2, "(u32)($0 < $1)", kCompare},
    {Opcode::F64Gt, 2, "(u32)($0 > $1)", kCompare},
    {Opcode::F64Le, 2, "(u32)($0 <= $1)", kCompare},
    {Opcode::F64Ge, 2, "(u32)($0 >= $1)", kCompare},
    {Opcode::F64Abs, 1, "__builtin_fabs($0)", kPlain},
    {Opcode::F64Ceil, 1, "__builtin_ceil($0)", kPlain},
    {Opcode::F64Floor, 1, "__builtin_floor($0)", kPlain},
    {Opcode::F64Trunc, 1, "__builtin_trunc($0)", kPlain},
    {Opcode::F64Nearest, 1, "__builtin_nearbyint($0)", kPlain},
    {Opcode::F64Sqrt, 1, "__builtin_sqrt($0)", kPlain},
    {Opcode::F64Neg, 1, "(-$0)", kPlain},
    {Opcode::F64Add, 2, "($0 + $1)", kPlain},
    {Opcode::F64Sub, 2, "($0 - $1)", kPlain},
    {Opcode::F64Mul, 2, "($0 * $1)", kPlain},
    {Opcode::F64Div, 2, "($0 / $1)", kPlain},
    {Opcode::F64Min, 2, "dm_min_f64($0, $1)", kPlain},
    {Opcode::F64Max, 2, "dm_max_f64($0, $1)", kPlain},
    {Opcode::F64Copysign, 2, "__builtin_copysign($0, $1)", kPlain},
    {Opcode::I32WrapI64, 1, "((u32)$0)", kPlain},
    {Opcode::I64ExtendI32S, 1, "((u64)(s64)(s32)$0)", kPlain},
    {Opcode::I64ExtendI32U, 1, "((u64)$0)", kPlain},
    {Opcode::I32TruncF32S, 1, "dm_trunc_s32_f32($0)", kTraps},
    {Opcode::I32TruncSatF32S, 1, "dm_trunc_sat_s32_f32($0)", kPlain},
    {Opcode::F32ConvertI32S, 1, "((f32)(s32)$0)", kPlain},
    {Opcode::I32TruncF32U, 1, "dm_trunc_u32_f32($0)", kTraps},
    {Opcode::I32TruncSatF32U, 1, "dm_trunc_sat_u32_f32($0)", kPlain},
    {Opcode::F32ConvertI32U, 1, "((f32)$0)", kPlain},
    {Opcode::I32TruncF64S, 1, "dm_trunc_s32_f64($0)", kTraps},
    {Opcode::I32TruncSatF64S, 1, "dm_trunc_sat_s32_f64($0)", kPlain},
    {Opcode::F64ConvertI32S, 1, "((f64)(s32)$0)", kPlain},
    {Opcode::I32TruncF64U, 1, "dm_trunc_u32_f64($0)", kTraps},
    {Opcode::I32TruncSatF64U, 1, "dm_trunc_sat_u32_f64($0)", kPlain},
    {Opcode::F64ConvertI32U, 1, "((f64)$0)", kPlain},
    {Opcode::I64TruncF32S, 1, "dm_trunc_s64_f32($0)", kTraps},
    {Opcode::I64TruncSatF32S, 1, "dm_trunc_sat_s64_f32($0)", kPlain},
    {Opcode::F32ConvertI64S, 1, "((f32)(s64)$0)", kPlain},
    {Opcode::I64TruncF32U, 1, "dm_trunc_u64_f32($0)", kTraps},
    {Opcode::I64TruncSatF32U, 1, "dm_trunc_sat_u64_f32($0)", kPlain},
    {Opcode::F32ConvertI64U, 1, "((f32)$0)", kPlain},
    {Opcode::I64TruncF64S, 1, "dm_trunc_s64_f64($0)", kTraps},
    {Opcode::I64TruncSatF64S, 1, "dm_trunc_sat_s64_f64($0)", kPlain},
    {Opcode::F64ConvertI64S, 1, "((f64)(s64)$0)", kPlain},
    {Opcode::I64TruncF64U, 1, "dm_trunc_u64_f64($0)", kTraps},
    {Opcode::I64TruncSatF64U, 1, "dm_trunc_sat_u64_f64($0)", kPlain},
    {Opcode::F64ConvertI64U, 1, "((f64)$0)", kPlain},
    {Opcode::F32DemoteF64, 1, "((f32)$0)", kPlain},
    {Opcode::F64PromoteF32, 1, "((f64)$0)", kPlain},
    {Opcode::I32ReinterpretF32, 1, "dm_bits32($0)", kPlain},
    {Opcode::I64ReinterpretF64, 1, "dm_bits64($0)", kPlain},
    {Opcode::F32ReinterpretI32, 1, "dm_float32($0)", kPlain},
    {Opcode::F64ReinterpretI64, 1, "dm_float64($0)", kPlain},
};
// clang-format on

// Index by opcode, built once; the table above need not be in the order of the opcodes.
const Operation* FindOperation(Opcode opcode) {
  static const auto kIndex = [] {
    std::array<const Operation*, Opcode::Invalid> index{};
    for (const Operation& row : kOperations) index[row.opcode] = &row;
    return index;
  }();
  return opcode < Opcode::Invalid ? kIndex[opcode] : nullptr;
}

std::string Expand(const char* text, const Value* const operands[]) {
  std::string out;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '$') {
      ++c;
      out += operands[*c - '0']->text;
    } else {
      out.push_back(*c);
    }
  }
  return out;
}

}  // namespace

void FunctionEmitter::EmitNumeric(Opcode opcode) {
  const Operation* const operation = FindOperation(opcode);
  if (operation == nullptr) return Unsupported("SIMD", opcode.GetName());
  Value second;
  if (operation->operands == 2) second = stack_.Pop();
  const Value first = stack_.Pop();
  const Value* const operands[] = {&first, &second};
  const std::string text = Expand(operation->text, operands);
  const wabt::Type type = opcode.GetResultType();
  if (operation->kind == kTraps) {
    stack_.Push(stack_.NewVariable(type, text));
    return;
  }
  Value value;
  value.type = type;
  value.text = text;
  value.is_comparison = operation->kind == kCompare;
  value.locals = first.locals;
  value.locals.Add(second.locals);
  value.reads_memory = first.reads_memory || second.reads_memory;
  value.reads_globals = first.reads_globals || second.reads_globals;
  value.depth = std::max(first.depth, second.depth) + 1;
  if (opcode == Opcode::I32And) value.largest = std::min(first.largest, second.largest);
  stack_.Push(std::move(value));
}

}  // namespace dormouse::aot
