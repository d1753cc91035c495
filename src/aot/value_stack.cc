// SPDX-License-Identifier: Apache-2.0
#include "aot/value_stack.h"

#include <algorithm>
#include <utility>

#include "aot/c_text.h"
#include "aot/module_context.h"

namespace dormouse::aot {
namespace {

// clang refuses more than 256 nested brackets, and long lines help nobody.
constexpr std::uint16_t kMaxDepth = 30;
constexpr std::size_t kMaxTextBytes = 500;

}  // namespace

void LocalSet::Add(wabt::Index local) {
  if (count_ == kAny || MayContain(local)) return;
  if (count_ < kMost) locals_[count_] = local;
  ++count_;  // reaches kAny when full
}

void LocalSet::Add(const LocalSet& other) {
  if (other.count_ == kAny) {
    count_ = kAny;
    return;
  }
  for (std::uint8_t i = 0; i < other.count_; ++i) Add(other.locals_[i]);
}

bool LocalSet::MayContain(wabt::Index local) const {
  if (count_ == kAny) return true;
  return std::find(locals_.begin(), locals_.begin() + count_, local) != locals_.begin() + count_;
}

void ValueStack::Clear() {
  values_.clear();
  variables_ = 0;
}

void ValueStack::Push(Value value) {
  if (value.depth > kMaxDepth || value.text.size() > kMaxTextBytes) Materialise(value);
  values_.push_back(std::move(value));
}

Value ValueStack::Pop() {
  Value value = std::move(values_.back());
  values_.pop_back();
  return value;
}

Value ValueStack::NewVariable(wabt::Type type, const std::string& text) {
  Value value;
  value.type = type;
  value.text = Text("t", variables_++);
  value.is_stable = true;
  Append(out_, CTypeName(type), " ", value.text, " = ", text, ";\n");
  return value;
}

void ValueStack::Materialise(Value& value) {
  if (value.is_stable) return;
  const std::uint32_t largest = value.largest;
  value = NewVariable(value.type, value.text);
  value.largest = largest;
}

void ValueStack::MaterialiseReadersOfMemory() {
  for (Value& value : values_) {
    if (value.reads_memory) Materialise(value);
  }
}

void ValueStack::MaterialiseReadersOfGlobals() {
  for (Value& value : values_) {
    if (value.reads_globals) Materialise(value);
  }
}

void ValueStack::MaterialiseReadersOfMemoryAndGlobals() {
  for (Value& value : values_) {
    if (value.reads_memory || value.reads_globals) Materialise(value);
  }
}

void ValueStack::MaterialiseReadersOfLocal(wabt::Index local) {
  for (Value& value : values_) {
    if (value.locals.MayContain(local)) Materialise(value);
  }
}

void ValueStack::MaterialiseAll() { MaterialiseTop(values_.size()); }

void ValueStack::MaterialiseTop(std::size_t count) {
  for (std::size_t i = values_.size() - count; i < values_.size(); ++i) Materialise(values_[i]);
}

}  // namespace dormouse::aot
