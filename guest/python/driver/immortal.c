// SPDX-License-Identifier: Apache-2.0
// Makes every object of the boot image immortal.
//
// A reference count that changes dirties its page, though most runs put it back: every page of the image that
// a run so much as looks at would have to be copied. Python does not count the references to an immortal
// object. What is lost is that objects of the image are never freed, which is what an image is for.
#define Py_BUILD_CORE 1
#include "driver.h"

typedef struct {
  PyObject** items;
  size_t count;
  size_t capacity;
} Stack;

static int Push(Stack* stack, PyObject* object) {
  if (stack->count == stack->capacity) {
    size_t capacity = stack->capacity == 0 ? 1024 : 2 * stack->capacity;
    PyObject** items = PyMem_RawRealloc(stack->items, capacity * sizeof(*items));
    if (items == NULL) return -1;
    stack->items = items;
    stack->capacity = capacity;
  }
  stack->items[stack->count++] = object;
  return 0;
}

// Marks an object; its own parts are looked at later unless the collector lists it anyway.
static int Mark(PyObject* object, void* stack) {
  if (object == NULL || _Py_IsImmortal(object)) return 0;
  object->ob_refcnt = _Py_IMMORTAL_REFCNT;
  if (PyObject_IS_GC(object) ? !PyObject_GC_IsTracked(object) : PyCode_Check(object)) {
    return Push(stack, object);
  }
  return 0;
}

static int MarkCode(PyCodeObject* code, Stack* stack) {
  PyObject* parts[] = {code->co_consts,        code->co_names,           code->co_exceptiontable,
                       code->co_localsplusnames, code->co_localspluskinds, code->co_filename,
                       code->co_name,          code->co_qualname,        code->co_linetable};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    if (Mark(parts[i], stack) < 0) return -1;
  }
  return 0;
}

static int MarkParts(PyObject* object, Stack* stack) {
  if (PyCode_Check(object)) return MarkCode((PyCodeObject*)object, stack);
  if (PyDict_Check(object)) {
    // Its own traversal passes over keys that are strings.
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value)) {
      if (Mark(key, stack) < 0) return -1;
    }
  }
  traverseproc traverse = Py_TYPE(object)->tp_traverse;
  return traverse == NULL ? 0 : traverse(object, Mark, stack);
}

// `roots` lists the objects that the collector tracks.
static int MarkAll(PyObject* roots) {
  Stack stack = {NULL, 0, 0};
  int status = 0;
  for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(roots); i++) {
    PyObject* object = PyList_GET_ITEM(roots, i);
    status = Mark(object, &stack) < 0 || MarkParts(object, &stack) < 0 ? -1 : 0;
    while (status == 0 && stack.count > 0) {
      status = MarkParts(stack.items[--stack.count], &stack);
    }
  }
  PyMem_RawFree(stack.items);
  return status;
}

int MakeImmortal(PyObject* tracked) {
  int status = MarkAll(tracked);
  if (status < 0) PyErr_NoMemory();
  return status;
}
