// SPDX-License-Identifier: Apache-2.0
// The function lists that make up the module `dormouse:native`.
#pragma once

#include "driver.h"

extern const JSCFunctionListEntry native_core_functions[];
extern const int native_core_function_count;
extern const JSCFunctionListEntry native_fs_functions[];
extern const int native_fs_function_count;
extern const JSCFunctionListEntry native_text_functions[];
extern const int native_text_function_count;
extern const JSCFunctionListEntry native_inspect_functions[];
extern const int native_inspect_function_count;
extern const JSCFunctionListEntry native_module_functions[];
extern const int native_module_function_count;
