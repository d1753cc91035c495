# SPDX-License-Identifier: Apache-2.0
"""Case 10: every run ends in exactly one status and says truly what became of the state."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import NewServer
from quick.client import ApiError, Context, Run, Sandbox
from quick.processes import wait_until

STATUSES = {"ok", "error", "timeout", "fuel_exhausted", "interrupted", "oom", "crashed", "exited"}


def outcome(context: Context, code: str) -> str:
    try:
        run: Run = context.run(code)
    except ApiError as error:
        return error.code
    assert run.status in STATUSES
    return run.status


@pytest.mark.parametrize("way", ["context", "sandbox"])
def test_what_is_deleted_under_a_run(sandbox: Sandbox, way: str) -> None:
    context = sandbox.context("python")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(outcome, context, "while True: pass")
        wait_until(lambda: context.get()["running"], "the run starts")
        if way == "context":
            context.delete()
        else:
            sandbox.delete()
        assert waiting.result(60) in (
            "interrupted",
            "crashed",
            "not_found",
            "sandbox_destroyed",
            "conflict",
        )


def test_the_state_said_is_the_state_found(python: Context) -> None:
    python.run("log = []").ok()
    programs = [
        "log.append(1)",
        "log.append(2); 1/0",
        "log.append(3)\nwhile True: pass",
        "log.append(4)\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "log.append(5); import os; os._exit(1)",
        "log.append(6); import os; os.abort()",
        "log.append(7); import sys; sys.exit(2)",
        "log.append(8); import re; re.match('(a+)+$', 'a' * 40 + 'b')",
        "log.append(9); 10 ** 10 ** 8",
        "log.append(10); x = []\nwhile True: x.append(bytearray(10_000_000))",
    ]
    expected: list[int] = []
    for number, code in enumerate(programs, 1):
        run = python.run(code, timeoutMs=400)
        assert run.status in STATUSES
        if run.state == "kept":
            expected.append(number)
        else:
            assert run.status != "ok"
        assert python.value("log") == repr(expected), (code, run.raw)


def test_a_server_stopped_during_a_run(new_server: NewServer) -> None:
    server = new_server()
    context = server.client.sandbox().context("python")
    context.run("x = 1").ok()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(outcome, context, "x = 2\nwhile True: pass")
        wait_until(lambda: context.get()["running"], "the run starts")
        assert server.stop() == 0
        assert waiting.result(60) in ("interrupted", "crashed", "resource_allocation_failed")
    server.start()
    again = Context(Sandbox(server.client, context.sandbox.id), context.id, "python")
    assert again.get()["running"] is False
    assert again.value("x") in ("1", "2")
