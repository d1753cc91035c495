// SPDX-License-Identifier: Apache-2.0
#include "aot/table_writer.h"

#include <optional>
#include <vector>

#include "aot/adapter.h"
#include "aot/c_text.h"
#include "aot/constant_expression.h"
#include "aot/exception_writer.h"
#include "aot/literal.h"
#include "aot/nested_lists.h"
#include "wabt/cast.h"

namespace dormouse::aot {
namespace {

constexpr std::uint32_t kMaxPages = 65536;
// One entry is 16 bytes of the shared object.
constexpr std::uint64_t kMaxTableSize = 1u << 20;

Error Refuse(std::string what) {
  return Error(ErrorCode::kInvalidRequest, std::move(what) + " not supported");
}

Result<void> CheckMemory(const wabt::Limits& limits) {
  if (limits.is_64) return Refuse("memory64 is");
  if (limits.is_shared) return Refuse("threads (a shared memory) are");
  return {};
}

struct TableEntries {
  std::vector<std::optional<wabt::Index>> functions;
};

Result<std::vector<TableEntries>> FillTables(const wabt::Module& module) {
  std::vector<TableEntries> tables(module.tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].functions.resize(module.tables[i]->elem_limits.initial);
  }
  for (const wabt::ElemSegment* segment : module.elem_segments) {
    if (segment->kind != wabt::SegmentKind::Active) continue;
    auto& functions = tables[segment->table_var.index()].functions;
    DORMOUSE_ASSIGN(const ConstantValue offset, EvaluateConstant(module, segment->offset));
    if (offset.bits + segment->elem_exprs.size() > functions.size()) {
      return Error(ErrorCode::kInvalidRequest,
                   Text("element segment ", segment->name, " does not fit into its table"));
    }
    for (std::size_t i = 0; i < segment->elem_exprs.size(); ++i) {
      DORMOUSE_ASSIGN(functions[offset.bits + i],
                      EvaluateFunctionReference(segment->elem_exprs[i]));
    }
  }
  return tables;
}

// Functions that engine_table.c takes the address of, each declared once.
class Declarations {
 public:
  explicit Declarations(const ModuleContext& context)
      : context_(context), done_(context.module().funcs.size(), false) {}
  void Need(wabt::Index function, std::string& out) {
    if (done_[function] || context_.IsImportedFunction(function)) return;
    done_[function] = true;
    Append(out, "DM_HIDDEN ", context_.Prototype(function), ";\n");
  }

 private:
  const ModuleContext& context_;
  std::vector<bool> done_;
};

Result<void> WriteTables(const ModuleContext& context, Declarations& declarations,
                         std::string& out) {
  DORMOUSE_ASSIGN(const std::vector<TableEntries> tables, FillTables(context.module()));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::string rows;
    const auto& functions = tables[i].functions;
    for (const std::optional<wabt::Index>& function : functions) {
      if (i == 0 && &function == functions.data() && HasHook(context)) {
        if (function) return Refuse("an adapter for a module with a function at 0 is");
        DORMOUSE_ASSIGN(const std::uint32_t type, context.TypeId({}));
        Append(out, "DM_HIDDEN ", kAdapterHook.prototype, ";\n");
        Append(rows, "  {(void*)", kAdapterHook.name, ", ", type, "},\n");
        continue;
      }
      if (!function) {
        rows += "  {0, 0},\n";
        continue;
      }
      declarations.Need(*function, out);
      DORMOUSE_ASSIGN(const std::uint32_t type,
                      context.TypeId(context.module().funcs[*function]->decl.sig));
      Append(rows, "  {(void*)", context.FunctionName(*function), ", ", type, "},\n");
    }
    if (rows.empty()) rows = "  {0, 0},\n";
    Append(out, "DM_HIDDEN const struct DormouseFunctionEntry dormouse_table", i, "[] = {\n", rows,
           "};\n\n");
  }
  return {};
}

void FindUsedSegments(const wabt::ExprList& list, std::vector<bool>& used) {
  for (const wabt::Expr& expr : list) {
    ForEachListIn(expr, [&](const wabt::ExprList& nested) { FindUsedSegments(nested, used); });
    if (const auto* init = wabt::dyn_cast<wabt::MemoryInitExpr>(&expr)) {
      used[init->var.index()] = true;
    } else if (const auto* drop = wabt::dyn_cast<wabt::DataDropExpr>(&expr)) {
      used[drop->var.index()] = true;
    }
  }
}

