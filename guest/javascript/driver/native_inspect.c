// SPDX-License-Identifier: Apache-2.0
// What an inspector must know about a value and cannot ask in JavaScript.
#include "native.h"

// promiseDetails(value): [state, result], state 0 pending, 1 fulfilled, 2 rejected; or undefined.
static JSValue PromiseDetails(JSContext* context, JSValueConst self, int argc,
                              JSValueConst* argv) {
  (void)self;
  (void)argc;
  JSPromiseStateEnum state = JS_PromiseState(context, argv[0]);
  if (state == JS_PROMISE_NOT_A_PROMISE) return JS_UNDEFINED;
  JSValue pair = JS_NewArray(context);
  JS_SetPropertyUint32(context, pair, 0, JS_NewInt32(context, state));
  JS_SetPropertyUint32(
      context, pair, 1,
      state == JS_PROMISE_PENDING ? JS_UNDEFINED : JS_PromiseResult(context, argv[0]));
  return pair;
}

// proxyDetails(value): [target, handler]; or undefined.
static JSValue ProxyDetails(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  if (!JS_IsProxy(argv[0])) return JS_UNDEFINED;
  JSValue pair = JS_NewArray(context);
  JSValue parts[2] = {JS_GetProxyTarget(context, argv[0]), JS_GetProxyHandler(context, argv[0])};
  for (uint32_t i = 0; i < 2; i++) {
    if (JS_IsException(parts[i])) {  // a revoked proxy
      JS_FreeValue(context, JS_GetException(context));
      parts[i] = JS_NULL;
    }
    JS_SetPropertyUint32(context, pair, i, parts[i]);
  }
  return pair;
}

// className(value): the name of the internal class, whatever the object says of itself.
static JSValue ClassName(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  if (!JS_IsObject(argv[0])) return JS_NewString(context, "");
  if (JS_IsProxy(argv[0])) return JS_NewString(context, "Proxy");
  JSAtom name = JS_GetClassName(JS_GetRuntime(context), JS_GetClassID(argv[0]));
  JSValue text = JS_AtomToString(context, name);
  JS_FreeAtom(context, name);
  return text;
}

// nonIndexKeys(value, enumerableOnly): own string keys that are not array indexes.
static JSValue NonIndexKeys(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  return JS_GetNonIndexKeys(context, argv[0], argc > 1 && JS_ToBool(context, argv[1]) == 1);
}

// mapPreview(iterator): [items, whether they are pairs], or undefined.
static JSValue MapPreview(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  bool pairs = false;
  JSValue items = JS_PreviewIterator(context, argv[0], 100, &pairs);
  if (JS_IsException(items) || JS_IsUndefined(items)) return items;
  JSValue result = JS_NewArray(context);
  JS_SetPropertyUint32(context, result, 0, items);
  JS_SetPropertyUint32(context, result, 1, JS_NewBool(context, pairs));
  return result;
}

// memoryUsage(): [heap in use, memory of the instance], in bytes
static JSValue MemoryUsage(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  (void)argv;
  JSValue pair = JS_NewArray(context);
  JS_SetPropertyUint32(context, pair, 0,
                       JS_NewInt64(context, (int64_t)JS_GetMallocSize(JS_GetRuntime(context))));
  JS_SetPropertyUint32(context, pair, 1,
                       JS_NewInt64(context, (int64_t)__builtin_wasm_memory_size(0) * 65536));
  return pair;
}

static JSValue CollectGarbage(JSContext* context, JSValueConst self, int argc,
                              JSValueConst* argv) {
  (void)self;
  (void)argc;
  (void)argv;
  JS_RunGC(JS_GetRuntime(context));
  return JS_UNDEFINED;
}

const JSCFunctionListEntry native_inspect_functions[] = {
    JS_CFUNC_DEF("promiseDetails", 1, PromiseDetails),
    JS_CFUNC_DEF("proxyDetails", 1, ProxyDetails),
    JS_CFUNC_DEF("className", 1, ClassName),
    JS_CFUNC_DEF("nonIndexKeys", 2, NonIndexKeys),
    JS_CFUNC_DEF("mapPreview", 1, MapPreview),
    JS_CFUNC_DEF("memoryUsage", 0, MemoryUsage),
    JS_CFUNC_DEF("collectGarbage", 0, CollectGarbage),
};
const int native_inspect_function_count =
    sizeof native_inspect_functions / sizeof native_inspect_functions[0];
