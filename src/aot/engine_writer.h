// SPDX-License-Identifier: Apache-2.0
// Turns a module into the files from which engine.so is compiled.
#pragma once

#include <string>
#include <vector>

#include "aot/module_context.h"
#include "common/result.h"

namespace dormouse::aot {

struct OutputFile {
  std::string name;
  std::string content;
};

// engine_000.c … (functions, files of even size), engine_table.c (tables, globals, imports,
// exports), engine.h and engine_abi.h for them, and memory.img. Fails on anything that cannot be
// translated.
Result<std::vector<OutputFile>> WriteEngine(const wabt::Module& module, const Options& options);

}  // namespace dormouse::aot
