// SPDX-License-Identifier: Apache-2.0
// Finding and compiling modules. Names that begin with "dormouse:" or "node:" are files of runtime/,
// compiled into the engine; everything else is decided by runtime/modules.js.
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "native.h"

const char* driver_builtin_source(const char* name, size_t* length) {
  for (size_t i = 0; i < embedded_module_count; i++) {
    if (strcmp(embedded_modules[i].name, name) == 0) {
      *length = embedded_modules[i].length;
      return (const char*)embedded_modules[i].text;
    }
  }
  return NULL;
}

// Before the hooks exist only built-in modules import one another.
static char* Normalize(JSContext* context, const char* base, const char* name, void* opaque) {
  (void)opaque;
  if (!driver.booted) return js_strdup(context, name);
  JSValue arguments[] = {JS_NewString(context, name), JS_NewString(context, base)};
  JSValue resolved = driver_call_hook("resolveImport", 2, arguments);
  JS_FreeValue(context, arguments[0]);
  JS_FreeValue(context, arguments[1]);
  if (JS_IsException(resolved)) return NULL;
  const char* text = JS_ToCString(context, resolved);
  JS_FreeValue(context, resolved);
  if (text == NULL) return NULL;
  char* copy = js_strdup(context, text);
  JS_FreeCString(context, text);
  return copy;
}

static JSModuleDef* CompileModule(JSContext* context, const char* source, size_t length,
                                  const char* name) {
  JSValue module =
      JS_Eval(context, source, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(module)) return NULL;
  JSModuleDef* definition = JS_VALUE_GET_PTR(module);
  JS_FreeValue(context, module);
  return definition;
}

// A module whose exports are the values of an object: JSON, CommonJS.
static int InitValueModule(JSContext* context, JSModuleDef* module) {
  JSValue values = JS_GetModulePrivateValue(context, module);
  JSPropertyEnum* names = NULL;
  uint32_t count = 0;
  int status = JS_GetOwnPropertyNames(context, &names, &count, values, JS_GPN_STRING_MASK);
  for (uint32_t i = 0; status == 0 && i < count; i++) {
    JSValue value = JS_GetProperty(context, values, names[i].atom);
    const char* name = JS_AtomToCString(context, names[i].atom);
    if (JS_IsException(value) || name == NULL) {
      JS_FreeValue(context, value);
      status = -1;
    } else {
      status = JS_SetModuleExport(context, module, name, value);
    }
    JS_FreeCString(context, name);
  }
  JS_FreePropertyEnum(context, names, count);
  JS_FreeValue(context, values);
  return status;
}

static JSModuleDef* NewValueModule(JSContext* context, const char* name, JSValueConst values) {
  JSModuleDef* module = JS_NewCModule(context, name, InitValueModule);
  if (module == NULL) return NULL;
  JS_SetModulePrivateValue(context, module, JS_DupValue(context, values));
  JSPropertyEnum* names = NULL;
  uint32_t count = 0;
  int status = JS_GetOwnPropertyNames(context, &names, &count, values, JS_GPN_STRING_MASK);
  for (uint32_t i = 0; status == 0 && i < count; i++) {
    const char* text = JS_AtomToCString(context, names[i].atom);
    status = text == NULL ? -1 : JS_AddModuleExport(context, module, text);
    JS_FreeCString(context, text);
  }
  JS_FreePropertyEnum(context, names, count);
  return status == 0 ? module : NULL;
}

static void SetImportMeta(JSContext* context, JSModuleDef* module, const char* name) {
  JSValue meta = JS_GetImportMeta(context, module);
  JSValue arguments[] = {JS_DupValue(context, meta), JS_NewString(context, name)};
  JSValue ignored = driver_call_hook("fillImportMeta", 2, arguments);
  if (JS_IsException(ignored)) JS_FreeValue(context, JS_GetException(context));
  JS_FreeValue(context, ignored);
  JS_FreeValue(context, arguments[0]);
  JS_FreeValue(context, arguments[1]);
  JS_FreeValue(context, meta);
}

// The hook answers with the source of an ES module (a string), or with an object of exports.
static JSModuleDef* LoadUserModule(JSContext* context, const char* name,
                                   JSValueConst attributes) {
  JSValue arguments[] = {JS_NewString(context, name), JS_DupValue(context, attributes)};
  JSValue loaded = driver_call_hook("loadModule", 2, arguments);
  JS_FreeValue(context, arguments[0]);
  JS_FreeValue(context, arguments[1]);
  JSModuleDef* module = NULL;
  if (JS_IsString(loaded)) {
    size_t length = 0;
    const char* source = JS_ToCStringLen(context, &length, loaded);
    if (source != NULL) module = CompileModule(context, source, length, name);
    JS_FreeCString(context, source);
    if (module != NULL) SetImportMeta(context, module, name);
  } else if (!JS_IsException(loaded)) {
    module = NewValueModule(context, name, loaded);
  }
  JS_FreeValue(context, loaded);
  return module;
}

