// SPDX-License-Identifier: Apache-2.0
#include "aot/module_context.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "aot/adapter.h"
#include "aot/c_text.h"
#include "aot/constant_expression.h"
#include "aot/literal.h"

namespace dormouse::aot {
namespace {

// Makes C identifiers of wasm names, each only once.
class NameTable {
 public:
  std::string Claim(std::string_view prefix, std::string_view wasm_name, wabt::Index index) {
    std::string name(prefix);
    if (!wasm_name.empty() && wasm_name[0] == '$') wasm_name.remove_prefix(1);
    if (wasm_name.empty()) {
      Append(name, "f", index);
    } else {
      for (const char c : wasm_name.substr(0, kMaxNameBytes)) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name.push_back(plain ? c : '_');
      }
    }
    unsigned& uses = uses_[name];
    ++uses;
    if (uses == 1) return name;
    // The first of a name keeps it; later ones are counted. Two underscores and a number could be a
    // name of its own, hence the loop.
    std::string numbered = Text(name, "__", uses);
    while (!uses_.emplace(numbered, 1).second) numbered = Text(name, "__", ++uses);
    return numbered;
  }

 private:
  static constexpr std::size_t kMaxNameBytes = 200;
  std::unordered_map<std::string, unsigned> uses_;
};

std::string_view WithoutDollar(std::string_view name) {
  if (!name.empty() && name[0] == '$') name.remove_prefix(1);
  return name;
}

}  // namespace

const char* CTypeName(wabt::Type type) {
  switch (type) {
    case wabt::Type::I32:
      return "u32";
    case wabt::Type::I64:
      return "u64";
    case wabt::Type::F32:
      return "f32";
    case wabt::Type::F64:
      return "f64";
    default:
      return nullptr;
  }
}

Result<std::string> SignatureText(const wabt::FuncSignature& signature) {
  std::string text;
  const auto append = [&](const wabt::TypeVector& types) -> Result<void> {
    for (const wabt::Type type : types) {
      switch (type) {
        case wabt::Type::I32:
          text.push_back('i');
          break;
        case wabt::Type::I64:
          text.push_back('I');
          break;
        case wabt::Type::F32:
          text.push_back('f');
          break;
        case wabt::Type::F64:
          text.push_back('F');
          break;
        case wabt::Type::V128:
          return Error(ErrorCode::kInvalidRequest, "SIMD (v128) is not supported");
        default:
          return Error(ErrorCode::kInvalidRequest,
                       Text("values of type ", type.GetName(), " are not supported"));
      }
    }
    return {};
  };
  DORMOUSE_TRY(append(signature.param_types));
  text.push_back('>');
  DORMOUSE_TRY(append(signature.result_types));
  return text;
}

Result<ModuleContext> ModuleContext::Build(const wabt::Module& module, const Options& options) {
  ModuleContext context(module, options);
  DORMOUSE_TRY(context.CollectTypes());
  context.NameFunctions();
  DORMOUSE_TRY(context.NameGlobals());
  DORMOUSE_ASSIGN(context.adapter_names_, FindAdapterNames(module, options.adapter));
  return context;
}

Result<void> ModuleContext::CollectTypes() {
  // Types that no function has may still be named by a call_indirect, which then always traps.
  for (const wabt::TypeEntry* entry : module_->types) {
    if (entry->kind() != wabt::TypeEntryKind::Func) continue;
    auto text = SignatureText(static_cast<const wabt::FuncType*>(entry)->sig);
    if (text.ok() &&
        std::find(type_texts_.begin(), type_texts_.end(), *text) == type_texts_.end()) {
      type_texts_.push_back(*std::move(text));
    }
  }
  for (std::size_t i = 0; i < module_->funcs.size(); ++i) {
    auto id = TypeId(module_->funcs[i]->decl.sig);
    if (!id.ok()) {
      return Error(ErrorCode::kInvalidRequest,
                   Text("function ", i, " (", module_->funcs[i]->name, "): ", id.error().message));
    }
  }
  return {};
}

Result<std::uint32_t> ModuleContext::TypeId(const wabt::FuncSignature& signature) const {
  DORMOUSE_ASSIGN(const std::string text, SignatureText(signature));
  const auto found = std::find(type_texts_.begin(), type_texts_.end(), text);
  if (found == type_texts_.end()) {
    return Error(ErrorCode::kInternal, Text("type ", text, " is not in the type section"));
  }
  return static_cast<std::uint32_t>(found - type_texts_.begin()) + 1;
}

