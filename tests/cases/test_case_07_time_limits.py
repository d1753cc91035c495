# SPDX-License-Identifier: Apache-2.0
"""Case 7: the time limit given is the one enforced, on every way in."""

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import Between, NewServer
from quick.client import Context, Sandbox
from quick.server import DORMOUSE, Server

LOOP = {"python": "while True: pass", "javascript": "for (;;);", "typescript": "while (true);"}
# A run must end near its limit; twice the limit is the fault this looks for.
SLACK_MS = 1900


@pytest.mark.parametrize("language", LOOP)
@pytest.mark.parametrize("limit", [300, 2000])
def test_a_blocking_run_ends_at_its_limit(
    sandbox: Sandbox, between: Between, language: str, limit: int
) -> None:
    context = sandbox.context(language)
    context.run("1").ok()
    between(context)
    run = context.run(LOOP[language], timeoutMs=limit)
    assert (run.status, run.state) == ("timeout", "kept")
    assert run.error is not None
    assert run.error["name"] == "TimeoutError" and str(limit) in run.error["message"]
    assert limit <= run.raw["durationMs"] + 50 and run.raw["usage"]["wallMs"] < limit + SLACK_MS


def test_a_stream_ends_at_its_limit(python: Context) -> None:
    events = python.stream(LOOP["python"], timeoutMs=2000)
    complete = events[-1]["data"]
    assert complete["status"] == "timeout" and complete["error"]["name"] == "TimeoutError"
    assert complete["usage"]["wallMs"] < 2000 + SLACK_MS


def test_the_command_line_ends_at_its_limit(server: Server, sandbox: Sandbox) -> None:
    command = [
        str(DORMOUSE),
        "run",
        "--json",
        "--data",
        str(server.data),
        "-s",
        sandbox.id,
        "--timeout",
        "2s",
        "-c",
        LOOP["python"],
    ]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    run = json.loads(ended.stdout)["run"]
    assert ended.returncode == 1 and run["status"] == "timeout"
    assert 2000 <= run["usage"]["wallMs"] < 2000 + SLACK_MS


def test_waiting_in_the_queue_is_not_running(python: Context) -> None:
    """The limit counts from the start of the run, not from its arrival."""
    python.run("import time").ok()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(python.run, "time.sleep(1.5)")
        time.sleep(0.2)
        second = pool.submit(python.run, "'ran'", timeoutMs=1000)
        first.result(60).ok()
        assert second.result(60).ok().result == "'ran'"


def test_a_configured_default_and_ceiling(new_server: NewServer) -> None:
    server = new_server("[limits]\ndefault_timeout_ms = 500\nmax_timeout_ms = 1000\n")
    context = server.client.sandbox().context("python")
    run = context.run(LOOP["python"])
    assert run.status == "timeout" and run.raw["usage"]["wallMs"] < 500 + SLACK_MS
    assert server.client.get("/v1/capabilities")["capabilities"]["limits"]["maxTimeoutMs"] == 1000
    response = server.client.http.post(
        f"{context.sandbox.path}/code/runs",
        json={"code": "1", "contextId": context.id, "timeoutMs": 1001},
    )
    assert response.status_code == 400
