// SPDX-License-Identifier: Apache-2.0
// Runs the program in argv[1] in a plain native QuickJS, with the two things that the benchmark's programs use:
// console.log of one string and performance.now.
#include <quickjs.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static JSValue Log(JSContext* context, JSValueConst self, int count, JSValueConst* values) {
  (void)self;
  for (int i = 0; i < count; ++i) {
    const char* text = JS_ToCString(context, values[i]);
    printf("%s%s", i ? " " : "", text ? text : "?");
    JS_FreeCString(context, text);
  }
  printf("\n");
  return JS_UNDEFINED;
}

static JSValue Now(JSContext* context, JSValueConst self, int count, JSValueConst* values) {
  (void)self, (void)count, (void)values;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return JS_NewFloat64(context, now.tv_sec * 1e3 + now.tv_nsec / 1e6);
}

static void AddObject(JSContext* context, const char* object_name, const char* name, JSCFunction* function) {
  JSValue global = JS_GetGlobalObject(context);
  JSValue object = JS_NewObject(context);
  JS_SetPropertyStr(context, object, name, JS_NewCFunction(context, function, name, 1));
  JS_SetPropertyStr(context, global, object_name, object);
  JS_FreeValue(context, global);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  JSRuntime* runtime = JS_NewRuntime();
  JSContext* context = JS_NewContext(runtime);
  AddObject(context, "console", "log", Log);
  AddObject(context, "performance", "now", Now);
  JSValue value = JS_Eval(context, argv[1], strlen(argv[1]), "program", JS_EVAL_TYPE_GLOBAL);
  if (!JS_IsException(value)) return 0;
  JSValue error = JS_GetException(context);
  fprintf(stderr, "%s\n", JS_ToCString(context, error));
  return 1;
}
