// SPDX-License-Identifier: Apache-2.0
// Finding and compiling modules.
#include <string.h>

#include "driver.h"
#include "embedded.h"

const char* driver_builtin_source(const char* name, size_t* length) {
  for (size_t i = 0; i < embedded_module_count; i++) {
    if (strcmp(embedded_modules[i].name, name) == 0) {
      *length = embedded_modules[i].length;
      return (const char*)embedded_modules[i].text;
    }
  }
  return NULL;
}

static char* Normalize(JSContext* context, const char* base, const char* name, void* opaque) {
  (void)opaque;
  (void)base;
  return js_strdup(context, name);
}

static JSModuleDef* Load(JSContext* context, const char* name, void* opaque,
                         JSValueConst attributes) {
  (void)opaque;
  (void)attributes;
  size_t length = 0;
  const char* source = driver_builtin_source(name, &length);
  if (source == NULL) {
    JS_ThrowReferenceError(context, "Cannot find module '%s'", name);
    return NULL;
  }
  JSValue module = JS_Eval(context, source, length, name,
                           JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(module)) return NULL;
  JSModuleDef* definition = JS_VALUE_GET_PTR(module);
  JS_FreeValue(context, module);
  return definition;
}

void driver_install_module_loader(JSRuntime* runtime) {
  JS_SetModuleLoaderFunc2(runtime, Normalize, Load, NULL, NULL);
}
