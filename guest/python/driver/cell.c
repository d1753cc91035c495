// SPDX-License-Identifier: Apache-2.0
#define Py_BUILD_CORE 1
#include "driver.h"

#include <string.h>

#include "internal/pycore_ast.h"
#include "internal/pycore_compile.h"
#include "internal/pycore_parser.h"
#include "internal/pycore_pyarena.h"

// `from __future__` statements stay in force for later cells, as at Python's own prompt.
static int future_flags;

typedef struct {
  PyObject* body;    // code of all statements but a last expression; NULL if there are none
  PyObject* result;  // code of the last expression statement; NULL if there is none
} CellCode;

static void ClearCellCode(CellCode* code) {
  Py_CLEAR(code->body);
  Py_CLEAR(code->result);
}

// Finds the byte at 1-based `line` and 0-based `column`, with line ends as the tokenizer sees them.
static const char* Locate(const char* source, int line, int column) {
  while (line > 1 && *source != '\0') {
    if (*source == '\r' && source[1] == '\n') source++;
    if (*source == '\n' || *source == '\r') line--;
    source++;
  }
  size_t left = strlen(source);
  return source + ((size_t)column < left ? (size_t)column : left);
}

// Whether a semicolon follows the last statement, which asks for no result.
static int EndsWithSemicolon(const char* source, stmt_ty last) {
  const char* rest = Locate(source, last->end_lineno, last->end_col_offset);
  while (*rest == ' ' || *rest == '\t' || *rest == '\f') rest++;
  return *rest == ';';
}

// Takes the last expression statement out of the module. Returns it as a module of its own, or NULL.
static mod_ty SplitResult(mod_ty module, const char* source, PyArena* arena) {
  asdl_stmt_seq* body = module->v.Module.body;
  Py_ssize_t count = asdl_seq_LEN(body);
  if (count == 0) return NULL;
  stmt_ty last = asdl_seq_GET(body, count - 1);
  if (last->kind != Expr_kind || EndsWithSemicolon(source, last)) return NULL;
  body->size = count - 1;
  return _PyAST_Expression(last->v.Expr.value, arena);
}

static int CompileIn(PyArena* arena, const char* source, PyObject* filename, CellCode* code) {
  PyCompilerFlags flags = _PyCompilerFlags_INIT;
  flags.cf_flags = PyCF_SOURCE_IS_UTF8 | PyCF_IGNORE_COOKIE | PyCF_ALLOW_TOP_LEVEL_AWAIT | future_flags;
  mod_ty module = _PyParser_ASTFromString(source, filename, Py_file_input, &flags, arena);
  if (module == NULL) return -1;
  mod_ty result = SplitResult(module, source, arena);
  if (PyErr_Occurred()) return -1;
  if (asdl_seq_LEN(module->v.Module.body) > 0) {
    code->body = (PyObject*)_PyAST_Compile(module, filename, &flags, -1, arena);
    if (code->body == NULL) return -1;
  }
  if (result != NULL) {
    code->result = (PyObject*)_PyAST_Compile(result, filename, &flags, -1, arena);
    if (code->result == NULL) return -1;
  }
  future_flags = flags.cf_flags & PyCF_MASK;
  return 0;
}

// Compiles all of a cell before any of it runs.
static int Compile(PyObject* text, PyObject* filename, CellCode* code) {
  Py_ssize_t size;
  const char* source = PyUnicode_AsUTF8AndSize(text, &size);
  if (source == NULL) return -1;
  if (strlen(source) != (size_t)size) {
    PyErr_SetString(PyExc_SyntaxError, "source code cannot contain null bytes");
    return -1;
  }
  // Files may start with a byte order mark; so may cells.
  if (size >= 3 && memcmp(source, "\xef\xbb\xbf", 3) == 0) source += 3;
  PyArena* arena = _PyArena_New();
  if (arena == NULL) return -1;
  int status = CompileIn(arena, source, filename, code);
  _PyArena_Free(arena);
  return status;
}

static PyObject* Evaluate(PyObject* code, PyObject* globals, PyObject* await_) {
  PyObject* value = PyEval_EvalCode(code, globals, globals);
  if (value == NULL || !(((PyCodeObject*)code)->co_flags & CO_COROUTINE)) return value;
  PyObject* awaited = PyObject_CallOneArg(await_, value);
  Py_DECREF(value);
  return awaited;
}

PyObject* ExecuteCell(PyObject* source, PyObject* filename, PyObject* globals, PyObject* await_) {
  if (LowerShield() < 0) {
    RaiseShield();
    return NULL;
  }
  CellCode code = {NULL, NULL};
  PyObject* value = NULL;
  if (Compile(source, filename, &code) == 0) {
    value = code.body == NULL ? Py_NewRef(Py_None) : Evaluate(code.body, globals, await_);
    if (value != NULL) Py_SETREF(value, Py_NewRef(Py_None));
    if (value != NULL && code.result != NULL) {
      Py_SETREF(value, Evaluate(code.result, globals, await_));
    }
  }
  ClearCellCode(&code);
  RaiseShield();
  return value;
}
