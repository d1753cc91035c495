// SPDX-License-Identifier: Apache-2.0
// The module `dormouse:native`: what runtime/ needs from C.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include "native.h"

__attribute__((import_module("dormouse"), import_name("emit"))) void dormouse_emit(
    int kind, const char* address, size_t length);

// QuickJS writes a lone surrogate as the three bytes ED A0..BF xx; U+FFFD has three bytes too.
static void ReplaceSurrogates(char* text, size_t length) {
  for (size_t i = 0; i + 2 < length; i++) {
    if ((unsigned char)text[i] == 0xed && (unsigned char)text[i + 1] >= 0xa0) {
      memcpy(text + i, "\xef\xbf\xbd", 3);
      i += 2;
    }
  }
}

char* driver_utf8(JSContext* context, JSValueConst value, size_t* length) {
  const char* text = JS_ToCStringLen(context, length, value);
  if (text == NULL) return NULL;
  char* copy = malloc(*length + 1);
  if (copy == NULL) {
    JS_FreeCString(context, text);
    JS_ThrowOutOfMemory(context);
    return NULL;
  }
  memcpy(copy, text, *length + 1);
  JS_FreeCString(context, text);
  ReplaceSurrogates(copy, *length);
  return copy;
}

void driver_emit_bytes(int kind, const char* json, size_t length) {
  dormouse_emit(kind, json, length);
}

void driver_emit_string(JSContext* context, int kind, JSValueConst json) {
  size_t length = 0;
  char* text = driver_utf8(context, json, &length);
  if (text == NULL) return;
  dormouse_emit(kind, text, length);
  free(text);
}

static int WriteAll(int fd, const char* data, size_t length) {
  while (length > 0) {
    ssize_t written = write(fd, data, length);
    if (written < 0) {
      if (errno == EINTR) return 0;
      return -errno;
    }
    data += written;
    length -= (size_t)written;
  }
  return 0;
}

static JSValue NativeEmit(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  int kind = 0;
  if (JS_ToInt32(context, &kind, argv[0]) != 0) return JS_EXCEPTION;
  driver_emit_string(context, kind, argv[1]);
  return JS_UNDEFINED;
}

// write(fd, string): all of it, as UTF-8.
static JSValue NativeWriteText(JSContext* context, JSValueConst self, int argc,
                               JSValueConst* argv) {
  (void)self;
  (void)argc;
  int fd = 0;
  size_t length = 0;
  if (JS_ToInt32(context, &fd, argv[0]) != 0) return JS_EXCEPTION;
  char* text = driver_utf8(context, argv[1], &length);
  if (text == NULL) return JS_EXCEPTION;
  int status = WriteAll(fd, text, length);
  free(text);
  return JS_NewInt32(context, status);
}

static JSValue NativeSetHooks(JSContext* context, JSValueConst self, int argc,
                              JSValueConst* argv) {
  (void)self;
  (void)argc;
  JS_FreeValue(context, driver.hooks);
  driver.hooks = JS_DupValue(context, argv[0]);
  return JS_UNDEFINED;
}

static JSValue NativeSetActiveTimers(JSContext* context, JSValueConst self, int argc,
                                     JSValueConst* argv) {
  (void)self;
  (void)argc;
  JS_ToInt32(context, &driver.active_timers, argv[0]);
  return JS_UNDEFINED;
}

static JSValue NativeTicksPending(JSContext* context, JSValueConst self, int argc,
                                  JSValueConst* argv) {
  (void)context;
  (void)self;
  (void)argc;
  (void)argv;
  driver.ticks_pending = true;
  return JS_UNDEFINED;
}

static double ClockMs(__wasi_clockid_t clock) {
  __wasi_timestamp_t now = 0;
  if (__wasi_clock_time_get(clock, 1000, &now) != 0) return 0;
  return (double)now / 1e6;
}

static JSValue NativeMonotonicMs(JSContext* context, JSValueConst self, int argc,
                                 JSValueConst* argv) {
  (void)self;
  (void)argc;
  (void)argv;
  return JS_NewFloat64(context, ClockMs(__WASI_CLOCKID_MONOTONIC));
}

