// SPDX-License-Identifier: Apache-2.0
// Reads and validates a wasm module with libwabt.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"
#include "wabt/ir.h"

namespace dormouse::aot {

// Decodes `bytes` with its name section and validates it. `name` stands for the file in messages.
// The module's parts may still use features that the emitter refuses.
Result<std::unique_ptr<wabt::Module>> ReadModule(const std::string& name, std::string_view bytes);

}  // namespace dormouse::aot
