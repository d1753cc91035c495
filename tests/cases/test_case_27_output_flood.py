# SPDX-License-Identifier: Apache-2.0
"""Case 27: a flood of output is cut, counted, and hurts nobody."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.processes import status_of
from quick.server import MEMORY_KIB, Server

LIMIT = 1 << 20


def server_memory_kib(server: Server) -> int:
    return int(status_of(server.pid)["VmRSS"].split()[0])


def test_one_very_long_print(server: Server, python: Context) -> None:
    run = python.run("print('head' + 'x' * 100_000_000 + 'tail')").ok()
    assert run.raw["stdoutTruncated"] is True and run.raw["stdoutBytes"] == 100_000_009
    assert run.stdout.startswith("headxxx") and run.stdout.endswith("xxxtail\n")
    assert LIMIT - 10 <= len(run.stdout) <= LIMIT + 200
    assert server_memory_kib(server) < MEMORY_KIB


def test_endless_prints_flow_through_flat_memory(server: Server, python: Context) -> None:
    run = python.run("while True: print('x' * 1000)", timeoutMs=1500)
    assert (run.status, run.state) == ("timeout", "kept")
    assert run.raw["stdoutTruncated"] is True and run.raw["stdoutBytes"] > LIMIT
    assert server_memory_kib(server) < MEMORY_KIB
    assert python.value("1 + 1") == "2"


def test_identical_lines_are_all_kept(python: Context) -> None:
    run = python.run("for _ in range(200_000): print('a')").ok()
    assert run.stdout == "a\n" * 200_000
    assert run.raw["stdoutTruncated"] is False


def test_a_stream_says_that_it_was_cut(python: Context) -> None:
    events = python.stream("for i in range(500_000): print('y', i)")
    streamed = "".join(event["data"] for event in events if event["type"] == "stdout")
    complete = events[-1]["data"]
    assert complete["stdoutTruncated"] is True
    assert len(streamed) <= LIMIT and streamed.startswith("y 0\ny 1\n")
    assert complete["stdout"].startswith("y 0\n") and complete["stdout"].endswith("y 499999\n")
    assert complete["stdoutBytes"] == sum(len(f"y {i}\n") for i in range(500_000))


def test_a_cut_is_between_characters(python: Context) -> None:
    run = python.run("print('🦔' * 1_000_000)").ok()
    head, _, tail = run.stdout.partition("\n[")
    assert "\ufffd" not in run.stdout and set(head) == {"🦔"}


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_many_displays(sandbox: Sandbox, language: str) -> None:
    code = {
        "python": "for i in range(5000): display(i)",
        "javascript": "for (let i = 0; i < 5000; i++) display(i)",
    }[language]
    outputs = sandbox.context(language).run(code).ok().outputs
    assert len(outputs) == 101
    assert [output["value"] for output in outputs[:100]] == [str(i) for i in range(100)]
    assert (outputs[100]["kind"], outputs[100]["reason"]) == ("rejected", "output_too_large")


def test_a_large_picture_is_rejected_with_its_reason(python: Context, between: Between) -> None:
    between(python)
    run = python.run("display({'image/png': b'\\x89PNG' + bytes(20_000_000)}, raw=True)").ok()
    assert run.output("png")["reason"] in ("requires_artifact_promotion", "output_too_large")
    assert run.output("text")["kind"] == "inline"
    # As text of JSON a larger one takes more memory than a context has; that is an error, too.
    run = python.run("display({'image/png': bytes(90_000_000)}, raw=True)")
    assert run.status == "ok" or run.error_name == "MemoryError", run.raw
    between(python)
    assert python.value("1 + 1") == "2"


def test_javascript_flood(javascript: Context) -> None:
    run = javascript.run("for (;;) console.log('x'.repeat(1000))", timeoutMs=1500)
    assert (run.status, run.state) == ("timeout", "kept")
    assert run.raw["stdoutTruncated"] is True
    assert javascript.value("1 + 1") == "2"
