// SPDX-License-Identifier: Apache-2.0
// The headers that generated C code includes, as text. Defined by a file that CMake makes of them.
#pragma once

#include <string_view>

namespace dormouse::aot {

extern const std::string_view kEngineAbiHeader;      // src/engine/engine_abi.h
extern const std::string_view kEngineRuntimeHeader;  // engine_runtime.h
// For modules with exceptions.
extern const std::string_view kExceptionAbiHeader;      // src/engine/exception_abi.h
extern const std::string_view kExceptionRuntimeHeader;  // exception_runtime.h

}  // namespace dormouse::aot
