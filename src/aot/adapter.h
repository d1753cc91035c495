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
//                        host's
//   host_MODULE_NAME(…)  the host's function of that name
//   DORMOUSE_HOOK        a function pointer, as the module sees it, to the adapter's
//                        `void dormouse_hook(void)`; for adapters that define one, if the module
//                        calls functions of that type
//
// with everything but letters and digits in the names replaced by `_`. The adapter may also reach
// what is not exported, by lines of its own. NAME is the function's in the name section, or f12 for
// function 12 if it has none:
//
//   DORMOUSE_USES(NAME)      module_NAME is the module's function NAME
//   DORMOUSE_REPLACES(NAME)  as well, and the adapter defines it in place of the module
//   DORMOUSE_WRAPS(NAME)     as well, and original_NAME is the module's version
//   DORMOUSE_CONSTANT(NAME, N)  calls of the module's function NAME with the i32 N are calls of the
//                            adapter's NAME_N(void)
//   DORMOUSE_SETJMP(NAME)    calls of the module's function NAME, a setjmp made with asyncify, are
//                            translated to code that does not unwind (emit_setjmp.cc); the
//                            adapter defines kAdapterJumps
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

// What an adapter with a DORMOUSE_SETJMP defines. "Unwinding" is asyncify's: functions return, each
// saving its variables in asyncify's buffer, until the adapter ends it; rewinding is the reverse.
inline constexpr const char* kAdapterJumps[] = {
    // `setjmp` of `buffer` was called, and returns 0 for the first time. What this returns is given
    // to dormouse_jump_arrive.
    "u32 dormouse_jump_begin(u32 buffer)",
    // A function with a setjmp begins. While rewinding: takes `size` bytes off asyncify's buffer
    // and returns where they are. Else 0.
    "u32 dormouse_jump_enter(u32 size)",
    // Such a function returns. Whether it does so because of unwinding.
    "u32 dormouse_jump_unwinding(void)",
    // Then: the buffer to which a longjmp is under way, or 0 if it is none that unwinds.
    "u32 dormouse_jump_target(void)",
    // The target's function was reached. Ends the unwinding, and returns what setjmp returns.
    "u32 dormouse_jump_arrive(u32 buffer, u32 kept)",
    // No longjmp: makes room for `size` bytes on asyncify's buffer and returns where.
    "u32 dormouse_jump_leave(u32 size)",
};

// The functions that the adapter's lines name. An unknown name is an error.
Result<AdapterNames> FindAdapterNames(const wabt::Module& module, std::string_view adapter);

// Whether the adapter names its hook, and there are calls for it in the module.
bool HasHook(const ModuleContext& context);

bool IsAdapterExport(std::string_view name);

// Whether the host offers functions under this module name.
bool IsHostModule(std::string_view module);

// "u32 host_wasi_snapshot_preview1_fd_close(u32 l0)".
std::string HostPrototype(const ModuleContext& context, wabt::Index function,
                          const wabt::Import& import);

// The host's functions that adapters may call though the module does not import them. Adds their
// rows and code for engine_table.c, and returns how many they are.
std::size_t WriteAdapterImports(const ModuleContext& context, std::string& rows, std::string& out);

// engine_adapter.h.
std::string WriteAdapterHeader(const ModuleContext& context);

}  // namespace dormouse::aot
