# SPDX-License-Identifier: Apache-2.0
"""Case 15: lack of memory is an error that says so, and harms nothing that was there before."""

import pytest

from conftest import Between
from quick.client import Context, Run, Sandbox

PYTHON = [
    "b = []\nwhile 1: b.append(bytearray(10_000_000))",
    "'a' * 10**10",
    "b'a' * (2**31)",
    "[0] * 10**9",
    "bytearray(2**32 + 1)",
    "x = 'ab'\nwhile True: x += x",
    "d = {}\nfor i in range(10**9): d[i] = str(i) * 100",
    "s = set()\nwhile True: s.add(object())",
]
JAVASCRIPT = [
    "new Uint8Array(2 ** 32)",
    "new ArrayBuffer(2 ** 31)",
    "const a = []; for (;;) a.push(new Uint8Array(10_000_000))",
    "let s = 'ab'; for (;;) s += s",
    "const b = []; for (;;) b.push({ n: b.length, s: 'x'.repeat(1000) })",
    "'x'.repeat(2 ** 30)",
    "new Array(2 ** 31).fill(0)",
]


def check_refused(run: Run) -> None:
    """Either the language's own error, or `oom`; never a crash, never a success."""
    if run.status == "error":
        assert run.error_name in ("MemoryError", "RangeError", "InternalError", "OverflowError"), (
            run.raw
        )
    else:
        assert run.status in ("oom", "timeout"), run.raw
        if run.status == "oom":
            assert run.error is not None and any(c.isdigit() for c in run.error["message"])


@pytest.mark.parametrize("code", PYTHON)
def test_python(python: Context, between: Between, code: str) -> None:
    python.run("keep = 1").ok()
    between(python)
    check_refused(python.run(code, timeoutMs=20_000))
    between(python)
    assert python.value("keep") == "1"


@pytest.mark.parametrize("code", JAVASCRIPT)
def test_javascript(javascript: Context, between: Between, code: str) -> None:
    javascript.run("var keep = 1").ok()
    between(javascript)
    check_refused(javascript.run(code, timeoutMs=20_000))
    between(javascript)
    assert javascript.value("keep") == "1"


def test_it_can_be_caught(python: Context, javascript: Context) -> None:
    caught = "b = []\ntry:\n    while True: b.append(bytearray(10_000_000))\nexcept MemoryError:\n    n = len(b); del b\nn > 5"
    assert python.value(caught) == "True"
    assert python.value("n > 5") == "True"
    assert (
        javascript.value(
            "let caught; try { new Uint8Array(2 ** 32) } catch (e) { caught = e.name } caught"
        )
        == "'RangeError'"
    )


FILL_UP = "full = []\nfor size in (10**7, 10**6, 10**5, 10**4, 1000, 100):\n    try:\n        while True: full.append(bytes(size))\n    except MemoryError: pass"


def test_a_full_heap_can_be_looked_at_and_emptied(python: Context, between: Between) -> None:
    python.run("keep = 1").ok()
    python.run(FILL_UP + "\nkeep = 2", timeoutMs=20_000).ok()
    for _ in range(3):
        between(python)
        assert python.value("keep, len(full) > 10") == "(2, True)"
    # A run that takes even what was left for it is undone, and says so.
    run = python.run(FILL_UP.replace("full", "more") + "\nkeep = 3", timeoutMs=20_000)
    assert (run.status, run.state) in (("oom", "rolled_back"), ("ok", "kept")), run.raw
    between(python)
    assert python.value("keep") == ("2" if run.status == "oom" else "3")
    python.run("del full").ok()
    assert python.value("len(bytes(10**8))") == "100000000"


def test_neighbours_are_untouched_and_memory_comes_back(sandbox: Sandbox) -> None:
    hungry, quiet = sandbox.context("python"), sandbox.context("python")
    quiet.run("x = 1").ok()
    for _ in range(3):
        check_refused(hungry.run(PYTHON[0], timeoutMs=20_000))
        assert quiet.value("x") == "1"
    # What was freed costs nothing in the snapshot.
    snapshot = hungry.get()["snapshot"]
    assert snapshot is None or snapshot["storedBytes"] < 20_000_000
    assert hungry.value("globals().pop('b', None) and None; 1 + 1") == "2"
    assert hungry.get()["snapshot"]["storedBytes"] < 20_000_000
