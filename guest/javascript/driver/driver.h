// SPDX-License-Identifier: Apache-2.0
// State and helpers that the parts of the JavaScript driver share.
//
// One runtime, one context, one thread; nothing here is re-entrant from the host's side. Values of
// type JSValue returned to the caller are owned by the caller, as everywhere in QuickJS.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quickjs.h"

// Why user code must stop now. Once set it holds until the run is over, so that code which swallows
// one uncatchable exception is stopped again at its next poll.
typedef enum StopReason {
  kStopNone = 0,
  kStopInterrupted,
  kStopExit,
} StopReason;

typedef struct Driver {
  JSRuntime* runtime;
  JSContext* context;
  // Functions that runtime/main.js registered, by name.
  JSValue hooks;
  StopReason stop;
  int exit_code;
  // Work that runtime/ asked for; kept here so that a run without timers never calls into it.
  int active_timers;
  bool ticks_pending;
  // The unhandled rejections of the current run, an array of [promise, reason]; undefined when none.
  JSValue rejections;
  // The stack trace of the exception that stopped the run; malloc'd, NULL when unknown.
  char* stop_trace;
  // Nothing of the user's runs any more: the interrupt flag is ignored.
  bool tearing_down;
  bool booted;
  uint32_t run_number;
} Driver;

extern Driver driver;

// The flag that the host writes to stop a run (docs/engine-abi.md, section 4).
extern volatile uint32_t driver_interrupt_flag;

// Emits one object of the given kind. `json` is a JS string; lone surrogates become U+FFFD.
void driver_emit_string(JSContext* context, int kind, JSValueConst json);
// The same for bytes that are JSON already.
void driver_emit_bytes(int kind, const char* json, size_t length);

// Calls hooks[name]; an exception when the hook is missing or throws.
JSValue driver_call_hook(const char* name, int argc, JSValueConst* argv);

// UTF-8 of a JS string, with lone surrogates replaced. Free with free(); NULL means an exception.
char* driver_utf8(JSContext* context, JSValueConst value, size_t* length);

// Reports that run no JavaScript (report.c).
void driver_keep_stop_trace(JSValueConst error);
void driver_emit_interrupted(void);
void driver_emit_plain_result(JSValueConst value);
void driver_emit_plain_error(JSValueConst error);

// Defines the module `dormouse:native`.
int driver_define_native_module(JSContext* context);

// Installs the loader for built-in and workspace modules.
void driver_install_module_loader(JSRuntime* runtime);

// The text of a built-in module, or NULL.
const char* driver_builtin_source(const char* name, size_t* length);

// Sleeps; returns early when the host asks for a stop.
void driver_sleep_ms(double milliseconds);

// Runs one cell; see cell.c.
void driver_run_cell(const char* code, size_t length, const char* filename, bool typescript);
