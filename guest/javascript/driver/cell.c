// SPDX-License-Identifier: Apache-2.0
// One run: compile the cell, evaluate it, drain the event loop, report.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

// What went wrong in a run, to be reported once at its end. The first failure counts.
typedef struct Failure {
  bool present;
  JSValue value;  // owned
} Failure;

// A compiled cell.
typedef struct Cell {
  JSValue function;
  JSValue imports;  // source of its import declarations, or undefined
  bool asynchronous;
} Cell;

// Takes the pending exception. User code that registered process.on('uncaughtException') may
// deal with it; returns false then.
static bool Fail(JSContext* context, Failure* failure, const char* origin) {
  JSValue error = JS_GetException(context);
  if (driver.stop != kStopNone) {
    driver_keep_stop_trace(error);
    JS_FreeValue(context, error);
    return true;
  }
  JSValue arguments[] = {error, JS_NewString(context, origin)};
  JSValue handled = driver_call_hook("handleUncaught", 2, arguments);
  JS_FreeValue(context, arguments[1]);
  bool done = !JS_IsException(handled) && JS_ToBool(context, handled) == 1;
  if (JS_IsException(handled)) {
    // The handler itself threw: that is the error now.
    JS_FreeValue(context, error);
    error = JS_GetException(context);
  }
  JS_FreeValue(context, handled);
  if (done || failure->present || driver.stop != kStopNone) {
    JS_FreeValue(context, error);
    return !done;
  }
  failure->present = true;
  failure->value = error;
  return true;
}

static bool IsStopped(void) {
  if (driver_interrupt_flag != 0 && driver.stop == kStopNone) driver.stop = kStopInterrupted;
  return driver.stop != kStopNone;
}

// Runs microtasks and nextTick callbacks until there are none. False when the run must end.
static bool DrainMicrotasks(JSContext* context, Failure* failure) {
  for (;;) {
    if (IsStopped()) return false;
    if (driver.ticks_pending) {
      driver.ticks_pending = false;
      JSValue result = driver_call_hook("runTicks", 0, NULL);
      if (JS_IsException(result) && Fail(context, failure, "uncaughtException")) return false;
      JS_FreeValue(context, result);
    }
    JSContext* job_context;
    int status = JS_ExecutePendingJob(driver.runtime, &job_context);
    if (status < 0 && Fail(context, failure, "uncaughtException")) return false;
    if (status != 0 || driver.ticks_pending) continue;
    JS_ClearKeptObjects(driver.runtime);
    // What died then may have had a finalizer.
    if (!JS_IsJobPending(driver.runtime) && !driver.ticks_pending) return true;
  }
}

static bool IsPending(JSContext* context, JSValueConst value) {
  return JS_PromiseState(context, value) == JS_PROMISE_PENDING;
}

// Fires due timers until none is left or, when `promise` is a promise, until it is settled.
// False when the run must end.
static bool DrainTimers(JSContext* context, JSValueConst promise, Failure* failure) {
  while (driver.active_timers > 0) {
    if (JS_IsPromise(promise) && !IsPending(context, promise)) return true;
    JSValue result = driver_call_hook("runTimers", 0, NULL);
    if (JS_IsException(result) && Fail(context, failure, "uncaughtException")) return false;
    double wait_ms = 0;
    if (!JS_IsException(result)) JS_ToFloat64(context, &wait_ms, result);
    JS_FreeValue(context, result);
    if (!DrainMicrotasks(context, failure)) return false;
    if (driver.active_timers > 0 && wait_ms > 0) driver_sleep_ms(wait_ms);
    if (IsStopped()) return false;
  }
  return true;
}