// The passive segments that code names. Optimisers leave others behind, by the thousand.
std::vector<bool> UsedPassiveSegments(const wabt::Module& module) {
  std::vector<bool> used(module.data_segments.size());
  for (const wabt::Func* func : module.funcs) FindUsedSegments(func->exprs, used);
  for (std::size_t i = 0; i < used.size(); ++i) {
    used[i] = used[i] && module.data_segments[i]->kind == wabt::SegmentKind::Passive;
  }
  return used;
}

Result<void> WriteGlobals(const ModuleContext& context, std::string& out) {
  std::string rows;
  std::size_t count = 0;
  const auto add = [&](const std::string& name, const std::string& variable) {
    Append(rows, "  {", CStringLiteral(name), ", &", variable, ", sizeof ", variable, "},\n");
    ++count;
  };
  const wabt::Module& module = context.module();
  for (wabt::Index i = 0; i < module.globals.size(); ++i) {
    const wabt::Global& global = *module.globals[i];
    if (!global.mutable_) continue;
    DORMOUSE_ASSIGN(const ConstantValue value, EvaluateConstant(module, global.init_expr));
    const std::string& variable = context.GlobalText(i);
    Append(out, CTypeName(global.type), " ", variable, " = ", Literal(value.type, value.bits),
           ";\n");
    add(context.GlobalName(i), variable);
  }
  // Whether a passive segment was dropped is state too.
  const std::vector<bool> used = UsedPassiveSegments(module);
  for (std::size_t i = 0; i < module.data_segments.size(); ++i) {
    if (!used[i]) continue;
    Append(out, "u32 dormouse_segment_size", i, " = ", module.data_segments[i]->data.size(),
           "u;\n");
    add(Text("dormouse_segment_size", i), Text("dormouse_segment_size", i));
  }
  Append(out, "static const struct DormouseGlobal globals[] = {\n", rows, "  {0, 0, 0}};\n",
         "enum { kGlobals = ", count, " };\n\n");
  return {};
}

void WritePassiveSegments(const wabt::Module& module, std::string& out) {
  const std::vector<bool> used = UsedPassiveSegments(module);
  for (std::size_t i = 0; i < module.data_segments.size(); ++i) {
    const wabt::DataSegment& segment = *module.data_segments[i];
    if (!used[i]) continue;
    Append(out, "static const u8 segment", i, "[] = {");
    for (std::size_t byte = 0; byte < segment.data.size(); ++byte) {
      Append(out, byte % 32 == 0 ? "\n" : "", segment.data[byte], ",");
    }
    if (segment.data.empty()) out += "0";
    Append(out, "};\nvoid dormouse_memory_init", i, "(u32 to, u32 from, u32 length) {\n",
           "  if ((u64)from + length > dormouse_segment_size", i,
           " || (u64)to + length > (u64)dormouse_pages << 16) {\n",
           "    dormouse_trap(DORMOUSE_TRAP_OUT_OF_BOUNDS);\n  }\n",
           "  __builtin_memcpy((void*)DM_ADDRESS(to, 0u), segment", i, " + from, length);\n}\n\n");
  }
}

// The body of a function that calls what the host has put into `slot`.
std::string SlotCall(const std::string& slot, const std::string& result,
                     const std::vector<const char*>& parameters) {
  std::string out = Text(" {\n  ", result == "void" ? "" : "return ", "((", result, " (*)(void*");
  for (const char* type : parameters) Append(out, ", ", type);
  Append(out, "))", slot, ")(dormouse_host");
  for (std::size_t i = 0; i < parameters.size(); ++i) Append(out, ", l", i);
  return out + ");\n}\n";
}

std::vector<const char*> ParameterTypes(const wabt::FuncSignature& signature) {
  std::vector<const char*> types;
  for (const wabt::Type type : signature.param_types) types.push_back(CTypeName(type));
  return types;
}

