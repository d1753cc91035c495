// SPDX-License-Identifier: Apache-2.0
// What the parts of the driver know of each other. The contract with the host is docs/engine-abi.md.
//
// Life of a run: `dormouse_run` hands the request to dormouse.cell.begin() (Python), which prepares the
// context and returns the source; ExecuteCell() parses and runs it with no Python frame of ours beneath, so
// that tracebacks and frame walks see user code alone; dormouse.cell.end() reports the outcome.
#pragma once

#include <Python.h>

// cell.c: runs one cell in `globals`. Returns the value of a last expression statement (Py_None if there is
// none), or NULL with an exception set. `await_` is called with the coroutine of a cell that awaits at top
// level. User code runs unshielded (below); the caller is shielded before and after.
PyObject* ExecuteCell(PyObject* source, PyObject* filename, PyObject* globals, PyObject* await_);

// stop.c: stopping a run.
//
// While the shield is up, a stop is only noted; when it is lowered, a noted stop raises KeyboardInterrupt. So
// the driver's own Python code is never torn, and nothing that the user can catch gets lost.
int InitStop(void);
void RaiseShield(void);
// Returns -1 with KeyboardInterrupt set when a stop was noted meanwhile.
int LowerShield(void);
// Forgets a stop that came too late to hit user code.
void ClearStop(void);
const void* InterruptTable(void);

// memory.c: memory held back for reports and for tidying up after memory ran out.
int InitMemory(void);
// Gives it up: memory has run out, and that is to be reported.
void DropReserve(void);
// After a run: holds memory back again. -1 when the heap is so full that a next run could not do anything.
int SettleMemory(void);

// immortal.c: makes the listed objects, and all that they refer to, immortal.
int MakeImmortal(PyObject* tracked);

// module.c: the built-in module `_dormouse` for the Python side.
PyObject* InitDormouseModule(void);
// Sends an object to the host; `json` is UTF-8.
void Emit(int kind, const char* json, size_t size);
// While muted, nothing is sent.
void SetMute(int mute);
