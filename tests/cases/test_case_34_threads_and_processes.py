# SPDX-License-Identifier: Apache-2.0
"""Case 34: imports work; use of threads and processes fails at once, with words."""

import pytest

from conftest import Between
from quick.client import Context

IMPORTS = "import threading, concurrent.futures, multiprocessing, subprocess, signal, queue, _thread, asyncio, socket, selectors"

FAILS = [
    "import threading; threading.Thread(target=print).start()",
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as p: p.submit(print).result()",
    "from multiprocessing.pool import ThreadPool; ThreadPool(2)",
    "import multiprocessing; multiprocessing.Process(target=print).start()",
    "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor() as p: p.submit(print).result()",
    "import subprocess; subprocess.run(['ls'])",
    "import subprocess; subprocess.check_output('ls', shell=True)",
    "import os; os.fork()",
    "import os; os.system('ls')",
    "import os; os.popen('ls').read()",
    "import os; os.execv('/bin/ls', ['ls'])",
    "import signal; signal.alarm(1)",
    "import asyncio; await asyncio.create_subprocess_exec('ls')",
    "import threading; threading.Event().wait()",
    "import queue; queue.Queue().get()",
    "import socket; socket.create_connection(('127.0.0.1', 80))",
    "import socket; socket.socket().bind(('127.0.0.1', 0))",
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1/')",
    "import threading; threading.Timer(0.1, print).start()",
    "import _thread; _thread.start_new_thread(print, ())",
]


def test_plain_imports_succeed(python: Context) -> None:
    python.run(IMPORTS).ok()


@pytest.mark.parametrize("code", FAILS)
def test_use_fails_at_once_with_an_error_that_can_be_caught(python: Context, code: str) -> None:
    run = python.run(code, timeoutMs=10_000)
    assert run.status == "error", run.raw
    assert run.error is not None and len(run.error["message"]) > 5
    caught = f"try:\n{indent(code)}\n    outcome = 'no error'\nexcept Exception as e:\n    outcome = 'caught'\noutcome"
    assert python.run(caught, timeoutMs=10_000).result == "'caught'"


def indent(code: str) -> str:
    return "\n".join("    " + line for line in code.split("\n"))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os; os.system('ls')", "process"),
        ("import os; os.fork()", "process"),
        ("import threading; threading.Thread(target=print).start()", "thread"),
    ],
)
def test_the_error_names_the_limit_and_a_way_round(python: Context, code: str, words: str) -> None:
    run = python.run(code)
    assert run.error is not None and words in run.error["message"].lower()


def test_work_for_another_thread_is_done_at_once(python: Context, between: Between) -> None:
    """The rule for asyncio.to_thread: the result is right, only nothing else goes on meanwhile."""
    between(python)
    assert python.value("import asyncio; await asyncio.to_thread(pow, 2, 10)") == "1024"


def test_what_needs_no_thread_works(python: Context, between: Between) -> None:
    python.run(
        "import threading, queue, contextvars\nlock = threading.RLock(); local = threading.local(); local.x = 5; q = queue.Queue(); q.put(1); event = threading.Event()"
    ).ok()
    between(python)
    assert (
        python.value(
            "with lock: r = (local.x, q.get(), threading.current_thread().name, threading.active_count(), event.is_set())\nr"
        )
        == "(5, 1, 'MainThread', 1, False)"
    )
    assert python.value("event.wait(0.01), q.empty()") == "(False, True)"


@pytest.mark.parametrize(
    "code",
    [
        "require('child_process').execSync('ls')",
        "new Worker('data:,')",
        "new (require('worker_threads').Worker)('x')",
        "await fetch('http://127.0.0.1/')",
        "require('net').connect(80)",
        "require('http').get('http://127.0.0.1/')",
        "require('cluster').fork()",
    ],
)
def test_javascript(javascript: Context, code: str) -> None:
    run = javascript.run(code, timeoutMs=10_000)
    assert run.status == "error", run.raw
    assert run.error is not None and len(run.error["message"]) > 5
    assert (
        javascript.run(
            f"let r; try {{ {code}; r = 'no error' }} catch {{ r = 'caught' }} r", timeoutMs=10_000
        ).result
        == "'caught'"
    )
