# SPDX-License-Identifier: Apache-2.0
"""Blocking runs: the shape of their results and what requests may say."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from quick.client import ApiError, Client, Context, Run, Sandbox
from quick.processes import wait_until


def test_a_result_has_every_documented_field(client: Client, sandbox: Sandbox) -> None:
    response = client.http.post(
        f"{sandbox.path}/code/runs",
        json={
            "code": "import sys\nprint('out')\nprint('err', file=sys.stderr)\n5",
            "language": "python",
        },
    )
    assert response.status_code == 200
    raw = response.json()["run"]
    assert re.fullmatch(r"run_[A-Za-z0-9]+", raw["runId"])
    assert response.headers["x-dormouse-run-id"] == raw["runId"]
    assert raw["sandboxId"] == sandbox.id and raw["contextId"].startswith("cctx_")
    assert (raw["language"], raw["binding"]) == ("python", "PYTHON")
    assert (raw["executionCount"], raw["status"], raw["state"]) == (1, "ok", "kept")
    assert "exitCode" not in raw and "error" not in raw
    assert (raw["stdout"], raw["stderr"]) == ("out\n", "err\n")
    assert (raw["stdoutTruncated"], raw["stderrTruncated"]) == (False, False)
    assert (raw["stdoutBytes"], raw["stderrBytes"]) == (4, 4)
    assert raw["outputs"] == [{"kind": "inline", "format": "text", "value": "5", "isResult": True}]
    assert isinstance(raw["durationMs"], int)
    assert set(raw["usage"]) == {
        "fuelConsumed",
        "fuelLimit",
        "cpuMs",
        "wallMs",
        "memoryBytes",
        "peakMemoryBytes",
    }
    assert raw["files"] == {"written": [], "deleted": []}


def test_an_error_of_the_code_is_a_result(python: Context) -> None:
    run = python.run("x = 1\nraise ValueError('no')")
    assert (run.status, run.state) == ("error", "kept")
    assert run.error is not None
    assert run.error["name"] == "ValueError" and run.error["message"] == "no"
    assert run.error["lineNumber"] == 2
    assert run.error["traceback"][0] == "Traceback (most recent call last):"
    assert python.value("x") == "1"


def test_files_that_a_run_changed_are_named(python: Context) -> None:
    run = python.run(
        "import os\nos.mkdir('d')\nopen('d/a', 'w').write('1')\nopen('b', 'w').close()"
    )
    assert set(run.ok().raw["files"]["written"]) >= {"/workspace/d/a", "/workspace/b"}
    run = python.run("os.remove('b'); open('d/a', 'a').write('2'); os.rename('d', 'e')")
    files = run.ok().raw["files"]
    assert "/workspace/b" in files["deleted"] and "/workspace/e/a" in files["written"]
    assert python.run("open('e/a').read()").ok().raw["files"] == {"written": [], "deleted": []}


def test_a_run_can_be_asked_about_afterwards(client: Client, python: Context) -> None:
    run = python.run("print('once'); 7").ok()
    path = f"{python.sandbox.path}/code/runs/{run.raw['runId']}"
    assert client.get(path)["run"] == run.raw
    with pytest.raises(ApiError) as foreign:
        client.get(f"{client.sandbox().path}/code/runs/{run.raw['runId']}")
    assert (foreign.value.status, foreign.value.code) == (404, "not_found")
    with pytest.raises(ApiError) as unknown:
        client.get(f"{python.sandbox.path}/code/runs/run_unknown")
    assert unknown.value.code == "not_found"


def test_a_run_in_progress_is_a_conflict(client: Client, python: Context) -> None:
    with client.http.stream(
        "POST",
        f"{python.sandbox.path}/code/runs/stream",
        json={"code": "while True: pass", "contextId": python.id},
    ) as response:
        run_id = response.headers["x-dormouse-run-id"]
        assert response.headers["x-dormouse-context-id"] == python.id
        with pytest.raises(ApiError) as caught:
            client.get(f"{python.sandbox.path}/code/runs/{run_id}")
        assert (caught.value.status, caught.value.code) == (409, "conflict")
        python.interrupt()
        response.read()
    assert client.get(f"{python.sandbox.path}/code/runs/{run_id}")["run"]["status"] == "interrupted"


@pytest.mark.parametrize("timeout", [0, -1, 1e12, "5", None, 1.5, 600_001, True, [], {}])
def test_time_limits_that_are_none_are_refused(python: Context, timeout: Any) -> None:
    for call in (
        lambda: python.run("1", timeoutMs=timeout),
        lambda: python.stream("1", timeoutMs=timeout),
    ):
        with pytest.raises(ApiError) as caught:
            call()
        assert (caught.value.status, caught.value.code) == (400, "invalid_request")
        assert caught.value.details["field"] == "timeoutMs"


@pytest.mark.parametrize("timeout", [1000, 1000.0, 600_000])
def test_whole_numbers_are_time_limits(python: Context, timeout: Any) -> None:
    assert python.run("1", timeoutMs=timeout).ok().result == "1"


def test_fuel_is_cpu_time(python: Context) -> None:
    run = python.run("x = 1\nwhile True: pass", fuel=200_000, timeoutMs=60_000)
    assert (run.status, run.state) == ("fuel_exhausted", "kept")
    assert run.raw["usage"]["fuelLimit"] == 200_000
    assert run.raw["usage"]["fuelConsumed"] >= 200_000
    assert python.run("x", fuel=10_000_000).ok().result == "1"
    # Waiting costs nothing.
    assert python.run("import time; time.sleep(0.3); 2", fuel=200_000).ok().result == "2"


def test_a_memory_limit_of_one_run(python: Context) -> None:
    python.run("keep = 1").ok()
    run = python.run("big = bytearray(200_000_000)", memoryBytes=100_000_000)
    assert run.status in ("error", "oom")
    if run.status == "error":
        assert run.error_name == "MemoryError"
    assert python.value("keep, 'big' in globals()") == "(1, False)"
    assert python.value("len(bytearray(200_000_000))") == "200000000"


@pytest.mark.parametrize(
    "fields",
    [
        {"fuel": 0},
        {"fuel": -1},
        {"fuel": "1"},
        {"memoryBytes": 0},
        {"memoryBytes": 2**40},
        {"stdin": 5},
        {"artifactPolicy": "other"},
        {"artifactPolicy": None},
        {"contextId": ""},
        {"contextId": 5},
        {"env": None},
    ],
)
def test_fields_out_of_range_are_refused(sandbox: Sandbox, fields: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as caught:
        sandbox.run("1", **{"language": "python", **fields})
    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    assert caught.value.details["field"] in fields


def test_stdin_is_text_of_the_run(python: Context) -> None:
    text = "zeile 1\nпривет\n🦔" * 1000
    assert python.run(
        "import sys, hashlib; hashlib.sha256(sys.stdin.buffer.read()).hexdigest()", stdin=text
    ).ok()
    assert python.run("len(sys.stdin.read())", stdin=text).ok().result == str(len(text))
    assert python.run("sys.stdin.read()").ok().result == "''"


def test_runs_in_one_context_are_queued_in_order(python: Context) -> None:
    python.run("log = []").ok()
    with ThreadPoolExecutor(12) as pool:
        runs = list(pool.map(lambda n: python.run(f"log.append({n}); len(log)"), range(12)))
    counts = sorted(run.ok().raw["executionCount"] for run in runs)
    assert counts == list(range(2, 14))
    # Each saw exactly those before it.
    assert sorted(int(run.result or "0") for run in runs) == list(range(1, 13))
    for run in runs:
        assert run.raw["executionCount"] == int(run.result or "0") + 1


def test_contexts_of_one_sandbox_run_side_by_side(sandbox: Sandbox) -> None:
    first, second = sandbox.context("python"), sandbox.context("javascript")
    first.run("import time").ok()
    with ThreadPoolExecutor(2) as pool:
        # The first ends only once the second has written; they must overlap.
        waiting = pool.submit(first.run, "time.sleep(1.0); 'slept'")
        wait_until(lambda: first.get()["running"], "the run starts")
        quick = second.run("1 + 1").ok()
        assert first.get()["running"] is True
        assert quick.result == "2"
        assert waiting.result(60).ok().result == "'slept'"


def test_the_last_commit_to_a_path_wins_and_others_are_merged(sandbox: Sandbox) -> None:
    first, second = sandbox.context("python"), sandbox.context("python")
    sandbox.write("shared", "start")
    stream = first.open_stream(
        "open('shared', 'w').write('slow')\nopen('mine', 'w').write('1')\n"
        "print('written', flush=True)\nwhile True: pass"
    )
    assert next(stream)["data"].startswith("written")
    second.run("open('shared', 'w').write('quick'); open('theirs', 'w').write('2')").ok()
    assert sandbox.read("shared") == "quick"
    first.interrupt()
    complete = list(stream)[-1]["data"]
    assert (complete["status"], complete["state"]) == ("interrupted", "kept")
    assert sandbox.read("shared") == "slow"
    assert sandbox.names() == ["mine", "shared", "theirs"]
    assert second.value("open('shared').read(), open('mine').read()") == "('slow', '1')"


def test_every_context_reads_what_the_others_wrote(sandbox: Sandbox) -> None:
    python, javascript = sandbox.context("python"), sandbox.context("javascript")
    typescript = sandbox.context("typescript")
    python.run("open('p.txt', 'w').write('from python')").ok()
    run = javascript.run(
        "const fs = require('fs'); fs.writeFileSync('j.txt', 'from javascript'); fs.readFileSync('p.txt', 'utf8')"
    )
    assert run.ok().result == "'from python'"
    assert (
        typescript.run(
            "import fs from 'node:fs'; const s: string = fs.readFileSync('j.txt', 'utf8'); s"
        )
        .ok()
        .result
        == "'from javascript'"
    )
    python.evict()
    sandbox.write("api.txt", "from outside")
    assert (
        python.value("[open(n).read() for n in ('j.txt', 'api.txt')]")
        == "['from javascript', 'from outside']"
    )
    sandbox.remove("api.txt")
    assert python.value("import os; os.path.exists('api.txt')") == "False"


def test_deleting_a_context_ends_its_run(python: Context) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(outcome, python, "while True: pass")
        wait_until(lambda: python.get()["running"], "the run starts")
        python.delete()
        assert waiting.result(60) in ("interrupted", "crashed", "not_found", "conflict")


def outcome(context: Context, code: str) -> str:
    """The status of a run, or the code of its API error."""
    try:
        run: Run = context.run(code)
    except ApiError as error:
        return error.code
    return run.status
