# SPDX-License-Identifier: Apache-2.0
"""Case 12: a failing run does not take along those queued behind it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from quick.client import Client, Context, Run, Sandbox
from quick.processes import wait_until

PROGRAMS = {
    "python": ("import time; time.sleep(0.5)", "1/0", "x = 5", "x"),
    "javascript": ("await new Promise(r => setTimeout(r, 500))", "null.x", "var x = 5", "x"),
    "typescript": (
        "await new Promise<void>(r => setTimeout(r, 500))",
        "(null as any).x",
        "var x: number = 5",
        "x",
    ),
}


def in_progress(client: Client) -> float:
    for line in client.http.get("/metrics").text.splitlines():
        if line.startswith("dormouse_runs_in_progress "):
            return float(line.split(" ")[1])
    return 0.0


def streamed(context: Context, code: str) -> Run:
    """A run as the last event of its stream tells it."""
    return Run(context.stream(code)[-1]["data"])


WAYS = {"run": Context.run, "stream": streamed}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("language", PROGRAMS)
def test_errors_do_not_drop_the_queue(
    client: Client, sandbox: Sandbox, language: str, way: str
) -> None:
    context = sandbox.context(language)
    base = in_progress(client)
    with ThreadPoolExecutor(4) as pool:
        waiting = []
        for number, code in enumerate(PROGRAMS[language], 1):
            waiting.append(pool.submit(WAYS[way], context, code))
            wait_until(
                lambda: in_progress(client) >= base + number or waiting[-1].done(),
                "the run is queued",
            )
        runs = [one.result(60) for one in waiting]
    assert [run.raw["executionCount"] for run in runs] == [1, 2, 3, 4]
    assert [run.status for run in runs] == ["ok", "error", "ok", "ok"]
    assert runs[3].result == "5"


def test_a_stopped_run_does_not_drop_the_queue(client: Client, sandbox: Sandbox) -> None:
    context = sandbox.context("python")
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(context.run, "while True: pass", timeoutMs=700)
        wait_until(lambda: context.get()["running"], "the run starts")
        second = pool.submit(context.run, "y = 6")
        assert first.result(60).status == "timeout"
        second.result(60).ok()
    assert context.value("y") == "6"
