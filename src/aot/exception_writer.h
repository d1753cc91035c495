// SPDX-License-Identifier: Apache-2.0
// What modules with exceptions have beside their functions. Nothing of it for all others.
#pragma once

#include <string>
#include <string_view>

#include "aot/module_context.h"
#include "common/result.h"

namespace dormouse::aot {

inline bool HasExceptions(const wabt::Module& module) { return !module.tags.empty(); }

// For engine.h. Fails on exceptions with values that the emitter does not know.
Result<std::string> WriteExceptionHeader(const wabt::Module& module);

// For engine_table.c: the definitions of exception_runtime.h.
std::string_view ExceptionServices();

// For engine_table.c: a function `name` that calls `function` for the host. A handler that an
// earlier call left behind, when it ended in a trap, is forgotten.
std::string EntryFromHost(const ModuleContext& context, wabt::Index function,
                          const std::string& name);

}  // namespace dormouse::aot
