# SPDX-License-Identifier: Apache-2.0
"""Case 8: whatever loops, the engine stops it, and the context goes on."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox

PYTHON = [
    "while 1: pass",
    "10 ** 10 ** 8",
    "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    "sum(iter(int, 1))",
    "import time; time.sleep(1e6)",
    "while True:\n    try: input()\n    except EOFError: pass",
    "any(x for x in iter(int, 1))",
    "while True: sorted(range(1000), key=lambda x: -x)",
    "import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nawait f()",
    "import asyncio; await asyncio.sleep(1e6)",
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "class A:\n    def __del__(self):\n        while True: pass\na = A(); del a",
    "class B:\n    def __repr__(self):\n        while True: pass\nB()",
    "def f():\n    try:\n        while True: pass\n    finally:\n        f()\nf()",
]
JAVASCRIPT = [
    "for (;;);",
    "new Promise(() => { while (1); })",
    "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "(function f() { Promise.resolve().then(f); })()",
    "setInterval(() => {}, 1)",
    "await new Promise(() => setTimeout(() => {}, 1e8))",
    "(function f() { setTimeout(f, 0); })()",
    "try { for (;;); } catch { for (;;); } finally { for (;;); }",
    "({ get x() { for (;;); } }).x",
    "[1, 2, 3].sort(() => { for (;;); })",
    "JSON.stringify({ toJSON() { for (;;); } })",
    "eval('for (;;);')",
    "process.on('exit', () => { for (;;); }); for (;;);",
    "const o = { [Symbol.toPrimitive]() { for (;;); } }; `${o}`",
    "(async () => { for (;;) await null; })()",
    "({ [require('util').inspect.custom]() { for (;;); } })",
]


def check_stopped(context: Context, code: str, between: Between) -> None:
    run = context.run(code, timeoutMs=400)
    assert run.status == "timeout", run.raw
    assert run.error_name == "TimeoutError"
    between(context)
    assert context.value("keep") == "'kept'"


@pytest.mark.parametrize("code", PYTHON)
def test_python(python: Context, between: Between, code: str) -> None:
    python.run("keep = 'kept'").ok()
    check_stopped(python, code, between)


@pytest.mark.parametrize("code", JAVASCRIPT)
def test_javascript(javascript: Context, between: Between, code: str) -> None:
    javascript.run("var keep = 'kept'").ok()
    check_stopped(javascript, code, between)


def test_native_work_that_polls_nothing(javascript: Context) -> None:
    javascript.run("var keep = 'kept'").ok()
    run = javascript.run("new Array(1e9) + ''", timeoutMs=1000)
    assert run.status in ("timeout", "oom", "error"), run.raw
    assert javascript.value("keep") == "'kept'"


def test_typescript(typescript: Context, between: Between) -> None:
    typescript.run("var keep: string = 'kept'").ok()
    check_stopped(typescript, "enum E { A } while (E.A === 0) {}", between)


def test_stops_in_a_row(sandbox: Sandbox) -> None:
    context = sandbox.context("python")
    context.run("n = 0").ok()
    for i in range(5):
        run = context.run("n += 1\nwhile True: pass", timeoutMs=150)
        assert (run.status, run.state) == ("timeout", "kept")
        assert context.value("n") == str(i + 1)
