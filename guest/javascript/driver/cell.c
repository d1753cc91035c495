// SPDX-License-Identifier: Apache-2.0
// One run: compile the cell, evaluate it, drain the event loop, report.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

// What went wrong in a run, to be reported once at its end.
typedef struct Failure {
  bool present;
  JSValue value;  // owned; meaningless when the run was stopped
} Failure;

static void Fail(JSContext* context, Failure* failure) {
  JSValue error = JS_GetException(context);
  if (driver.stop != kStopNone || failure->present) {
    JS_FreeValue(context, error);
    return;
  }
  failure->present = true;
  failure->value = error;
}

// Runs microtasks and nextTick callbacks until there are none. False when one of them threw.
static bool DrainMicrotasks(JSContext* context, Failure* failure) {
  for (;;) {
    if (driver.stop != kStopNone) return false;
    if (driver.ticks_pending) {
      driver.ticks_pending = false;
      JSValue result = driver_call_hook("runTicks", 0, NULL);
      if (JS_IsException(result)) {
        Fail(context, failure);
        return false;
      }
      JS_FreeValue(context, result);
    }
    JSContext* job_context;
    int status = JS_ExecutePendingJob(driver.runtime, &job_context);
    if (status < 0) {
      Fail(context, failure);
      return false;
    }
    if (status == 0 && !driver.ticks_pending) return true;
  }
}

// Fires due timers until none is left or one throws.
static bool DrainTimers(JSContext* context, Failure* failure) {
  while (driver.active_timers > 0) {
    JSValue result = driver_call_hook("runTimers", 0, NULL);
    if (JS_IsException(result)) {
      Fail(context, failure);
      return false;
    }
    double wait_ms = -1;
    JS_ToFloat64(context, &wait_ms, result);
    JS_FreeValue(context, result);
    if (!DrainMicrotasks(context, failure)) return false;
    if (driver.active_timers > 0 && wait_ms > 0) driver_sleep_ms(wait_ms);
    if (driver_interrupt_flag != 0 && driver.stop == kStopNone) driver.stop = kStopInterrupted;
    if (driver.stop != kStopNone) return false;
  }
  return true;
}

static void EmitPlainError(const char* name, const char* message) {
  char json[512];
  int length = snprintf(json, sizeof json,
                        "{\"name\":\"%s\",\"message\":\"%s\",\"traceback\":[\"%s: %s\"]}", name,
                        message, name, message);
  driver_emit_bytes(2, json, (size_t)length);
}

static void ReportFailure(JSContext* context, JSValue error) {
  JSValue result = driver_call_hook("reportError", 1, &error);
  if (JS_IsException(result)) {
    JS_FreeValue(context, JS_GetException(context));
    EmitPlainError("Error", "an error that cannot be shown");
  }
  JS_FreeValue(context, result);
}

static void ReportResult(JSContext* context, JSValue value) {
  if (JS_IsUndefined(value)) return;
  JSValue result = driver_call_hook("showResult", 1, &value);
  if (JS_IsException(result)) JS_FreeValue(context, JS_GetException(context));
  JS_FreeValue(context, result);
}

// Evaluates the code; the completion value, or an exception.
static JSValue Evaluate(JSContext* context, const char* code, size_t length,
                        const char* filename) {
  return JS_Eval(context, code, length, filename, JS_EVAL_TYPE_GLOBAL);
}

void driver_run_cell(const char* code, size_t length, const char* filename, bool typescript) {
  (void)typescript;
  JSContext* context = driver.context;
  Failure failure = {.present = false, .value = JS_UNDEFINED};
  JSValue result = Evaluate(context, code, length, filename);
  if (JS_IsException(result)) {
    Fail(context, &failure);
    result = JS_UNDEFINED;
  }
  if (!failure.present && DrainMicrotasks(context, &failure)) {
    ReportResult(context, result);
    DrainTimers(context, &failure);
  }
  JS_FreeValue(context, result);
  if (driver.stop == kStopInterrupted) {
    driver.stop = kStopNone;
    driver_interrupt_flag = 0;
    EmitPlainError("InternalError", "interrupted");
  } else if (driver.stop == kStopExit) {
    char json[64];
    int size = snprintf(json, sizeof json, "{\"code\":%d}", driver.exit_code);
    driver_emit_bytes(3, json, (size_t)size);
  } else if (failure.present) {
    ReportFailure(context, failure.value);
  }
  JS_FreeValue(context, failure.value);
}
