// SPDX-License-Identifier: Apache-2.0
#include "aot/engine_writer.h"

#include <algorithm>
#include <cstdio>

#include "aot/adapter.h"
#include "aot/c_text.h"
#include "aot/embedded_headers.h"
#include "aot/exception_writer.h"
#include "aot/function_emitter.h"
#include "aot/memory_image.h"
#include "aot/native_libc.h"
#include "aot/table_writer.h"

namespace dormouse::aot {
namespace {

struct FunctionText {
  std::size_t begin = 0;          // in Bodies::text
  std::size_t plain_begin = 0;    // as it would be without an adapter
  std::size_t callees_begin = 0;  // in Bodies::callees
};

struct Bodies {
  std::string text;
  std::vector<wabt::Index> callees;
  std::vector<FunctionText> functions;  // in module order, without imports; one more as the end
  wabt::Index first = 0;                // the function that functions[0] is
};

Result<Bodies> EmitFunctions(const ModuleContext& context) {
  const wabt::Module& module = context.module();
  const bool native =
      context.options().native_libc && context.options().metering == Metering::kNone;
  Bodies bodies;
  bodies.first = module.num_func_imports;
  FunctionEmitter emitter(context, bodies.text);
  // Without what the adapter changes, so that a change of that moves no function to another file.
  const ModuleContext plain_context = context.WithoutAdapter();
  std::string plain_text;
  FunctionEmitter plain(plain_context, plain_text);
  std::size_t plain_begin = 0;
  for (wabt::Index i = bodies.first; i < module.funcs.size(); ++i) {
    const std::size_t begin = bodies.text.size();
    bodies.functions.push_back({begin, plain_begin, emitter.callees().size()});
    const wabt::Func& func = *module.funcs[i];
    const char* replacement = nullptr;
    if (native) {
      DORMOUSE_ASSIGN(const std::string signature, SignatureText(func.decl.sig));
      replacement = NativeLibcBody(func, signature);
    }
    bool adapted = context.IsReplaced(i);
    if (!adapted && replacement != nullptr) {
      Append(bodies.text, context.Prototype(i), " {\n", replacement, "}\n\n");
    } else if (!adapted) {
      DORMOUSE_TRY(emitter.Emit(i));
      adapted = emitter.adapted();
    }
    if (adapted) {
      plain_text.clear();
      DORMOUSE_TRY(plain.Emit(i));
      plain_begin += plain_text.size();
    } else {
      plain_begin += bodies.text.size() - begin;
    }
  }
  bodies.functions.push_back({bodies.text.size(), plain_begin, emitter.callees().size()});
  bodies.callees = emitter.callees();
  return bodies;
}

// Functions [begin, end) of `bodies` with the declarations that they need.
std::string AssembleFile(const ModuleContext& context, const Bodies& bodies, std::size_t begin,
                         std::size_t end) {
  const FunctionText& first = bodies.functions[begin];
  const FunctionText& last = bodies.functions[end];
  std::vector<wabt::Index> needed(bodies.callees.begin() + first.callees_begin,
                                  bodies.callees.begin() + last.callees_begin);
  for (std::size_t i = begin; i < end; ++i) {
    needed.push_back(bodies.first + static_cast<wabt::Index>(i));  // for hidden visibility
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  std::string out = "#include \"engine.h\"\n\n";
  for (const wabt::Index function : needed) {
    Append(out, "DM_HIDDEN ", context.Prototype(function), ";\n");
  }
  out += "\n";
  out.append(bodies.text, first.begin, last.begin - first.begin);
  return out;
}

// Cuts the functions, in order, into files of about the same amount of text.
void SplitIntoFiles(const ModuleContext& context, const Bodies& bodies,
                    std::vector<OutputFile>& files) {
  const std::size_t count = bodies.functions.size() - 1;
  const std::size_t wanted = std::max(1u, context.options().files);
  std::size_t begin = 0;
  for (std::size_t file = 0; file < wanted; ++file) {
    const std::size_t target = bodies.functions.back().plain_begin / wanted * (file + 1);
    std::size_t end = begin;
    while (end < count && (file + 1 == wanted || bodies.functions[end].plain_begin < target)) ++end;
    if (end == begin && !(file == 0 && count == 0)) continue;
    char name[32];
    std::snprintf(name, sizeof(name), "engine_%03zu.c", files.size());
    files.push_back({name, AssembleFile(context, bodies, begin, end)});
    begin = end;
  }
}

}  // namespace

Result<std::vector<OutputFile>> WriteEngine(const wabt::Module& module, const Options& options) {
  DORMOUSE_TRY(CheckModuleParts(module));
  if (HasExceptions(module) && !options.adapter.empty()) {
    return Error(ErrorCode::kInvalidRequest,
                 "an adapter for a module with exceptions is not supported");
  }
  DORMOUSE_ASSIGN(const std::string exceptions, WriteExceptionHeader(module));
  DORMOUSE_ASSIGN(const ModuleContext context, ModuleContext::Build(module, options));
  DORMOUSE_ASSIGN(const Bodies bodies, EmitFunctions(context));
  std::vector<OutputFile> files;
  SplitIntoFiles(context, bodies, files);
  DORMOUSE_ASSIGN(std::string table, WriteTableFile(context));
  files.push_back({"engine_table.c", std::move(table)});
  if (!options.adapter.empty()) {
    files.push_back({"engine_adapter.c", options.adapter});
    files.push_back({"engine_adapter.h", WriteAdapterHeader(context)});
  }
  char base[48];
  std::snprintf(base, sizeof(base), "#define DORMOUSE_MEMORY_BASE 0x%llxull\n",
                static_cast<unsigned long long>(options.memory_base));
  files.push_back(
      {"engine.h",
       Text(base, options.metering == Metering::kExact ? "#define DORMOUSE_METERED 1\n" : "",
            kEngineRuntimeHeader, exceptions, "\n", WriteDeclarations(context))});
  if (HasExceptions(module)) {
    files.push_back({"exception_abi.h", std::string(kExceptionAbiHeader)});
  }
  files.push_back({"engine_abi.h", std::string(kEngineAbiHeader)});
  DORMOUSE_ASSIGN(std::string image, BuildMemoryImage(module));
  files.push_back({"memory.img", std::move(image)});
  return files;
}

}  // namespace dormouse::aot
