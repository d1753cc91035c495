// SPDX-License-Identifier: Apache-2.0
#include "aot/adapter.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "aot/c_text.h"
#include "wabt/cast.h"

namespace dormouse::aot {
namespace {

struct HostFunction {
  const char* name;  // in module "dormouse"
  const char* signature;
  const char* parameters;
  const char* types;
  const char* arguments;
  bool returns;
  bool always = false;  // else for adapters whose text names it
};

constexpr HostFunction kHostFunctions[] = {
    {"emit", "iii>", "u32 kind, u32 address, u32 length", "u32, u32, u32", "kind, address, length",
     false, true},
    {"fd_dup", "iii>i", "u32 file, u32 lowest, u32 result", "u32, u32, u32", "file, lowest, result",
     true, true},
    {"fd_chmod", "ii>i", "u32 file, u32 mode", "u32, u32", "file, mode", true},
    {"fd_mode_get", "ii>i", "u32 file, u32 result", "u32, u32", "file, result", true},
    {"path_chmod", "iiiii>i", "u32 file, u32 flags, u32 path, u32 length, u32 mode",
     "u32, u32, u32, u32, u32", "file, flags, path, length, mode", true},
    {"path_mode_get", "iiiii>i", "u32 file, u32 flags, u32 path, u32 length, u32 result",
     "u32, u32, u32, u32, u32", "file, flags, path, length, result", true},
};

std::string Identifier(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '_';
  }
  return out;
}

// What an adapter calls a function: its name, or that of its number if it has none.
std::string NameOf(const wabt::Module& module, wabt::Index index) {
  const std::string& name = module.funcs[index]->name;
  return name.empty() ? Text("f", index) : name.substr(1);  // without the text format's '$'
}

// Whether adapters get the function, and the module does not import it.
bool IsAdded(const ModuleContext& context, const HostFunction& wanted) {
  const wabt::Module& module = context.module();
  const std::string call = Text("host_dormouse_", wanted.name, "(");
  if (!wanted.always && context.options().adapter.find(call) == std::string::npos) return false;
  return std::none_of(
      module.imports.begin(), module.imports.end(), [&](const wabt::Import* import) {
        return import->module_name == "dormouse" && import->field_name == wanted.name;
      });
}

std::string Prototype(const HostFunction& function) {
  return Text(function.returns ? "u32" : "void", " host_dormouse_", function.name, "(",
              function.parameters, ")");
}

}  // namespace

bool HasHook(const ModuleContext& context) {
  return context.options().adapter.find(kAdapterHook.name) != std::string::npos &&
         !context.module().tables.empty() &&
         context.module().tables[0]->elem_limits.initial > 0 && context.TypeId({}).ok();
}

bool IsAdapterExport(std::string_view name) {
  return std::any_of(std::begin(kAdapterExports), std::end(kAdapterExports),
                     [&](const AdapterFunction& item) { return name == item.name; });
}

bool IsHostModule(std::string_view module) {
  return module == "wasi_snapshot_preview1" || module == "dormouse";
}

std::string HostPrototype(const ModuleContext& context, wabt::Index function,
                          const wabt::Import& import) {
  const wabt::FuncSignature& signature = context.module().funcs[function]->decl.sig;
  std::string out = Text(context.ResultType(signature), " host_", Identifier(import.module_name),
                         "_", Identifier(import.field_name), "(");
  for (std::size_t i = 0; i < signature.param_types.size(); ++i) {
    Append(out, i == 0 ? "" : ", ", CTypeName(signature.param_types[i]), " l", i);
  }
  return out + (signature.param_types.empty() ? "void)" : ")");
}

std::size_t WriteAdapterImports(const ModuleContext& context, std::string& rows, std::string& out) {
  std::size_t count = 0;
  for (const HostFunction& function : kHostFunctions) {
    if (!IsAdded(context, function)) continue;
    Append(out, "static void* slot_", function.name, ";\nDM_HIDDEN ", Prototype(function), " {\n  ",
           function.returns ? "return " : "", "((", function.returns ? "u32" : "void",
           " (*)(void*, ", function.types, "))slot_", function.name, ")(dormouse_host, ",
           function.arguments, ");\n}\n");
    Append(rows, "  {\"dormouse\", \"", function.name, "\", \"", function.signature, "\", &slot_",
           function.name, "},\n");
    ++count;
  }
  return count;
}

