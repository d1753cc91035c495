// SPDX-License-Identifier: Apache-2.0
// Adapters: C that stands between a module with exports of its own and the exports that the host
// calls.
//
// An adapter is one C file. It is compiled beside the module's code as engine_adapter.c, defines
// the exports of docs/engine-abi.md and every import that the host does not offer, and includes
// "engine_adapter.h":
//
//   module_NAME(…)       the module's export NAME
//   import_MODULE_NAME   the module's import: may be defined; must be where MODULE is not the
//   host's host_MODULE_NAME(…)  the host's function of that name DORMOUSE_HOOK        a function
//   pointer, as the module sees it, to the adapter's `void dormouse_hook(void)`, which it
//                        must define if the module calls functions of that type
//
// with everything but letters and digits in the names replaced by `_`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "aot/module_context.h"
#include "common/result.h"

namespace dormouse::aot {

// A function by its name, as in engine_abi.h and as in C.
struct AdapterFunction {
  const char* name;
  const char* signature;
  const char* prototype;
};

// What the adapter defines for the host.
inline constexpr AdapterFunction kAdapterExports[] = {
    {"dormouse_boot", ">i", "u32 dormouse_boot(void)"},
    {"dormouse_alloc", "i>i", "u32 dormouse_alloc(u32 size)"},
    {"dormouse_run", "ii>i", "u32 dormouse_run(u32 address, u32 length)"},
    {"dormouse_reseed", ">", "void dormouse_reseed(void)"},
    {"dormouse_interrupt_table", ">i", "u32 dormouse_interrupt_table(void)"},
};

// A function of the adapter in the first table, so that the module can be made to call the adapter
// where it calls a callback. It has the entry of the null pointer, which C never uses for a
// function.
inline constexpr AdapterFunction kAdapterHook = {"dormouse_hook", ">", "void dormouse_hook(void)"};

// Whether there is an adapter, and a call for its hook in the module.
bool HasHook(const ModuleContext& context);

bool IsAdapterExport(std::string_view name);

// Whether the host offers functions under this module name.
bool IsHostModule(std::string_view module);

// "u32 host_wasi_snapshot_preview1_fd_close(u32 l0)".
std::string HostPrototype(const ModuleContext& context, wabt::Index function,
                          const wabt::Import& import);

// The host's functions that adapters may call though the module does not import them. Adds their
// rows and code for engine_table.c, and returns how many they are.
std::size_t WriteAdapterImports(const wabt::Module& module, std::string& rows, std::string& out);

// engine_adapter.h.
std::string WriteAdapterHeader(const ModuleContext& context);

}  // namespace dormouse::aot