ModuleContext ModuleContext::WithoutAdapter() const {
  ModuleContext plain = *this;
  plain.adapter_names_ = {};
  return plain;
}

bool ModuleContext::IsReplaced(wabt::Index function) const {
  return std::binary_search(adapter_names_.replaced.begin(), adapter_names_.replaced.end(),
                            function);
}

bool ModuleContext::IsWrapped(wabt::Index function) const {
  return std::find(adapter_names_.wrapped.begin(), adapter_names_.wrapped.end(), function) !=
         adapter_names_.wrapped.end();
}

const std::string* ModuleContext::ConstantCall(wabt::Index function,
                                               const std::string& arguments) const {
  for (const AdapterNames::Constant& call : adapter_names_.constants) {
    if (call.function == function && call.argument == arguments) return &call.name;
  }
  return nullptr;
}

std::string ModuleContext::OriginalPrototype(wabt::Index function) const {
  std::string text = Prototype(function);
  text.insert(text.find(FunctionName(function)), "original_");
  return text;
}

void ModuleContext::NameFunctions() {
  NameTable names;
  for (std::size_t i = 0; i < module_->funcs.size(); ++i) {
    function_names_.push_back(
        names.Claim("w_", module_->funcs[i]->name, static_cast<wabt::Index>(i)));
  }
}

Result<void> ModuleContext::NameGlobals() {
  std::vector<std::string> exported(module_->globals.size());
  for (const wabt::Export* item : module_->exports) {
    if (item->kind == wabt::ExternalKind::Global) exported[item->var.index()] = item->name;
  }
  NameTable names;
  for (std::size_t i = 0; i < module_->globals.size(); ++i) {
    const wabt::Global& global = *module_->globals[i];
    if (i < module_->num_global_imports) {
      return Error(ErrorCode::kInvalidRequest,
                   Text("imported globals (", global.name, ") are not supported"));
    }
    if (CTypeName(global.type) == nullptr) {
      return Error(ErrorCode::kInvalidRequest, Text("global ", global.name, ": values of type ",
                                                    global.type.GetName(), " are not supported"));
    }
    std::string name = exported[i];
    if (name.empty()) name = WithoutDollar(global.name);
    if (name.empty()) name = Text("global", i);
    global_names_.push_back(name);
    if (global.mutable_) {
      global_texts_.push_back(names.Claim("g_", name, static_cast<wabt::Index>(i)));
    } else {
      DORMOUSE_ASSIGN(const ConstantValue value, EvaluateConstant(*module_, global.init_expr));
      global_texts_.push_back(Literal(value.type, value.bits));
    }
  }
  return {};
}

std::string ModuleContext::ResultType(const wabt::FuncSignature& signature) const {
  if (signature.result_types.empty()) return "void";
  if (signature.result_types.size() == 1) return CTypeName(signature.result_types[0]);
  const std::string text = SignatureText(signature).value();
  return Text("struct dm_r_", std::string_view(text).substr(text.find('>') + 1));
}

std::string ModuleContext::Prototype(wabt::Index function) const {
  const wabt::FuncSignature& signature = module_->funcs[function]->decl.sig;
  std::string out = Text(ResultType(signature), " ", function_names_[function], "(");
  for (std::size_t i = 0; i < signature.param_types.size(); ++i) {
    Append(out, i == 0 ? "" : ", ", CTypeName(signature.param_types[i]), " l", i);
  }
  out += signature.param_types.empty() ? "void)" : ")";
  return out;
}

std::string ModuleContext::PointerCast(const wabt::FuncSignature& signature) const {
  std::string out = Text("(", ResultType(signature), " (*)(");
  for (std::size_t i = 0; i < signature.param_types.size(); ++i) {
    Append(out, i == 0 ? "" : ", ", CTypeName(signature.param_types[i]));
  }
  out += signature.param_types.empty() ? "void))" : "))";
  return out;
}

std::string ModuleContext::ResultStructs() const {
  std::vector<std::string> done;
  std::string out;
  for (const std::string& text : type_texts_) {
    const std::string results = text.substr(text.find('>') + 1);
    if (results.size() < 2 || std::find(done.begin(), done.end(), results) != done.end()) continue;
    done.push_back(results);
    Append(out, "struct dm_r_", results, " {");
    for (std::size_t i = 0; i < results.size(); ++i) {
      const char* type = results[i] == 'i'   ? "u32"
                         : results[i] == 'I' ? "u64"
                         : results[i] == 'f' ? "f32"
                                             : "f64";
      Append(out, " ", type, " v", i, ";");
    }
    out += " };\n";
  }
  return out;
}

}  // namespace dormouse::aot
