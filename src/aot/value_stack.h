// SPDX-License-Identifier: Apache-2.0
// ValueStack: wasm's operand stack at translation time, as C expressions not yet written out.
//
// A value stays an expression until something it reads is about to change; then it is materialised
// into a variable of its own, by a statement before the change. All pending expressions are free of
// effects (loads count as such: a load that nobody needs may vanish together with its fault), so
// neither their order nor whether they run at all matters. clang gets large expressions and few
// variables, which is what it compiles fastest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wabt/ir.h"

namespace dormouse::aot {

// The locals that an expression reads; says "any" when there are too many to list.
class LocalSet {
 public:
  void Add(wabt::Index local);
  void Add(const LocalSet& other);
  bool MayContain(wabt::Index local) const;
  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::uint8_t kMost = 6;
  static constexpr std::uint8_t kAny = kMost + 1;
  std::array<wabt::Index, kMost> locals_{};
  std::uint8_t count_ = 0;
};

struct Value {
  wabt::Type type = wabt::Type::I32;
  std::string text;  // of exactly the C type of `type`, and safe to put between operators
  LocalSet locals;
  std::uint16_t depth = 0;  // nesting, to stay within the C compiler's limits
  bool reads_memory = false;
  bool reads_globals = false;
  bool is_comparison = false;  // text is "(u32)(…)"
  // No bits above these are set; for i32 only.
  std::uint32_t largest = UINT32_MAX;
  // A constant, or a variable that keeps its value as long as this is on the stack.
  bool is_stable = false;
};

class ValueStack {
 public:
  // Writes statements to `out` when values must be materialised. Borrows it.
  explicit ValueStack(std::string& out) : out_(out) {}

  void Clear();
  std::size_t size() const { return values_.size(); }
  // Expressions that have grown too large are materialised at once.
  void Push(Value value);
  Value Pop();
  Value& FromTop(std::size_t i) { return values_[values_.size() - 1 - i]; }
  // Drops everything above `height`.
  void Truncate(std::size_t height) { values_.resize(height); }

  // Defines a new variable with the value of `text`.
  Value NewVariable(wabt::Type type, const std::string& text);
  void Materialise(Value& value);
  // Before a statement changes one of these:
  void MaterialiseReadersOfMemory();
  void MaterialiseReadersOfGlobals();
  void MaterialiseReadersOfMemoryAndGlobals();
  void MaterialiseReadersOfLocal(wabt::Index local);
  // Where control flow splits or joins.
  void MaterialiseAll();
  void MaterialiseTop(std::size_t count);

 private:
  std::string& out_;
  std::vector<Value> values_;
  std::uint32_t variables_ = 0;
};

}  // namespace dormouse::aot