// Waits for a promise; true when it is fulfilled. Its reason becomes the failure otherwise.
static bool Await(JSContext* context, JSValueConst promise, Failure* failure) {
  if (!DrainMicrotasks(context, failure)) return false;
  if (IsPending(context, promise) && !DrainTimers(context, promise, failure)) return false;
  JSPromiseStateEnum state = JS_PromiseState(context, promise);
  if (state == JS_PROMISE_FULFILLED) return true;
  if (state == JS_PROMISE_REJECTED) {
    JS_Throw(context, JS_PromiseResult(context, promise));
  } else {
    JS_ThrowPlainError(context,
                       "the awaited promise never settled: no timer is left that could settle it");
  }
  Fail(context, failure, "uncaughtException");
  return false;
}

static JSValue Compile(JSContext* context, const char* code, size_t length, const char* filename,
                       int flags) {
  JSValue function = JS_Eval(context, code, length, filename,
                             JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY | JS_EVAL_FLAG_REPL |
                                 flags);
  if (JS_IsException(function)) {
    JS_FreeValue(context, JS_TakeReplImportSource(context));
  }
  return function;
}

static bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// `{a: 1}` alone is an object, as in Node's REPL; `{a: 1};` is a block.
static bool LooksLikeObject(const char* code, size_t length) {
  size_t first = 0;
  while (first < length && IsBlank(code[first])) first++;
  if (first == length || code[first] != '{') return false;
  size_t last = length;
  while (last > first && IsBlank(code[last - 1])) last--;
  return code[last - 1] != ';';
}

static bool CompileCell(JSContext* context, const char* code, size_t length,
                        const char* filename, Cell* cell) {
  // A cell that says `await` somewhere is tried as an async function first. It may be a name in
  // it, so a failure means: try again as a plain script.
  bool may_await = memmem(code, length, "await", 5) != NULL;
  cell->function = JS_EXCEPTION;
  cell->imports = JS_UNDEFINED;
  if (LooksLikeObject(code, length)) {
    cell->asynchronous = may_await;
    cell->function = Compile(context, code, length, filename,
                             JS_EVAL_FLAG_REPL_EXPRESSION | (may_await ? JS_EVAL_FLAG_ASYNC : 0));
    if (JS_IsException(cell->function)) JS_FreeValue(context, JS_GetException(context));
  }
  if (JS_IsException(cell->function) && may_await) {
    cell->asynchronous = true;
    cell->function = Compile(context, code, length, filename, JS_EVAL_FLAG_ASYNC);
    if (JS_IsException(cell->function)) {
      JSValue error = JS_GetException(context);
      cell->asynchronous = false;
      cell->function = Compile(context, code, length, filename, 0);
      if (JS_IsException(cell->function)) {
        JS_FreeValue(context, JS_GetException(context));
        JS_Throw(context, error);
        return false;
      }
      JS_FreeValue(context, error);
    }
  } else if (JS_IsException(cell->function)) {
    cell->asynchronous = false;
    cell->function = Compile(context, code, length, filename, 0);
    if (JS_IsException(cell->function)) return false;
  }
  cell->imports = JS_TakeReplImportSource(context);
  return true;
}

