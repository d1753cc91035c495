// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <wasi/api.h>

__attribute__((import_module("dormouse"), import_name("emit"))) extern void HostEmit(int32_t kind,
                                                                                     const char* json,
                                                                                     size_t size);

static int muted;

void SetMute(int mute) { muted = mute; }

void Emit(int kind, const char* json, size_t size) {
  if (!muted) HostEmit(kind, json, size);
}

// UTF-8 of a string in which each lone surrogate became U+FFFD; both have three bytes.
static PyObject* StrictUtf8(PyObject* text) {
  PyObject* bytes = PyUnicode_AsUTF8String(text);
  if (bytes != NULL || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return bytes;
  PyErr_Clear();
  bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
  if (bytes == NULL) return NULL;
  unsigned char* data = (unsigned char*)PyBytes_AS_STRING(bytes);
  Py_ssize_t size = PyBytes_GET_SIZE(bytes);
  for (Py_ssize_t i = 0; i + 2 < size; i++) {
    if (data[i] == 0xED && data[i + 1] >= 0xA0) memcpy(data + i, "\xef\xbf\xbd", 3);
  }
  return bytes;
}

static PyObject* ModuleEmit(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self;
  if (count != 2 || !PyUnicode_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "emit(kind, json)");
    return NULL;
  }
  long kind = PyLong_AsLong(args[0]);
  if (kind == -1 && PyErr_Occurred()) return NULL;
  PyObject* bytes = StrictUtf8(args[1]);
  if (bytes == NULL) return NULL;
  Emit((int)kind, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
  Py_DECREF(bytes);
  Py_RETURN_NONE;
}

static int held;

// While held, stops do not reach user code: a run that was stopped is being reported, and the host repeats its
// request until that has ended.
static PyObject* ModuleHold(PyObject* self, PyObject* argument) {
  (void)self;
  held = PyObject_IsTrue(argument) == 1;
  Py_RETURN_NONE;
}

// Runs user code from the driver's own: with the shield down, so that it can be stopped.
static PyObject* ModuleCallUser(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self;
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "call_user(callable, *args)");
    return NULL;
  }
  if (held) return PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), NULL);
  if (LowerShield() < 0) {
    RaiseShield();
    return NULL;
  }
  PyObject* value = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), NULL);
  RaiseShield();
  return value;
}

// Waits for at most the given number of seconds; returns early, without an error, when a signal came and its
// handler raised nothing.
static PyObject* ModuleWait(PyObject* self, PyObject* argument) {
  (void)self;
  double seconds = PyFloat_AsDouble(argument);
  if (seconds == -1.0 && PyErr_Occurred()) return NULL;
  if (PyErr_CheckSignals() < 0) return NULL;
  if (!(seconds > 0)) Py_RETURN_NONE;
  if (seconds > 86400.0) seconds = 86400.0;
  __wasi_subscription_t subscription = {.userdata = 0};
  subscription.u.tag = __WASI_EVENTTYPE_CLOCK;
  subscription.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
  subscription.u.u.clock.timeout = (uint64_t)(seconds * 1e9);
  __wasi_event_t event;
  __wasi_size_t events = 0;
  (void)__wasi_poll_oneoff(&subscription, &event, 1, &events);
  if (PyErr_CheckSignals() < 0) return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"emit", (PyCFunction)(void (*)(void))ModuleEmit, METH_FASTCALL,
     "emit(kind, json): sends a JSON text to the host"},
    {"call_user", (PyCFunction)(void (*)(void))ModuleCallUser, METH_FASTCALL,
     "call_user(callable, *args): calls user code so that a stop reaches it"},
    {"hold", ModuleHold, METH_O, "hold(bool): whether call_user() keeps stops away"},
    {"wait", ModuleWait, METH_O, "wait(seconds): sleeps until the time is over or a signal comes"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_dormouse", "The driver's C side.", -1, methods, NULL, NULL, NULL, NULL,
};

PyObject* InitDormouseModule(void) { return PyModule_Create(&definition); }
