// SPDX-License-Identifier: Apache-2.0
// The exports of the engine ABI (docs/engine-abi.md) for QuickJS.
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define EXPORT(name) __attribute__((export_name(name), used))

// The shadow stack is 8 MiB. QuickJS may use this much of it; the rest is for what runs without a
// check of its own (the C library, the driver). Native frames are larger than shadow frames, by a
// factor that the README states, and the host's stack has room for that.
static const size_t kStackBytes = 4u << 20;

Driver driver;
volatile uint32_t driver_interrupt_flag;

typedef struct InterruptEntry {
  uint32_t address;
  uint32_t size;
  uint32_t operation;
  uint32_t value;
} InterruptEntry;

static struct {
  uint32_t count;
  InterruptEntry entry[1];
} interrupt_table;

// Given up when memory runs out, so that the error itself and what handles it have some; taken again
// at the start of a run.
static const size_t kReserveBytes = 256 << 10;
static void* reserve;

static void OnOutOfMemory(void) {
  free(reserve);
  reserve = NULL;
}

static int OnInterruptPoll(JSRuntime* runtime, void* opaque) {
  (void)runtime;
  (void)opaque;
  if (driver.tearing_down) return 0;
  if (driver_interrupt_flag != 0 && driver.stop == kStopNone) driver.stop = kStopInterrupted;
  return driver.stop != kStopNone;
}

// Keeps the list of rejections that nobody has handled yet. A handler that is added before the run
// ends takes its entry out again.
static void OnRejection(JSContext* context, JSValueConst promise, JSValueConst reason,
                        bool is_handled, void* opaque) {
  (void)opaque;
  if (driver.stop != kStopNone) return;
  if (!is_handled) {
    if (JS_IsUndefined(driver.rejections)) driver.rejections = JS_NewArray(context);
    JSValue pair = JS_NewArray(context);
    JS_SetPropertyUint32(context, pair, 0, JS_DupValue(context, promise));
    JS_SetPropertyUint32(context, pair, 1, JS_DupValue(context, reason));
    int64_t length = 0;
    JS_GetLength(context, driver.rejections, &length);
    JS_SetPropertyInt64(context, driver.rejections, length, pair);
    return;
  }
  int64_t length = 0;
  if (JS_IsUndefined(driver.rejections)) return;
  JS_GetLength(context, driver.rejections, &length);
  for (int64_t i = length - 1; i >= 0; i--) {
    JSValue pair = JS_GetPropertyInt64(context, driver.rejections, i);
    JSValue candidate = JS_GetPropertyUint32(context, pair, 0);
    bool same = JS_IsStrictEqual(context, candidate, promise);
    JS_FreeValue(context, candidate);
    if (same) JS_SetPropertyUint32(context, pair, 0, JS_NULL);
    JS_FreeValue(context, pair);
    if (same) break;
  }
}

JSValue driver_call_hook(const char* name, int argc, JSValueConst* argv) {
  JSContext* context = driver.context;
  JSValue function = JS_GetPropertyStr(context, driver.hooks, name);
  JSValue result = JS_Call(context, function, JS_UNDEFINED, argc, argv);
  JS_FreeValue(context, function);
  return result;
}

static int EvaluateMain(JSContext* context) {
  size_t length = 0;
  const char* source = driver_builtin_source("dormouse:main", &length);
  if (source == NULL) return -1;
  JSValue promise =
      JS_Eval(context, source, length, "dormouse:main", JS_EVAL_TYPE_MODULE);
  JSContext* job_context;
  while (!JS_IsException(promise) && JS_ExecutePendingJob(driver.runtime, &job_context) > 0) {
  }
  JSValue error = JS_UNDEFINED;
  bool failed = JS_IsException(promise);
  if (failed) {
    error = JS_GetException(context);
  } else if (JS_PromiseState(context, promise) != JS_PROMISE_FULFILLED) {
    failed = true;
    error = JS_PromiseResult(context, promise);
  }
  if (failed) {
    const char* message = JS_ToCString(context, error);
    JSValue stack = JS_GetPropertyStr(context, error, "stack");
    const char* trace = JS_ToCString(context, stack);
    fprintf(stderr, "boot: %s\n%s\n", message ? message : "?", trace ? trace : "");
  }
  JS_FreeValue(context, promise);
  return failed ? -1 : 0;
}

// Runs cells that leave nothing behind, so that what the first runs of a context write to the heap (blocks that
// were freed, tables that grow once) is in the boot image already and not in each snapshot.
static void WarmUp(void) {
  static const char* const kCells[] = {
      "{ let y = 1; const list = [1, 2, 3].map((n) => n * n); class C { m() { return list } } y; void 0 };",
      "{ let y = 1; void 0 };",
      "void 0",
  };
  JSValue value = driver_call_hook("hasTranspilers", 0, NULL);
  bool typescript = JS_ToBool(driver.context, value) == 1;
  JS_FreeValue(driver.context, value);
  for (size_t i = 0; i < sizeof kCells / sizeof kCells[0]; i++) {
    driver_run_cell(kCells[i], strlen(kCells[i]), "warm-up", typescript);
  }
  driver.tearing_down = false;
}