void driver_sleep_ms(double milliseconds) {
  __wasi_subscription_t subscription = {
      .userdata = 0,
      .u = {.tag = __WASI_EVENTTYPE_CLOCK,
            .u = {.clock = {.id = __WASI_CLOCKID_MONOTONIC,
                            .timeout = (__wasi_timestamp_t)(milliseconds * 1e6),
                            .precision = 0,
                            .flags = 0}}},
  };
  __wasi_event_t event;
  size_t count = 0;
  (void)__wasi_poll_oneoff(&subscription, &event, 1, &count);
}

// exit(code): ends the run; does not return.
static JSValue Exit(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  if (driver.stop == kStopNone) {
    JS_ToInt32(context, &driver.exit_code, argv[0]);
    driver.stop = kStopExit;
  }
  JS_PollSoon(context);
  JSValue error = JS_NewInternalError(context, "exit");
  JS_SetUncatchableError(context, error);
  return JS_Throw(context, error);
}

static JSValue MonotonicNs(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  (void)argv;
  __wasi_timestamp_t now = 0;
  (void)__wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &now);
  return JS_NewBigInt64(context, (int64_t)now);
}

// sleep(ms): blocks; the next poll point ends the run when a stop was asked for meanwhile.
static JSValue Sleep(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  double milliseconds = 0;
  JS_ToFloat64(context, &milliseconds, argv[0]);
  if (milliseconds > 0) driver_sleep_ms(milliseconds);
  JS_PollSoon(context);
  return JS_UNDEFINED;
}

static JSValue RunNumber(JSContext* context, JSValueConst self, int argc, JSValueConst* argv) {
  (void)self;
  (void)argc;
  (void)argv;
  return JS_NewUint32(context, driver.run_number);
}

const JSCFunctionListEntry native_core_functions[] = {
    JS_CFUNC_DEF("runNumber", 0, RunNumber),
    JS_CFUNC_DEF("emit", 2, NativeEmit),
    JS_CFUNC_DEF("writeText", 2, NativeWriteText),
    JS_CFUNC_DEF("setHooks", 1, NativeSetHooks),
    JS_CFUNC_DEF("setActiveTimers", 1, NativeSetActiveTimers),
    JS_CFUNC_DEF("ticksPending", 0, NativeTicksPending),
    JS_CFUNC_DEF("monotonicMs", 0, NativeMonotonicMs),
    JS_CFUNC_DEF("monotonicNs", 0, MonotonicNs),
    JS_CFUNC_DEF("sleep", 1, Sleep),
    JS_CFUNC_DEF("exit", 1, Exit),
};
const int native_core_function_count =
    sizeof native_core_functions / sizeof native_core_functions[0];

typedef struct NativeList {
  const JSCFunctionListEntry* functions;
  const int* count;
} NativeList;

static const NativeList kLists[] = {
    {native_core_functions, &native_core_function_count},
    {native_fs_functions, &native_fs_function_count},
    {native_text_functions, &native_text_function_count},
    {native_inspect_functions, &native_inspect_function_count},
    {native_module_functions, &native_module_function_count},
};
enum { kListCount = sizeof kLists / sizeof kLists[0] };

static int InitNativeModule(JSContext* context, JSModuleDef* module) {
  for (int i = 0; i < kListCount; i++) {
    if (JS_SetModuleExportList(context, module, kLists[i].functions, *kLists[i].count) != 0) {
      return -1;
    }
  }
  return 0;
}

int driver_define_native_module(JSContext* context) {
  JSModuleDef* module = JS_NewCModule(context, "dormouse:native", InitNativeModule);
  if (module == NULL) return -1;
  for (int i = 0; i < kListCount; i++) {
    if (JS_AddModuleExportList(context, module, kLists[i].functions, *kLists[i].count) != 0) {
      return -1;
    }
  }
  return 0;
}
