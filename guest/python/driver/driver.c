// SPDX-License-Identifier: Apache-2.0
// The exports of docs/engine-abi.md.
#include "driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

enum { kEmitError = 2, kStateLost = 1 };

static PyObject* main_globals;
static PyObject* begin_function;
static PyObject* end_function;
static PyObject* await_function;
static PyObject* reseed_function;
static void* request;

static int SetStrings(PyConfig* config) {
  static const struct {
    size_t offset;
    const wchar_t* value;
  } strings[] = {
      {offsetof(PyConfig, program_name), L"python3"},
      {offsetof(PyConfig, executable), L""},
      {offsetof(PyConfig, base_executable), L""},
      {offsetof(PyConfig, home), L"/usr"},
      {offsetof(PyConfig, prefix), L"/usr"},
      {offsetof(PyConfig, base_prefix), L"/usr"},
      {offsetof(PyConfig, exec_prefix), L"/usr"},
      {offsetof(PyConfig, base_exec_prefix), L"/usr"},
      {offsetof(PyConfig, stdlib_dir), L"/usr/lib/python3.13"},
      {offsetof(PyConfig, stdio_encoding), L"utf-8"},
      {offsetof(PyConfig, stdio_errors), L"backslashreplace"},
  };
  for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
    wchar_t** field = (wchar_t**)((char*)config + strings[i].offset);
    if (PyStatus_Exception(PyConfig_SetString(config, field, strings[i].value))) return -1;
  }
  config->module_search_paths_set = 1;
  return PyStatus_Exception(
             PyWideStringList_Append(&config->module_search_paths, L"/usr/lib/python3.13"))
             ? -1
             : 0;
}

static int InitPython(void) {
  PyPreConfig preconfig;
  PyPreConfig_InitIsolatedConfig(&preconfig);
  preconfig.utf8_mode = 1;
  if (PyStatus_Exception(Py_PreInitialize(&preconfig))) return -1;
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.write_bytecode = 0;
  config.install_signal_handlers = 1;
  config.buffered_stdio = 0;  // the host sees every write in its order
  config.use_hash_seed = 1;   // sets and dicts in a boot image must not depend on the day it was made
  config.hash_seed = 0;
  config.pathconfig_warnings = 0;
  int status = SetStrings(&config);
  if (status == 0 && PyStatus_Exception(Py_InitializeFromConfig(&config))) status = -1;
  PyConfig_Clear(&config);
  return status;
}

static PyObject* Attribute(const char* module, const char* name) {
  PyObject* imported = PyImport_ImportModule(module);
  if (imported == NULL) return NULL;
  PyObject* value = PyObject_GetAttrString(imported, name);
  Py_DECREF(imported);
  return value;
}

static int InitDriver(void) {
  PyObject* main_module = PyImport_AddModule("__main__");
  if (main_module == NULL || InitStop() < 0) return -1;
  main_globals = PyModule_GetDict(main_module);
  PyObject* boot = Attribute("dormouse._boot", "boot");
  if (boot == NULL) return -1;
  PyObject* done = PyObject_CallNoArgs(boot);
  Py_DECREF(boot);
  if (done == NULL) return -1;
  Py_DECREF(done);
  begin_function = Attribute("dormouse._cell", "begin");
  end_function = Attribute("dormouse._cell", "end");
  await_function = Attribute("dormouse._loop", "run");
  reseed_function = Attribute("dormouse._random", "reseed");
  if (!begin_function || !end_function || !await_function || !reseed_function) return -1;
  return InitMemory();
}

// The report of last resort: needs no memory and no Python.
static void EmitBareError(PyObject* error) {
  const char* json = "{\"name\":\"SystemError\",\"message\":\"the result could not be reported\","
                     "\"traceback\":[]}";
  if (PyErr_GivenExceptionMatches(error, PyExc_MemoryError)) {
    json = "{\"name\":\"MemoryError\",\"message\":\"\",\"traceback\":[\"MemoryError\"]}";
  } else if (PyErr_GivenExceptionMatches(error, PyExc_KeyboardInterrupt)) {
    json = "{\"name\":\"KeyboardInterrupt\",\"message\":\"\",\"traceback\":[\"KeyboardInterrupt\"]}";
  } else if (PyErr_GivenExceptionMatches(error, PyExc_RecursionError)) {
    json = "{\"name\":\"RecursionError\",\"message\":\"\",\"traceback\":[\"RecursionError\"]}";
  }
  Emit(kEmitError, json, strlen(json));
}

static void MakeRoomToReport(PyObject* error) {
  if (error != NULL && PyErr_GivenExceptionMatches(error, PyExc_MemoryError)) DropReserve();
}

