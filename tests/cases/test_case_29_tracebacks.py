# SPDX-License-Identifier: Apache-2.0
"""Case 29: tracebacks name the right cell, line and source, and show nothing of ours."""

import re

import pytest

from conftest import Between
from quick.client import Context, Run

FIRST = "def f():\n    a = 1\n    raise ValueError('first')\n"
SECOND = "\n\n\n\ndef f():\n    b = 2\n    raise KeyError('second')\n"


def frames(run: Run) -> list[tuple[str, int]]:
    return [
        (name, int(line)) for name, line in re.findall(r'File "([^"]+)", line (\d+)', run.traceback)
    ]


def test_each_version_shows_its_own_lines(python: Context, between: Between) -> None:
    first = python.run(FIRST + "old = f").ok().raw["executionCount"]
    between(python)
    second = python.run(SECOND).ok().raw["executionCount"]
    between(python)
    run = python.run("old()")
    assert frames(run) == [(f"cell-{second + 1}", 1), (f"cell-{first}", 3)]
    assert "raise ValueError('first')" in run.traceback
    run = python.run("\nf()")
    assert frames(run) == [(f"cell-{second + 2}", 2), (f"cell-{second}", 7)]
    assert "raise KeyError('second')" in run.traceback and "first" not in run.traceback


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\n1/0", 2),
        ("\n\n\n1/0", 4),
        ("x = [\n  1,\n  1/0,\n]", 3),
        ("if True:\n    for i in range(3):\n        i / 0", 3),
        ("(lambda:\n   1/0)()", 2),
        ("x = 1\r\n1/0\r\n", 2),
        ("\t\n# comment\n\n1/0 # here", 4),
        ("@print\ndef f(): pass\n1/0", 3),
        ("async def f():\n    1/0\n\nawait f()", 2),
    ],
)
def test_lines_of_python_errors(python: Context, code: str, line: int) -> None:
    run = python.run(code)
    assert run.error is not None
    assert run.error["lineNumber"] == line
    assert frames(run)[-1] == ("cell-1", line)
    assert not any("dormouse" in name for name, _ in frames(run))


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\ny = = 2\nz = 3", 2),
        ("def f(:\n  pass", 1),
        ("a = 1\n b = 2", 2),
        ("x = (\n1,\n", 1),
    ],
)
def test_lines_of_python_syntax_errors(python: Context, code: str, line: int) -> None:
    run = python.run(code)
    assert run.error is not None and run.error["name"] in ("SyntaxError", "IndentationError")
    assert run.error["lineNumber"] == line
    assert f'File "cell-1", line {line}' in run.traceback
    assert code.split("\n")[line - 1].strip() in run.traceback


def test_chained_and_imported_errors(python: Context, between: Between) -> None:
    python.sandbox.write("m.py", "def g(x):\n\n    return x / 0\n")
    python.run("import m").ok()
    between(python)
    run = python.run(
        "try:\n    m.g(1)\nexcept ZeroDivisionError as e:\n    raise RuntimeError('outer') from e"
    )
    assert "direct cause" in run.traceback and "return x / 0" in run.traceback
    assert ("/workspace/m.py", 3) in frames(run) or ("m.py", 3) in frames(run)
    assert run.error_name == "RuntimeError"


def test_the_source_can_be_asked_for(python: Context, between: Between) -> None:
    python.run(FIRST).ok()
    between(python)
    python.run("import inspect").ok()
    assert python.value("inspect.getsource(f)") == repr(FIRST)
    python.run("class C:\n    def m(self):\n        return 1").ok()
    between(python)
    assert python.value("inspect.getsource(C)") == repr(
        "class C:\n    def m(self):\n        return 1\n"
    )


def test_a_fork_keeps_the_sources(python: Context) -> None:
    python.run(FIRST).ok()
    forked = python.fork()
    python.delete()
    assert "raise ValueError('first')" in forked.run("f()").traceback


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("let x = 1;\nnull.x", 2),
        ("\n\n\nundefinedName", 4),
        ("const f = () => {\n\n  throw new Error('x');\n};\nf()", 3),
        ("await 0;\n\nnull.x", 3),
        ("let a = 1;\r\nnull.x\r\n", 2),
    ],
)
@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_lines_of_javascript_errors(python: Context, language: str, code: str, line: int) -> None:
    run = python.sandbox.context(language).run(code)
    assert run.status == "error" and f"cell-1:{line}" in run.traceback, run.traceback
    assert "dormouse:" not in run.traceback


def test_javascript_versions(javascript: Context, between: Between) -> None:
    javascript.run("function f() {\n  throw new Error('first');\n}\nconst old = f;").ok()
    between(javascript)
    javascript.run("\n\n\nfunction f() {\n  throw new Error('second');\n}").ok()
    between(javascript)
    assert "cell-1:2" in javascript.run("old()").traceback
    traceback = javascript.run("f()").traceback
    assert "cell-2:5" in traceback and "cell-1" not in traceback


def test_types_do_not_shift_lines(typescript: Context, between: Between) -> None:
    typescript.run(
        "interface A {\n  a: number;\n\n  b: string;\n}\ntype B = {\n  c: A;\n};\nfunction f(x: A):\n  never {\n  throw new Error(x.b);\n}"
    ).ok()
    between(typescript)
    run = typescript.run("enum E {\n  A,\n  B,\n}\n\nf({ a: 1, b: 'typed' });")
    assert run.error is not None and run.error["message"] == "typed"
    assert "cell-1:11" in run.traceback and "cell-2:6" in run.traceback
