// SPDX-License-Identifier: Apache-2.0
// engine_table.c and the module's part of engine.h: everything of an engine that is not a function
// body.
#pragma once

#include <string>

#include "aot/module_context.h"
#include "common/result.h"

namespace dormouse::aot {

// Fails on parts of a module that an engine cannot have: imported memories, a start function, ….
Result<void> CheckModuleParts(const wabt::Module& module);

// Declarations of globals, tables and passive data.
std::string WriteDeclarations(const ModuleContext& context);

// The definitions, import thunks, and the DormouseEngine.
Result<std::string> WriteTableFile(const ModuleContext& context);

}  // namespace dormouse::aot
