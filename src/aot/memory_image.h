// SPDX-License-Identifier: Apache-2.0
// The initial contents of linear memory: all active data segments, put in place.
#pragma once

#include <string>

#include "common/result.h"
#include "wabt/ir.h"

namespace dormouse::aot {

// Whole wasm pages, up to the last one that holds a byte other than 0. Fails if a segment lies
// outside the initial memory. The module has at most one memory.
Result<std::string> BuildMemoryImage(const wabt::Module& module);

}  // namespace dormouse::aot