Result<void> WriteImports(const ModuleContext& context, std::string& out) {
  const wabt::Module& module = context.module();
  const bool adapted = !context.options().adapter.empty();
  std::string rows;
  std::size_t count = 0;
  wabt::Index function = 0;
  for (const wabt::Import* import : module.imports) {
    if (import->kind() != wabt::ExternalKind::Func) continue;
    const wabt::Index index = function++;
    // The others are the adapter's.
    if (adapted && !IsHostModule(import->module_name)) continue;
    const wabt::FuncSignature& signature = module.funcs[index]->decl.sig;
    DORMOUSE_ASSIGN(const std::string text, SignatureText(signature));
    const std::string slot = Text("slot", index);
    const std::string body = SlotCall(slot, context.ResultType(signature), ParameterTypes(signature));
    Append(out, "static void* ", slot, ";\n");
    if (adapted) {
      // Under the import's own name it is weak, so that an adapter can define that and still call the host.
      const std::string host = HostPrototype(context, index, *import);
      Append(out, "DM_HIDDEN ", host, body, "__attribute__((weak)) ");
    }
    Append(out, "DM_HIDDEN ", context.Prototype(index), body);
    Append(rows, "  {", CStringLiteral(import->module_name), ", ",
           CStringLiteral(import->field_name), ", \"", text, "\", &", slot, "},\n");
    ++count;
  }
  if (adapted) count += WriteAdapterImports(context, rows, out);
  Append(out, "static const struct DormouseImport imports[] = {\n", rows, "  {0, 0, 0, 0}};\n",
         "enum { kImports = ", count, " };\n\n");
  return {};
}

Result<void> WriteExports(const ModuleContext& context, Declarations& declarations,
                          std::string& out) {
  const bool adapted = !context.options().adapter.empty();
  std::string rows;
  std::size_t count = 0;
  if (adapted) {
    for (const AdapterFunction& item : kAdapterExports) {
      Append(out, "DM_HIDDEN ", item.prototype, ";\n");
      Append(rows, "  {\"", item.name, "\", \"", item.signature, "\", (void*)", item.name, "},\n");
      ++count;
    }
  }
  for (const wabt::Export* item : context.module().exports) {
    if (item->kind != wabt::ExternalKind::Func) continue;
    if (adapted && IsAdapterExport(item->name)) continue;
    const wabt::Index function = item->var.index();
    declarations.Need(function, out);
    DORMOUSE_ASSIGN(const std::string text,
                    SignatureText(context.module().funcs[function]->decl.sig));
    std::string name = context.FunctionName(function);
    if (HasExceptions(context.module())) {
      name = Text("entry", count);
      out += EntryFromHost(context, function, name);
    }
    Append(rows, "  {", CStringLiteral(item->name), ", \"", text, "\", (void*)", name, "},\n");
    ++count;
  }
  Append(out, "static const struct DormouseExport exports[] = {\n", rows, "  {0, 0, 0}};\n",
         "enum { kExports = ", count, " };\n\n");
  return {};
}

constexpr const char* kServices = R"c(
u32 dormouse_pages = kInitialPages;
void* dormouse_host;
int64_t dormouse_fuel;
static u32 (*memory_grow_slot)(void* host, u32 delta);
static void (*trap_slot)(enum DormouseTrap);

void dormouse_trap(enum DormouseTrap kind) {
  if (trap_slot) trap_slot(kind);
  __builtin_trap();
}

u32 dormouse_memory_grow(u32 delta) {
  return memory_grow_slot ? memory_grow_slot(dormouse_host, delta) : UINT32_MAX;
}

// Bulk work is paid for by the KiB, so that metering bounds it.
#ifdef DORMOUSE_METERED
#define DM_TICK_BULK(length) DM_TICK((length) >> 10)
#else
#define DM_TICK_BULK(length)
#endif

void dormouse_memory_copy(u32 to, u32 from, u32 length) {
  const u64 size = (u64)dormouse_pages << 16;
  if ((u64)to + length > size || (u64)from + length > size) dormouse_trap(DORMOUSE_TRAP_OUT_OF_BOUNDS);
  DM_TICK_BULK(length);
  __builtin_memmove((void*)DM_ADDRESS(to, 0u), (void*)DM_ADDRESS(from, 0u), length);
}

void dormouse_memory_fill(u32 to, u32 value, u32 length) {
  if ((u64)to + length > (u64)dormouse_pages << 16) dormouse_trap(DORMOUSE_TRAP_OUT_OF_BOUNDS);
  DM_TICK_BULK(length);
  __builtin_memset((void*)DM_ADDRESS(to, 0u), (int)value, length);
}

void dormouse_memory_init_dropped(u32 to, u32 from, u32 length) {
  if ((u64)from + length > 0 || to > (u64)dormouse_pages << 16) {
    dormouse_trap(DORMOUSE_TRAP_OUT_OF_BOUNDS);
  }
}