// Loads and evaluates what the cell imports. False when that failed.
static bool DoImports(JSContext* context, JSValueConst source, const char* filename,
                      Failure* failure) {
  size_t length = 0;
  const char* text = JS_ToCStringLen(context, &length, source);
  JSValue module = text == NULL ? JS_EXCEPTION
                                : JS_Eval(context, text, length, filename,
                                          JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  JS_FreeCString(context, text);
  JSValue promise =
      JS_IsException(module) ? JS_EXCEPTION : JS_EvalReplImports(context, module);
  if (JS_IsException(promise)) {
    Fail(context, failure, "uncaughtException");
    return false;
  }
  JS_PromiseMarkAsHandled(context, promise);
  bool done = Await(context, promise, failure);
  JS_FreeValue(context, promise);
  return done;
}

// Evaluates the cell; its completion value, or an exception value when it failed.
static JSValue Evaluate(JSContext* context, Cell* cell, const char* filename, Failure* failure) {
  if (!JS_IsUndefined(cell->imports)) {
    bool imported = DoImports(context, cell->imports, filename, failure);
    JS_FreeValue(context, cell->imports);
    if (!imported) {
      JS_FreeValue(context, cell->function);
      return JS_EXCEPTION;
    }
  }
  JSValue result = JS_RunReplCell(context, cell->function);
  if (JS_IsException(result)) {
    return Fail(context, failure, "uncaughtException") ? JS_EXCEPTION : JS_UNDEFINED;
  }
  if (!cell->asynchronous) {
    if (DrainMicrotasks(context, failure)) return result;
    JS_FreeValue(context, result);
    return JS_EXCEPTION;
  }
  JS_PromiseMarkAsHandled(context, result);
  JSValue value = JS_EXCEPTION;
  if (Await(context, result, failure)) {
    JSValue box = JS_PromiseResult(context, result);
    value = JS_GetPropertyStr(context, box, "value");
    JS_FreeValue(context, box);
  }
  JS_FreeValue(context, result);
  return value;
}

static void ShowResult(JSContext* context, JSValueConst value) {
  if (JS_IsUndefined(value)) return;
  JSValue result = driver_call_hook("showResult", 1, &value);
  if (JS_IsException(result)) {
    JSValue error = JS_GetException(context);
    if (driver.stop != kStopNone) {
      driver_keep_stop_trace(error);
    } else {
      driver_emit_plain_result(value);
    }
    JS_FreeValue(context, error);
  }
  JS_FreeValue(context, result);
}

// The result is shown as soon as it is known; a promise that timers have yet to settle, after them.
static void Finish(JSContext* context, JSValueConst value, Failure* failure) {
  bool late = JS_IsPromise(value) && IsPending(context, value);
  if (!late) ShowResult(context, value);
  if (IsStopped() || !DrainMicrotasks(context, failure)) return;
  if (!DrainTimers(context, JS_UNDEFINED, failure)) return;
  if (late) ShowResult(context, value);
}

static void CompileAndRun(JSContext* context, const char* code, size_t length,
                          const char* filename, const int32_t* map, uint32_t map_count,
                          Failure* failure) {
  Cell cell;
  JS_SetSourceMap(context, map, map_count);
  bool compiled = CompileCell(context, code, length, filename, &cell);
  JS_SetSourceMap(context, NULL, 0);
  if (!compiled) {
    Fail(context, failure, "uncaughtException");
    return;
  }
  JSValue value = Evaluate(context, &cell, filename, failure);
  if (!JS_IsException(value)) Finish(context, value, failure);
  JS_FreeValue(context, value);
}

// Rejections that nobody handled before the run's end. The first is the run's error unless it has
// one already; the others go to standard error.
static void TakeRejections(JSContext* context, Failure* failure) {
  JSValue list = driver.rejections;
  driver.rejections = JS_UNDEFINED;
  int64_t length = 0;
  if (!JS_IsUndefined(list)) JS_GetLength(context, list, &length);
  for (int64_t i = 0; i < length && driver.stop == kStopNone; i++) {
    JSValue pair = JS_GetPropertyInt64(context, list, i);
    JSValue promise = JS_GetPropertyUint32(context, pair, 0);
    JSValue reason = JS_GetPropertyUint32(context, pair, 1);
    bool open = !JS_IsNull(promise);
    JS_FreeValue(context, pair);
    if (!open) {
      JS_FreeValue(context, reason);
    } else if (failure->present) {
      JSValue ignored = driver_call_hook("warnRejection", 1, &reason);
      if (JS_IsException(ignored)) JS_FreeValue(context, JS_GetException(context));
      JS_FreeValue(context, ignored);
      JS_FreeValue(context, reason);
    } else {
      JS_Throw(context, reason);
      Fail(context, failure, "unhandledRejection");
    }
    JS_FreeValue(context, promise);
  }
  JS_FreeValue(context, list);
}

static void ReportFailure(JSContext* context, JSValue error) {
  JSValue result = driver_call_hook("reportError", 1, &error);
  if (JS_IsException(result)) {
    JSValue second = JS_GetException(context);
    if (driver.stop != kStopNone) {
      driver_keep_stop_trace(second);
    } else {
      driver_emit_plain_error(error);
    }
    JS_FreeValue(context, second);
  }
  JS_FreeValue(context, result);
}

static void Report(JSContext* context, Failure* failure) {
  if (driver.stop == kStopNone && failure->present) ReportFailure(context, failure->value);
  if (driver.stop == kStopExit) {
    char json[64];
    int size = snprintf(json, sizeof json, "{\"code\":%d}", driver.exit_code);
    driver_emit_bytes(3, json, (size_t)size);
  } else if (driver.stop == kStopInterrupted) {
    driver_emit_interrupted();
  }
}

// A list of numbers as a source map; NULL when there is none.
static int32_t* NewSourceMap(JSContext* context, JSValueConst list, uint32_t* count) {
  int64_t length = 0;
  *count = 0;
  if (!JS_IsArray(list) || JS_GetLength(context, list, &length) != 0) return NULL;
  int32_t* map = malloc((size_t)length * sizeof *map + 1);
  if (map == NULL) return NULL;
  for (int64_t i = 0; i < length; i++) {
    JSValue number = JS_GetPropertyInt64(context, list, i);
    JS_ToInt32(context, &map[i], number);
    JS_FreeValue(context, number);
  }
  *count = (uint32_t)(length / 4);
  return map;
}

// TypeScript becomes JavaScript first; positions in it stay those of the cell.
static void RunTypeScript(JSContext* context, const char* code, size_t length,
                          const char* filename, Failure* failure) {
  JSValue arguments[] = {JS_NewStringLen(context, code, length), JS_NewString(context, filename)};
  JSValue pair = driver_call_hook("transpile", 2, arguments);
  JS_FreeValue(context, arguments[0]);
  JS_FreeValue(context, arguments[1]);
  if (JS_IsException(pair)) {
    Fail(context, failure, "uncaughtException");
    return;
  }
  JSValue script = JS_GetPropertyUint32(context, pair, 0);
  JSValue list = JS_GetPropertyUint32(context, pair, 1);
  JS_FreeValue(context, pair);
  uint32_t count = 0;
  int32_t* map = NewSourceMap(context, list, &count);
  JS_FreeValue(context, list);
  size_t script_length = 0;
  const char* text = JS_ToCStringLen(context, &script_length, script);
  JS_FreeValue(context, script);
  if (text == NULL) {
    Fail(context, failure, "uncaughtException");
  } else {
    JS_SetLenientImports(context, true);
    CompileAndRun(context, text, script_length, filename, map, count, failure);
    JS_SetLenientImports(context, false);
  }
  JS_FreeCString(context, text);
  free(map);
}

void driver_run_cell(const char* code, size_t length, const char* filename, bool typescript) {
  JSContext* context = driver.context;
  Failure failure = {.present = false, .value = JS_UNDEFINED};
  if (typescript) {
    RunTypeScript(context, code, length, filename, &failure);
  } else {
    CompileAndRun(context, code, length, filename, NULL, 0, &failure);
  }
  TakeRejections(context, &failure);
  IsStopped();
  Report(context, &failure);
  JS_FreeValue(context, failure.value);

  // From here on nothing of the user's runs, and a late stop has nothing to stop.
  driver.tearing_down = true;
  JS_ClearKeptObjects(driver.runtime);
  JS_DropPendingJobs(driver.runtime);
  JS_FreeValue(context, driver.rejections);
  driver.rejections = JS_UNDEFINED;
  driver.ticks_pending = false;
  if (driver.active_timers > 0) {
    JSValue ignored = driver_call_hook("dropTimers", 0, NULL);
    if (JS_IsException(ignored)) JS_FreeValue(context, JS_GetException(context));
    JS_FreeValue(context, ignored);
    driver.active_timers = 0;
  }
  JS_ForgetFailedModules(context);
  JS_EndReplCell(context);
}