// begin() has the cell's source and name for us, or None if it has reported why there is nothing to run.
static PyObject* RunRequest(PyObject* text) {
  PyObject* cell = PyObject_CallOneArg(begin_function, text);
  if (cell == NULL || cell == Py_None) return cell;
  PyObject* value = ExecuteCell(PyTuple_GET_ITEM(cell, 0), PyTuple_GET_ITEM(cell, 1), main_globals,
                                await_function);
  Py_DECREF(cell);
  return value;
}

// Whether the interpreter can go on: 0, or kStateLost when the run left no memory to do that with.
static int Run(const char* address, size_t length) {
  ClearStop();  // one that was asked for after the last run had ended
  RaiseShield();
  PyObject* text = PyUnicode_DecodeUTF8(address, (Py_ssize_t)length, "replace");
  PyObject* value = text != NULL ? RunRequest(text) : NULL;
  Py_XDECREF(text);
  PyObject* error = value == NULL ? PyErr_GetRaisedException() : NULL;
  MakeRoomToReport(error);
  PyObject* arguments[] = {value != NULL ? value : Py_None, error != NULL ? error : Py_None};
  PyObject* ended = PyObject_Vectorcall(end_function, arguments, 2, NULL);
  if (ended == NULL) {
    PyObject* second = PyErr_GetRaisedException();
    MakeRoomToReport(second);
    EmitBareError(second);
    Py_XDECREF(second);
  }
  Py_XDECREF(ended);
  Py_XDECREF(value);
  Py_XDECREF(error);
  PyErr_Clear();
  int settled = SettleMemory();
  ClearStop();
  return settled == 0 ? 0 : kStateLost;
}

static PyObject* CallGc(const char* name) {
  PyObject* function = Attribute("gc", name);
  PyObject* value = function != NULL ? PyObject_CallNoArgs(function) : NULL;
  Py_XDECREF(function);
  return value;
}

// Runs a few cells unheard, so that the bytecode that every run goes through is specialised in the image, and
// does not specialise itself, page by page, in each context.
static int WarmUp(void) {
  static const char* const requests[] = {
      "{\"code\":\"a = 1\",\"filename\":\"cell-1\"}",
      "{\"code\":\"a + 1\",\"filename\":\"cell-2\"}",
      "{\"code\":\"[a, {'a': 1.5}, ('b', None)]\",\"filename\":\"cell-3\"}",
      "{\"code\":\"def f(x):\\n    return 1 / x\\nf(0)\",\"filename\":\"cell-4\"}",
  };
  int status = 0;
  SetMute(1);
  for (int i = 0; i < 32 && status == 0; i++) {
    for (size_t n = 0; n < sizeof(requests) / sizeof(requests[0]); n++) {
      if (Run(requests[n], strlen(requests[n])) != 0) status = -1;
    }
  }
  SetMute(0);
  PyObject* forget = Attribute("dormouse._boot", "forget_warm_up");
  PyObject* done = forget != NULL ? PyObject_CallNoArgs(forget) : NULL;
  if (done == NULL) status = -1;
  Py_XDECREF(forget);
  Py_XDECREF(done);
  return status;
}

// What exists at boot lives for ever: neither a collection nor a reference count shall touch its pages again.
static int Settle(void) {
  PyGC_Collect();
  PyObject* tracked = CallGc("get_objects");
  if (tracked == NULL) return -1;
  int status = MakeImmortal(tracked);
  Py_DECREF(tracked);
  PyObject* frozen = CallGc("freeze");
  Py_XDECREF(frozen);
  return frozen != NULL ? status : -1;
}

int EXPORT(dormouse_boot)(void) {
  if (PyImport_AppendInittab("_dormouse", InitDormouseModule) < 0 || InitPython() < 0) return 1;
  if (InitDriver() < 0 || WarmUp() < 0) {
    PyErr_Print();
    return 1;
  }
  RaiseShield();
  return Settle() == 0 ? 0 : 1;
}

void* EXPORT(dormouse_alloc)(size_t size) {
  free(request);
  request = malloc(size > 0 ? size : 1);
  return request;
}

int EXPORT(dormouse_run)(const char* address, size_t length) {
  int status = Run(address, length);
  free(request);
  request = NULL;
  return status;
}

// Part of SQLite: with no buffer, forgets the state of its generator.
extern void sqlite3_randomness(int size, void* buffer);

void EXPORT(dormouse_reseed)(void) {
  RaiseShield();
  sqlite3_randomness(0, NULL);
  PyObject* done = PyObject_CallNoArgs(reseed_function);
  Py_XDECREF(done);
  PyErr_Clear();
}

const void* EXPORT(dormouse_interrupt_table)(void) { return InterruptTable(); }
