# SPDX-License-Identifier: Apache-2.0
"""Case 16: deep recursion is an error that code can catch."""

import pytest

from conftest import Between
from quick.client import Context

PYTHON = [
    "def f(): f()\nf()",
    "def f(n): return f(n + 1) + 1\nf(0)",
    "def f(x=0): return sorted([1, 2], key=lambda _: f())\nf()",
    "import functools\ndef f(): functools.partial(f)()\nf()",
    "class A:\n    def __repr__(self): return repr(self)\nstr(A())",
    "class A:\n    def __getattr__(self, name): return getattr(self, name)\nA().x",
    "class A:\n    def __eq__(self, other): return self == other\nA() == A()",
    "class A:\n    def __hash__(self): return hash(self)\nhash(A())",
    "import json\na = []\nfor _ in range(100_000): a = [a]\njson.dumps(a)",
    "a = []\nfor _ in range(100_000): a = [a]\nrepr(a)",
    "a = []\nfor _ in range(100_000): a = [a]\nb = []\nfor _ in range(100_000): b = [b]\na == b",
    "import copy\na = []\nfor _ in range(100_000): a = [a]\ncopy.deepcopy(a)",
    "import pickle\na = []\nfor _ in range(100_000): a = [a]\npickle.dumps(a)",
    "import json; json.loads('[' * 100_000)",
    "exec('(' * 10000)",
    "import ast; ast.parse('(' * 10000 + ')' * 10000)",
    "eval('-' * 100_000 + '1')",
    "eval('+'.join(['1'] * 100_000))",
    "import re; re.compile('(' * 5000 + ')' * 5000)",
    "def g(): yield from g()\nlist(g())",
    "class M(type):\n    def __call__(cls): return cls()\nclass A(metaclass=M): pass\nA()",
    "class D:\n    def __get__(self, o, t): return o.x\nclass A: x = D()\nA().x",
    "class A:\n    def __del__(self): A()\nA()\ndef f(): f()\nf()",
    "import sys\nsys.setrecursionlimit(10**6)\ndef f(): f()\nf()",
    "import sys\nsys.setrecursionlimit(10**6)\nclass A:\n    def __repr__(self): return f'{self!r}'\nrepr(A())",
    "def f():\n    try: f()\n    finally: f()\nf()",
    "x = None\nfor _ in range(200_000): x = (x,)\ndel x\nraise RecursionError",
]
# Where Python itself answers otherwise.
OTHER_ERRORS = {
    "exec('(' * 10000)",
    "import ast; ast.parse('(' * 10000 + ')' * 10000)",
    "import json; json.loads('[' * 100_000)",
}

JAVASCRIPT = [
    "(function f() { f(); })()",
    "const o = { toString() { return String(o); } }; String(o)",
    "const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o)",
    "let a = []; for (let i = 0; i < 100000; i++) a = [a]; JSON.stringify(a)",
    "JSON.parse('['.repeat(100000))",
    "const p = new Proxy({}, { get(t, k, r) { return r[k]; } }); p.x",
    "class A { constructor() { new A(); } } new A()",
    "class A { get x() { return this.x; } } new A().x",
    "const f = () => [1].map(f); f()",
    "function* g() { yield* g(); } [...g()]",
    "new RegExp('('.repeat(20000) + ')'.repeat(20000))",
    "eval('('.repeat(50000) + ')'.repeat(50000))",
    "const f = () => { try { f(); } finally { f(); } }; f()",
    "const a = [1, 2]; const f = () => a.sort(f); f()",
    "const f = (...x) => f.apply(null, x); f(1)",
]


@pytest.mark.parametrize("code", PYTHON)
def test_python(python: Context, between: Between, code: str) -> None:
    python.run("keep = 1").ok()
    run = python.run(code, timeoutMs=20_000)
    assert run.status in ("error", "timeout"), run.raw
    if run.status == "error":
        allowed = (
            ("RecursionError", "MemoryError", "SyntaxError")
            if code in OTHER_ERRORS
            else ("RecursionError", "MemoryError")
        )
        assert run.error_name in allowed, run.raw
    between(python)
    assert python.value("keep") == "1"


@pytest.mark.parametrize("code", JAVASCRIPT)
def test_javascript(javascript: Context, between: Between, code: str) -> None:
    javascript.run("var keep = 1").ok()
    run = javascript.run(code, timeoutMs=20_000)
    assert run.status in ("error", "timeout"), run.raw
    if run.status == "error":
        assert run.error_name in ("RangeError", "InternalError", "SyntaxError"), run.raw
    between(javascript)
    assert javascript.value("keep") == "1"


def test_python_catches_it_every_time(python: Context, between: Between) -> None:
    python.run("def f(n): return f(n + 1)\ndepths = []").ok()
    for i in range(5):
        between(python)
        code = "try:\n    f(0)\nexcept RecursionError as e:\n    depths.append(len(str(e)) > 0)\nlen(depths)"
        assert python.value(code) == str(i + 1)


def test_python_shows_both_ends_of_a_deep_traceback(python: Context) -> None:
    deep = "import sys\nsys.setrecursionlimit(20_000)\ndef f(n): return f(n + 1)\nf(0)"
    run = python.run(deep)
    assert run.error_name == "RecursionError"
    lines = run.traceback.splitlines()
    assert lines[:3] == [
        "Traceback (most recent call last):",
        '  File "cell-1", line 4, in <module>',
        "    f(0)",
    ]
    assert any("frames left out" in line for line in lines)
    assert lines[-1] == "RecursionError: maximum recursion depth exceeded"
    assert len(lines) < 50
    run = python.run("sys.setrecursionlimit(1000)\nf(0)")
    assert "Previous line repeated 9" in run.traceback, run.raw
    assert "frames left out" not in run.traceback


def test_javascript_catches_it_every_time(javascript: Context, between: Between) -> None:
    javascript.run("function f(n) { return f(n + 1) + 1; }").ok()
    for _ in range(5):
        between(javascript)
        assert (
            javascript.value("let name; try { f(0) } catch (e) { name = e.name } name")
            == "'RangeError'"
        )


def test_ordinary_depths_are_no_problem(python: Context, javascript: Context) -> None:
    assert python.value("def f(n): return n and 1 + f(n - 1)\nf(900)") == "900"
    assert (
        python.value(
            "import json; a = []\nfor _ in range(500): a = [a]\nlen(json.dumps(a)), len(repr(a)) > 0"
        )
        == "(1002, True)"
    )
    assert javascript.value("const g = n => n && 1 + g(n - 1); g(3000)") == "3000"