#ifdef DORMOUSE_PROFILE
// For hosts that leave by _exit: writes what the instrumented code has counted so far.
int __llvm_profile_write_file(void);
__attribute__((visibility("default"))) int dormouse_write_profile(void) {
  return __llvm_profile_write_file();
}
#endif

__attribute__((visibility("default"))) const struct DormouseEngine dormouse_engine = {
    .abi_version = DORMOUSE_ENGINE_ABI_VERSION,
    .memory_base = DORMOUSE_MEMORY_BASE,
    .initial_pages = kInitialPages,
    .max_pages = kMaxPages,
    .memory_pages = &dormouse_pages,
    .host = &dormouse_host,
    .memory_grow = &memory_grow_slot,
    .trap = &trap_slot,
#ifdef DORMOUSE_METERED
    .fuel = &dormouse_fuel,
#endif
    .imports = imports,
    .import_count = kImports,
    .exports = exports,
    .export_count = kExports,
    .globals = globals,
    .global_count = kGlobals,
};
)c";

}  // namespace

Result<void> CheckModuleParts(const wabt::Module& module) {
  if (module.num_memory_imports != 0) return Refuse("an imported memory is");
  if (module.num_table_imports != 0) return Refuse("an imported table is");
  if (module.memories.size() > 1) return Refuse("multi-memory is");
  if (!module.memories.empty()) DORMOUSE_TRY(CheckMemory(module.memories[0]->page_limits));
  for (const wabt::Import* import : module.imports) {
    if (import->kind() != wabt::ExternalKind::Tag) continue;
    return Refuse(Text("an imported tag (", import->module_name, ".", import->field_name, ") is"));
  }
  if (!module.starts.empty()) return Refuse("a start function is");
  for (const wabt::Table* table : module.tables) {
    if (table->elem_limits.is_64) return Refuse("memory64 (a 64-bit table) is");
    if (table->elem_limits.initial > kMaxTableSize) {
      return Refuse(Text("a table of ", table->elem_limits.initial, " elements is"));
    }
  }
  return {};
}

std::string WriteDeclarations(const ModuleContext& context) {
  const wabt::Module& module = context.module();
  std::string out = context.ResultStructs();
  for (wabt::Index i = 0; i < module.globals.size(); ++i) {
    if (!module.globals[i]->mutable_) continue;
    Append(out, "extern DM_HIDDEN ", CTypeName(module.globals[i]->type), " ", context.GlobalText(i),
           ";\n");
  }
  for (std::size_t i = 0; i < module.tables.size(); ++i) {
    Append(out, "extern DM_HIDDEN const struct DormouseFunctionEntry dormouse_table", i, "[];\n",
           "#define dormouse_table", i, "_size ", module.tables[i]->elem_limits.initial, "u\n");
  }
  for (std::size_t i = 0; i < module.data_segments.size(); ++i) {
    if (module.data_segments[i]->kind != wabt::SegmentKind::Passive) continue;
    Append(out, "extern DM_HIDDEN u32 dormouse_segment_size", i, ";\n",
           "DM_HIDDEN void dormouse_memory_init", i, "(u32 to, u32 from, u32 length);\n");
  }
  return out;
}

Result<std::string> WriteTableFile(const ModuleContext& context) {
  const wabt::Module& module = context.module();
  std::uint64_t initial = 0;
  std::uint64_t maximum = kMaxPages;
  if (!module.memories.empty()) {
    const wabt::Limits& limits = module.memories[0]->page_limits;
    initial = limits.initial;
    if (limits.has_max) maximum = limits.max;
  } else {
    maximum = 0;
  }
  std::string out = "#include \"engine.h\"\n\n";
  Append(out, "enum { kInitialPages = ", initial, ", kMaxPages = ", maximum, " };\n\n");
  Declarations declarations(context);
  DORMOUSE_TRY(WriteImports(context, out));
  DORMOUSE_TRY(WriteTables(context, declarations, out));
  DORMOUSE_TRY(WriteGlobals(context, out));
  DORMOUSE_TRY(WriteExports(context, declarations, out));
  WritePassiveSegments(module, out);
  out += kServices;
  if (HasExceptions(module)) out += ExceptionServices();
  return out;
}

}  // namespace dormouse::aot
