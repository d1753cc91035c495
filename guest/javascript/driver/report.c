// SPDX-License-Identifier: Apache-2.0
// Reports that are made without running any JavaScript: a stopped run must not be able to go on in
// a getter, and an error that breaks its own description is still an error.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

// A growing buffer; on lack of memory it stays as it is and `full` is set.
typedef struct Text {
  char* data;
  size_t length;
  size_t capacity;
  bool full;
} Text;

static void Put(Text* text, const char* data, size_t length) {
  if (text->length + length > text->capacity) {
    size_t capacity = (text->length + length) * 2 + 256;
    char* grown = realloc(text->data, capacity);
    if (grown == NULL) {
      text->full = true;
      return;
    }
    text->data = grown;
    text->capacity = capacity;
  }
  memcpy(text->data + text->length, data, length);
  text->length += length;
}

static void PutString(Text* text, const char* literal) {
  Put(text, literal, strlen(literal));
}

// One JSON string.
static void PutJson(Text* text, const char* data, size_t length) {
  Put(text, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)data[i];
    if (c == '"' || c == '\\') {
      char escaped[2] = {'\\', (char)c};
      Put(text, escaped, 2);
    } else if (c < 0x20) {
      char escaped[8];
      int size = snprintf(escaped, sizeof escaped, "\\u%04x", c);
      Put(text, escaped, (size_t)size);
    } else {
      Put(text, (const char*)&data[i], 1);
    }
  }
  Put(text, "\"", 1);
}

// The lines of a stack trace as the elements of a JSON array.
static void PutLines(Text* text, const char* trace, size_t length) {
  size_t start = 0;
  for (size_t i = 0; i <= length; i++) {
    if (i < length && trace[i] != '\n') continue;
    if (start > 0) Put(text, ",", 1);
    PutJson(text, trace + start, i - start);
    start = i + 1;
  }
}

static void EmitError(const char* name, const char* message, const char* trace) {
  Text text = {0};
  PutString(&text, "{\"name\":");
  PutJson(&text, name, strlen(name));
  PutString(&text, ",\"message\":");
  PutJson(&text, message, strlen(message));
  PutString(&text, ",\"traceback\":[");
  PutLines(&text, trace, strlen(trace));
  PutString(&text, "]}");
  if (!text.full) driver_emit_bytes(2, text.data, text.length);
  free(text.data);
}

void driver_keep_stop_trace(JSValueConst error) {
  if (driver.stop_trace != NULL || !JS_IsError(error)) return;
  JSValue stack = JS_GetErrorStack(driver.context, error);
  if (JS_IsString(stack)) {
    size_t length;
    driver.stop_trace = driver_utf8(driver.context, stack, &length);
  }
  JS_FreeValue(driver.context, stack);
}

void driver_emit_interrupted(void) {
  const char* trace = driver.stop_trace;
  EmitError("InternalError", "interrupted", trace ? trace : "InternalError: interrupted");
}

void driver_emit_plain_result(JSValueConst value) {
  static const char kUnknown[] = "[value that cannot be shown]";
  size_t length = 0;
  char* shown = JS_IsObject(value) || JS_IsSymbol(value)
                    ? NULL
                    : driver_utf8(driver.context, value, &length);
  Text text = {0};
  PutString(&text, "{\"data\":{\"text/plain\":");
  if (shown != NULL) {
    PutJson(&text, shown, length);
  } else {
    PutJson(&text, kUnknown, sizeof kUnknown - 1);
  }
  PutString(&text, "},\"metadata\":{},\"isResult\":true}");
  if (!text.full) driver_emit_bytes(1, text.data, text.length);
  free(text.data);
  free(shown);
}

void driver_emit_plain_error(JSValueConst error) {
  JSContext* context = driver.context;
  char* trace = NULL;
  JSValue stack = JS_GetErrorStack(context, error);
  size_t length;
  if (JS_IsString(stack)) trace = driver_utf8(context, stack, &length);
  JS_FreeValue(context, stack);
  EmitError("Error", "an error whose description cannot be shown",
            trace ? trace : "Error: an error whose description cannot be shown");
  free(trace);
}