static JSModuleDef* Load(JSContext* context, const char* name, void* opaque,
                         JSValueConst attributes) {
  (void)opaque;
  size_t length = 0;
  const char* source = driver_builtin_source(name, &length);
  if (source != NULL) return CompileModule(context, source, length, name);
  if (driver.booted) return LoadUserModule(context, name, attributes);
  JS_ThrowReferenceError(context, "no runtime module %s", name);
  return NULL;
}

void driver_install_module_loader(JSRuntime* runtime) {
  JS_SetModuleLoaderFunc2(runtime, Normalize, Load, NULL, NULL);
}

// forgetModule(name): the next import of it loads it anew.
static JSValue ForgetModule(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  JSAtom name = JS_ValueToAtom(context, argv[0]);
  if (name == JS_ATOM_NULL) return JS_EXCEPTION;
  JS_ForgetModule(context, name);
  JS_FreeAtom(context, name);
  return JS_UNDEFINED;
}

static JSValue SetCellMeta(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  JS_SetReplMeta(context, JS_DupValue(context, argv[0]));
  return JS_UNDEFINED;
}

static JSValue CompileOrEval(JSContext* context, int argc, JSValueConst* argv, int flags) {
  int line = 1;
  if (argc > 2) JS_ToInt32(context, &line, argv[2]);
  size_t length = 0;
  const char* source = JS_ToCStringLen(context, &length, argv[0]);
  const char* filename = JS_ToCString(context, argv[1]);
  JSValue result = JS_EXCEPTION;
  if (source != NULL && filename != NULL) {
    JSEvalOptions options = {.version = JS_EVAL_OPTIONS_VERSION,
                             .eval_flags = JS_EVAL_TYPE_GLOBAL | flags,
                             .filename = filename,
                             .line_num = line};
    result = JS_Eval2(context, source, length, &options);
  }
  JS_FreeCString(context, source);
  JS_FreeCString(context, filename);
  return result;
}

// evalScript(source, filename, line): sloppy global code, whose first line has that number.
static JSValue EvalScript(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  return CompileOrEval(context, argc, argv, 0);
}

// checkScript(source, filename): throws if evalScript would not compile it.
static JSValue CheckScript(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  JSValue script = CompileOrEval(context, argc, argv, JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(script)) return script;
  JS_FreeValue(context, script);
  return JS_UNDEFINED;
}

// Whether the source is what require() can load: the body of a sloppy function.
static bool CompilesAsFunctionBody(JSContext* context, const char* source, size_t length) {
  static const char kHead[] = "(function (exports, require, module, __filename, __dirname) {";
  static const char kTail[] = "\n})";
  size_t size = sizeof kHead - 1 + length + sizeof kTail - 1;
  char* text = malloc(size + 1);
  if (text == NULL) return false;
  memcpy(text, kHead, sizeof kHead - 1);
  memcpy(text + sizeof kHead - 1, source, length);
  memcpy(text + sizeof kHead - 1 + length, kTail, sizeof kTail);
  JSValue function = JS_Eval(context, text, size, "<unnamed>",
                             JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
  free(text);
  bool compiles = !JS_IsException(function);
  JS_FreeValue(context, compiles ? function : JS_GetException(context));
  return compiles;
}

// looksLikeModule(source): whether it is a module and no script, as by its import and export
// declarations. Without them most sources are both, and then they are scripts.
static JSValue LooksLikeModule(JSContext* context, JSValueConst self, int argc,
                               JSValueConst* argv) {
  (void)self;
  (void)argc;
  size_t length = 0;
  const char* source = JS_ToCStringLen(context, &length, argv[0]);
  if (source == NULL) return JS_EXCEPTION;
  bool is_module =
      !CompilesAsFunctionBody(context, source, length) && JS_DetectModule(source, length);
  JS_FreeCString(context, source);
  return JS_NewBool(context, is_module);
}

const JSCFunctionListEntry native_module_functions[] = {
    JS_CFUNC_DEF("forgetModule", 1, ForgetModule),
    JS_CFUNC_DEF("setCellMeta", 1, SetCellMeta),
    JS_CFUNC_DEF("evalScript", 3, EvalScript),
    JS_CFUNC_DEF("checkScript", 2, CheckScript),
    JS_CFUNC_DEF("looksLikeModule", 1, LooksLikeModule),
};
const int native_module_function_count =
    sizeof native_module_functions / sizeof native_module_functions[0];
