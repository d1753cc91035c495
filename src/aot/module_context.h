// SPDX-License-Identifier: Apache-2.0
// ModuleContext: what every emitter needs to know of a module: C names, canonical types,
// signatures.
//
// Names come from the name section, so that they survive small changes of the module: a profile
// finds its functions by name. Immutable after Build; borrows the module.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "wabt/ir.h"

namespace dormouse::aot {

enum class Metering { kNone, kExact };

struct Options {
  std::uint64_t memory_base = 0x40000000;
  unsigned files = 16;
  Metering metering = Metering::kNone;
  // Replace libc functions of well-known names and types (memcpy, strlen, …) by the host's.
  bool native_libc = true;
  // The C text of an adapter (adapter.h); empty: the module has the host's exports itself.
  std::string adapter;
};

// "iI>f", as in engine_abi.h. Fails on types that the emitter does not know.
Result<std::string> SignatureText(const wabt::FuncSignature& signature);

// u32, u64, f32, f64; null for others.
const char* CTypeName(wabt::Type type);

// Functions of the module that an adapter names (adapter.h).
struct AdapterNames {
  std::vector<wabt::Index> used;      // all of them
  std::vector<wabt::Index> replaced;  // ascending
  std::vector<wabt::Index> wrapped;
  std::optional<wabt::Index> setjmp;
  struct Constant {
    wabt::Index function;
    std::string argument;  // as C text in brackets
    std::string name;      // of the adapter's function
  };
  std::vector<Constant> constants;
};

class ModuleContext {
 public:
  static Result<ModuleContext> Build(const wabt::Module& module, const Options& options);

  // The same as if there were no adapter, for function bodies.
  ModuleContext WithoutAdapter() const;

  const wabt::Module& module() const { return *module_; }
  const Options& options() const { return options_; }

  const std::string& FunctionName(wabt::Index function) const { return function_names_[function]; }
  bool IsImportedFunction(wabt::Index function) const {
    return function < module_->num_func_imports;
  }
  const AdapterNames& adapter_names() const { return adapter_names_; }
  bool IsReplaced(wabt::Index function) const;
  bool IsWrapped(wabt::Index function) const;
  bool IsSetjmp(wabt::Index function) const { return adapter_names_.setjmp == function; }
  // The adapter's function in place of a call with these arguments; null: none.
  const std::string* ConstantCall(wabt::Index function, const std::string& arguments) const;
  // The variable, or the literal value if the global never changes.
  const std::string& GlobalText(wabt::Index global) const { return global_texts_[global]; }
  // The name under which the host sees a global.
  const std::string& GlobalName(wabt::Index global) const { return global_names_[global]; }

  // Equal for structurally equal types; never 0.
  Result<std::uint32_t> TypeId(const wabt::FuncSignature& signature) const;
  // The result as a C type: "void", "u32", or "struct dm_r_iI" for several values.
  std::string ResultType(const wabt::FuncSignature& signature) const;
  // "u32 w_f(u32 l0, u64 l1)" without a semicolon.
  std::string Prototype(wabt::Index function) const;
  // The same of the module's own version of a function that the adapter wraps.
  std::string OriginalPrototype(wabt::Index function) const;
  // "(u32 (*)(u32, u64))", to call through.
  std::string PointerCast(const wabt::FuncSignature& signature) const;
  // Definitions of all structures that ResultType names.
  std::string ResultStructs() const;

 private:
  ModuleContext(const wabt::Module& module, const Options& options)
      : module_(&module), options_(options) {}
  Result<void> CollectTypes();
  void NameFunctions();
  Result<void> NameGlobals();

  const wabt::Module* module_;
  Options options_;
  std::vector<std::string> type_texts_;  // distinct signature texts; the id is the index + 1
  std::vector<std::string> function_names_;
  std::vector<std::string> global_texts_;
  std::vector<std::string> global_names_;
  AdapterNames adapter_names_;
};

}  // namespace dormouse::aot