Result<AdapterNames> FindAdapterNames(const wabt::Module& module, std::string_view adapter) {
  AdapterNames names;
  std::unordered_map<std::string, wabt::Index> functions;
  for (wabt::Index i = 0; i < module.funcs.size(); ++i) functions.emplace(NameOf(module, i), i);
  while (!adapter.empty()) {
    const std::string_view line = adapter.substr(0, adapter.find('\n'));
    adapter.remove_prefix(std::min(adapter.size(), line.size() + 1));
    const std::size_t open = line.find('(');
    if (!line.starts_with("DORMOUSE_") || open == std::string_view::npos || !line.ends_with(')')) {
      continue;
    }
    const std::string_view directive = line.substr(0, open);
    std::string_view name = line.substr(open + 1, line.size() - open - 2);
    const std::string_view number = name.substr(std::min(name.size(), name.find(", ")));
    name.remove_suffix(number.size());
    const auto found = functions.find(std::string(name));
    if (found == functions.end() || found->second < module.num_func_imports) {
      return Error(ErrorCode::kInvalidRequest,
                   Text("the adapter names ", name, ", which is no function of the module"));
    }
    if (directive == "DORMOUSE_SETJMP") {
      names.setjmp = found->second;
      continue;
    }
    if (directive == "DORMOUSE_CONSTANT") {
      const std::string_view digits = number.substr(std::min<std::size_t>(2, number.size()));
      names.constants.push_back(
          {found->second, Text("(", digits, "u)"), Text(Identifier(name), "_", digits)});
      continue;
    }
    names.used.push_back(found->second);
    if (directive == "DORMOUSE_WRAPS") names.wrapped.push_back(found->second);
    if (directive == "DORMOUSE_REPLACES") names.replaced.push_back(found->second);
  }
  std::sort(names.replaced.begin(), names.replaced.end());
  return names;
}

std::string WriteAdapterHeader(const ModuleContext& context) {
  const wabt::Module& module = context.module();
  std::string out =
      "// What an adapter may use and must define; written by dormouse-aot.\n"
      "#pragma once\n#include \"engine.h\"\n\n";
  for (const AdapterFunction& item : kAdapterExports)
    Append(out, "DM_HIDDEN ", item.prototype, ";\n");
  for (const HostFunction& function : kHostFunctions) {
    if (IsAdded(context, function)) Append(out, "DM_HIDDEN ", Prototype(function), ";\n");
  }
  if (HasHook(context)) {
    Append(out, "DM_HIDDEN ", kAdapterHook.prototype, ";\n#define DORMOUSE_HOOK 0u\n");
  }
  const AdapterNames& names = context.adapter_names();
  if (!names.used.empty() || names.setjmp) {
    out +=
        "#define DORMOUSE_USES(name)\n#define DORMOUSE_REPLACES(name)\n"
        "#define DORMOUSE_WRAPS(name)\n#define DORMOUSE_SETJMP(name)\n"
        "#define DORMOUSE_CONSTANT(name, number)\n";
  }
  if (names.setjmp) {
    for (const char* prototype : kAdapterJumps) Append(out, "DM_HIDDEN ", prototype, ";\n");
  }
  for (const wabt::Index index : names.used) {
    Append(out, "DM_HIDDEN ", context.Prototype(index), ";\n#define module_",
           Identifier(NameOf(module, index)), " ", context.FunctionName(index), "\n");
    if (!context.IsWrapped(index)) continue;
    Append(out, "DM_HIDDEN ", context.OriginalPrototype(index), ";\n#define original_",
           Identifier(NameOf(module, index)), " original_",
           context.FunctionName(index), "\n");
  }
  wabt::Index function = 0;
  for (const wabt::Import* import : module.imports) {
    if (import->kind() != wabt::ExternalKind::Func) continue;
    const wabt::Index index = function++;
    if (IsHostModule(import->module_name)) {
      Append(out, "DM_HIDDEN ", HostPrototype(context, index, *import), ";\n");
    }
    Append(out, "DM_HIDDEN ", context.Prototype(index), ";\n#define import_",
           Identifier(import->module_name), "_", Identifier(import->field_name), " ",
           context.FunctionName(index), "\n");
  }
  for (const wabt::Export* item : module.exports) {
    if (item->kind != wabt::ExternalKind::Func || context.IsImportedFunction(item->var.index()))
      continue;
    Append(out, "DM_HIDDEN ", context.Prototype(item->var.index()), ";\n#define module_",
           Identifier(item->name), " ", context.FunctionName(item->var.index()), "\n");
  }
  return out;
}

}  // namespace dormouse::aot
