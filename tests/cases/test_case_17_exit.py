# SPDX-License-Identifier: Apache-2.0
"""Case 17: exit ends the run, with its code and message, and nothing else."""

import pytest

from conftest import Between
from quick.client import Context

PYTHON = [
    ("import sys; sys.exit(3)", 3),
    ("exit()", 0),
    ("quit(1)", 1),
    ("raise SystemExit('bye')", 1),
    ("raise SystemExit", 0),
    ("import os; os._exit(3)", 3),
    ("import sys; sys.exit(2**40)", None),
    ("import sys\ndef f():\n    sys.exit(9)\nlist(map(lambda _: f(), [1]))", 9),
    ("import asyncio, sys\nasync def f(): sys.exit(8)\nawait f()", 8),
]
JAVASCRIPT = [
    ("process.exit(3)", 3),
    ("process.exit()", 0),
    ("process.exitCode = 4; process.exit()", 4),
    ("setTimeout(() => process.exit(5), 1)", 5),
    ("Promise.resolve().then(() => process.exit(6)); await new Promise(r => setTimeout(r, 50))", 6),
]


@pytest.mark.parametrize(("code", "exit_code"), PYTHON)
def test_python(python: Context, between: Between, code: str, exit_code: int | None) -> None:
    python.run("v = 1").ok()
    between(python)
    run = python.run(f"print('before')\n{code}\nprint('after')")
    assert (run.status, run.stdout) == ("exited", "before\n")
    if exit_code is not None:
        assert run.exit_code == exit_code
    between(python)
    assert python.value("v") == "1"


def test_the_message_is_reported(python: Context) -> None:
    run = python.run("raise SystemExit('bye')")
    assert "bye" in run.stderr or (run.error is not None and "bye" in run.error["message"]), run.raw


@pytest.mark.parametrize(("code", "exit_code"), JAVASCRIPT)
def test_javascript(javascript: Context, between: Between, code: str, exit_code: int) -> None:
    javascript.run("var v = 1").ok()
    between(javascript)
    run = javascript.run(f"console.log('before'); {code}")
    assert (run.status, run.stdout, run.exit_code) == ("exited", "before\n", exit_code)
    between(javascript)
    assert javascript.value("v") == "1"


def test_abort_is_a_crash_of_this_run_only(python: Context, between: Between) -> None:
    python.run("v = 1").ok()
    run = python.run("import os\nprint('before', flush=True)\nos.abort()")
    assert run.status in ("crashed", "exited") and run.stdout == "before\n", run.raw
    between(python)
    assert python.value("v") == "1"


def test_finally_and_atexit_do_not_run_again(python: Context, between: Between) -> None:
    python.run("import atexit, sys\nlog = []\natexit.register(lambda: log.append('atexit'))").ok()
    for _ in range(3):
        between(python)
        assert (
            python.run("try:\n    sys.exit(1)\nfinally:\n    log.append('finally')").status
            == "exited"
        )
    between(python)
    log = python.value("log")
    assert log is not None and log.count("finally") == 3 and log.count("atexit") <= 1


def test_output_without_a_newline_is_not_lost(python: Context, javascript: Context) -> None:
    assert python.run("import sys; sys.stdout.write('half'); sys.exit(0)").stdout == "half"
    assert javascript.run("process.stdout.write('half'); process.exit(0)").stdout == "half"