EXPORT("dormouse_boot") int dormouse_boot(void) {
  driver.hooks = JS_UNDEFINED;
  driver.rejections = JS_UNDEFINED;
  driver.runtime = JS_NewRuntime();
  if (driver.runtime == NULL) return 1;
  JS_SetMaxStackSize(driver.runtime, kStackBytes);
  driver.context = JS_NewContext(driver.runtime);
  if (driver.context == NULL) return 2;
  JS_SetInterruptHandler(driver.runtime, OnInterruptPoll, NULL);
  JS_SetHostPromiseRejectionTracker(driver.runtime, OnRejection, NULL);
  JS_SetOutOfMemoryHook(driver.runtime, OnOutOfMemory);
  driver_install_module_loader(driver.runtime);
  if (driver_define_native_module(driver.context) != 0) return 3;
  if (EvaluateMain(driver.context) != 0) return 4;
  if (JS_CaptureGlobals(driver.context) != 0) return 5;
  driver.booted = true;
  WarmUp();
  JS_FreezeHeap(driver.runtime);
  WarmUp();
  return 0;
}

EXPORT("dormouse_alloc") void* dormouse_alloc(size_t size) {
  return malloc(size + 1);
}

EXPORT("dormouse_reseed") void dormouse_reseed(void) {
  uint64_t seed = 0;
  if (getentropy(&seed, sizeof seed) != 0 || seed == 0) seed = 0x9e3779b97f4a7c15u;
  JS_SetRandomSeed(driver.context, seed);
  JSValue ignored = driver_call_hook("markBirth", 0, NULL);
  if (JS_IsException(ignored)) JS_FreeValue(driver.context, JS_GetException(driver.context));
  JS_FreeValue(driver.context, ignored);
}

EXPORT("dormouse_interrupt_table") void* dormouse_interrupt_table(void) {
  interrupt_table.count = 1;
  interrupt_table.entry[0] = (InterruptEntry){
      .address = (uint32_t)(uintptr_t)&driver_interrupt_flag, .size = 4, .operation = 0, .value = 1};
  return &interrupt_table;
}

// Copies an own string property of the request; NULL when it is absent. Own properties only, so
// that what user code hangs on Object.prototype is not taken for a request.
static JSValue RequestField(JSContext* context, JSValueConst request, const char* name) {
  JSAtom atom = JS_NewAtom(context, name);
  JSPropertyDescriptor descriptor;
  int found = JS_GetOwnProperty(context, &descriptor, request, atom);
  JS_FreeAtom(context, atom);
  if (found <= 0) return JS_UNDEFINED;
  JS_FreeValue(context, descriptor.getter);
  JS_FreeValue(context, descriptor.setter);
  return descriptor.value;
}

EXPORT("dormouse_run") int dormouse_run(char* address, size_t length) {
  JSContext* context = driver.context;
  JSRuntime* runtime = driver.runtime;
  JS_UpdateStackTop(runtime);
  driver_interrupt_flag = 0;
  driver.stop = kStopNone;
  driver.tearing_down = false;
  driver.run_number++;
  if (reserve == NULL) reserve = malloc(kReserveBytes);
  address[length] = 0;
  JSValue request = JS_ParseJSON(context, address, length, "request");
  free(address);
  if (JS_IsException(request)) {
    JS_FreeValue(context, JS_GetException(context));
    return 1;
  }
  JSValue env = RequestField(context, request, "env");
  JSValue cwd = RequestField(context, request, "cwd");
  JSValue context_env = RequestField(context, request, "contextEnv");
  JSValue context_cwd = RequestField(context, request, "contextCwd");
  JSValue code = RequestField(context, request, "code");
  JSValue filename = RequestField(context, request, "filename");
  JSValue language = RequestField(context, request, "language");
  bool scoped = JS_IsObject(env) || JS_IsString(cwd) || JS_IsObject(context_env) ||
                JS_IsString(context_cwd);
  if (scoped) {
    JSValueConst arguments[] = {env, cwd, context_env, context_cwd};
    JSValue ignored = driver_call_hook("beginRun", 4, arguments);
    if (JS_IsException(ignored)) JS_FreeValue(context, JS_GetException(context));
    JS_FreeValue(context, ignored);
  }
  size_t code_length = 0;
  const char* text = JS_ToCStringLen(context, &code_length, code);
  const char* name = JS_ToCString(context, filename);
  const char* language_name = JS_ToCString(context, language);
  int status = 1;
  if (text != NULL && name != NULL && language_name != NULL) {
    driver_run_cell(text, code_length, name, strcmp(language_name, "typescript") == 0);
    status = 0;
  }
  JS_FreeCString(context, text);
  JS_FreeCString(context, name);
  JS_FreeCString(context, language_name);
  if (scoped) {
    driver.tearing_down = true;
    JSValue ignored = driver_call_hook("endRun", 0, NULL);
    if (JS_IsException(ignored)) JS_FreeValue(context, JS_GetException(context));
    JS_FreeValue(context, ignored);
  }
  JS_FreeValue(context, env);
  JS_FreeValue(context, cwd);
  JS_FreeValue(context, context_env);
  JS_FreeValue(context, context_cwd);
  JS_FreeValue(context, code);
  JS_FreeValue(context, filename);
  JS_FreeValue(context, language);
  JS_FreeValue(context, request);
  free(driver.stop_trace);
  driver.stop_trace = NULL;
  driver_interrupt_flag = 0;
  driver.stop = kStopNone;
  return status;
}
