// SPDX-License-Identifier: Apache-2.0
#define Py_BUILD_CORE 1
#include "driver.h"

#include <signal.h>
#include <stdint.h>

#include "internal/pycore_ceval.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"
#include "internal/pycore_signal.h"

// The layout is fixed by docs/engine-abi.md.
typedef struct {
  uint32_t address;
  uint32_t size;
  uint32_t operation;
  uint32_t value;
} TableEntry;

enum { kStore = 0, kOr = 1, kEntries = 3 };

static struct {
  uint32_t count;
  TableEntry entry[kEntries];
} interrupt_table;

static PyThreadState* main_thread;
static PyObject* shield_handler;  // stands in for the SIGINT handler while the shield is up
static PyObject* user_handler;    // the handler meanwhile put aside; owned
static int stop_noted;

#define SIGNALS (_PyRuntime.signals)

static PyObject* NoteStop(PyObject* self, PyObject* args) {
  (void)self, (void)args;
  stop_noted = 1;
  Py_RETURN_NONE;
}

static PyMethodDef note_stop = {"note_stop", NoteStop, METH_VARARGS, NULL};

int InitStop(void) {
  main_thread = PyThreadState_Get();
  shield_handler = PyCFunction_New(&note_stop, NULL);
  if (shield_handler == NULL) return -1;
  // The same three words that CPython's own C-level signal handler writes, the breaker last.
  TableEntry entries[kEntries] = {
      {(uint32_t)&SIGNALS.handlers[SIGINT].tripped, sizeof(int), kStore, 1},
      {(uint32_t)&SIGNALS.is_tripped, sizeof(int), kStore, 1},
      {(uint32_t)&main_thread->eval_breaker, sizeof(uintptr_t), kOr, _PY_SIGNALS_PENDING_BIT},
  };
  interrupt_table.count = kEntries;
  for (int i = 0; i < kEntries; i++) interrupt_table.entry[i] = entries[i];
  return 0;
}

const void* InterruptTable(void) { return &interrupt_table; }

void RaiseShield(void) {
  if (user_handler != NULL) return;
  user_handler = SIGNALS.handlers[SIGINT].func;
  SIGNALS.handlers[SIGINT].func = Py_NewRef(shield_handler);
}

int LowerShield(void) {
  if (user_handler != NULL) {
    PyObject* shield = SIGNALS.handlers[SIGINT].func;
    SIGNALS.handlers[SIGINT].func = user_handler;
    user_handler = NULL;
    Py_DECREF(shield);
  }
  if (!stop_noted) return 0;
  stop_noted = 0;
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  return -1;
}

void ClearStop(void) {
  stop_noted = 0;
  SIGNALS.handlers[SIGINT].tripped = 0;
  SIGNALS.is_tripped = 0;
  _Py_unset_eval_breaker_bit(main_thread, _PY_SIGNALS_PENDING_BIT);
}
