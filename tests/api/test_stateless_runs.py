# SPDX-License-Identifier: Apache-2.0
"""Runs without a sandbox: a fresh interpreter each, and nothing of it is kept."""

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import NewServer
from quick import contract
from quick.client import ApiError, Client, Json, Run
from quick.processes import status_of, wait_until, workers_of
from quick.server import CONFIG, Server
from quick.sse import Event, decode_stream


def run(client: Client, code: str, language: str = "python", **fields: Any) -> Run:
    return Run(client.post("/v1/runs", {"code": code, "language": language, **fields})["run"])


def open_stream(client: Client, code: str, **fields: Any) -> Iterator[tuple[str, Event]]:
    """The run's id with each event."""
    body = {"code": code, "language": "python", **fields}
    with client.http.stream("POST", "/v1/runs/stream", json=body) as response:
        if not response.is_success:
            response.read()
            raise ApiError(response)
        assert "x-dormouse-context-id" not in response.headers
        for event in decode_stream(response.iter_raw()):
            contract.check_event("StatelessRunEvent", event)
            yield response.headers["x-dormouse-run-id"], event


def rows(data: Path) -> dict[str, int]:
    """How many rows each table of the database has, but for those that count, repeat or say how it was closed."""
    with sqlite3.connect(f"file:{data / 'dormouse.db'}?mode=ro", uri=True) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {
            name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for name in names
            if name not in ("usage", "answers", "meta")
        }


def files_of(data: Path) -> set[str]:
    return {
        str(path.relative_to(data))
        for folder in ("segments", "contents", "tmp")
        for path in (data / folder).rglob("*")
        if path.is_file()
    }


def test_a_result_has_every_documented_field(client: Client) -> None:
    response = client.http.post(
        "/v1/runs",
        json={"code": "import sys\nprint('out')\nprint('err', file=sys.stderr)\n5", "language": "python"},
    )
    raw = response.json()["run"]
    assert raw["runId"] == response.headers["x-dormouse-run-id"]
    assert (raw["language"], raw["binding"], raw["status"]) == ("python", "PYTHON", "ok")
    assert raw["state"] == "discarded"
    assert (raw["stdout"], raw["stderr"]) == ("out\n", "err\n")
    assert raw["outputs"] == [{"kind": "inline", "format": "text", "value": "5", "isResult": True}]
    assert not {"sandboxId", "contextId", "context", "files", "executionCount"} & set(raw)


@pytest.mark.parametrize(
    ("language", "code", "result"),
    [("python", "6 * 7", "42"), ("javascript", "6 * 7", "42"), ("typescript", "const x: number = 42; x", "42")],
)
def test_every_language(client: Client, language: str, code: str, result: str) -> None:
    assert run(client, code, language).result == result
    by_binding = client.post("/v1/runs", {"code": code, "binding": language.upper()})["run"]
    assert Run(by_binding).result == result


def test_nothing_is_there_for_the_next_run(client: Client) -> None:
    first = run(client, "kept = 1\nopen('kept', 'w').write('x')\nopen('/tmp/kept', 'w').write('x')\nkept")
    assert first.status == "ok"
    seen = run(client, "import os\n('kept' in globals(), os.listdir('.'), os.listdir('/tmp'))")
    assert seen.result == "(False, [], [])"


def test_nothing_is_kept_on_disk_but_usage(new_server: NewServer) -> None:
    server = new_server()
    run(server.client, "1")
    before = rows(server.data), files_of(server.data)
    code = "import os\nx = bytearray(os.urandom(8 << 20))\nopen('large', 'wb').write(x)\nopen('small', 'w').write('1')"
    for _ in range(3):
        assert run(server.client, code).status == "ok"
    list(open_stream(server.client, code))
    runs_before = usage(server.client)
    server.stop()
    assert (rows(server.data), files_of(server.data)) == before
    assert runs_before == 5
    server.start()
    assert usage(server.client) == 5


def usage(client: Client) -> float:
    """How many runs were counted."""
    events = client.get("/v1/usage")["events"]
    return float(sum(event["amount"] for event in events if event["metric"] == "code_run_invocations"))


def test_limits_are_those_of_every_run(client: Client) -> None:
    assert run(client, "while True: pass", timeoutMs=300).status == "timeout"
    assert run(client, "while True: pass", fuel=100_000).status == "fuel_exhausted"
    assert run(client, "x = bytearray(600 << 20)", memoryBytes=100 << 20).error_name == "MemoryError"
    assert run(client, "import sys; sys.exit(3)").exit_code == 3
    assert run(client, "1/0").error_name == "ZeroDivisionError"
    assert run(client, "import os; os.environ['A'] + input()", env={"A": "a"}, stdin="b\n").result == "'ab'"
    flood = run(client, "print('x' * (3 << 20))")
    assert flood.raw["stdoutTruncated"] and flood.raw["stdoutBytes"] == (3 << 20) + 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"contextId": "cctx_1"}, "contextId"),
        ({"sandboxId": "sbx_1"}, "sandboxId"),
        ({"artifactPolicy": "promote"}, "artifactPolicy"),
        ({"timeoutMs": 600_001}, "timeoutMs"),
        ({"cwd": "/etc"}, "cwd"),
        ({"env": {"DORMOUSE_X": "1"}}, None),
        ({"memoryBytes": 1 << 40}, "memoryBytes"),
    ],
)
def test_refusals_name_the_field(client: Client, fields: Json, field: str | None) -> None:
    with pytest.raises(ApiError) as refused:
        run(client, "1", **fields)
    assert refused.value.status == 400
    assert field is None or refused.value.details["field"] == field


def test_the_language_must_be_known(client: Client) -> None:
    for body in ({"code": "1"}, {"code": "1", "language": "cobol"}, {"code": "1", "binding": "COBOL"}):
        with pytest.raises(ApiError) as refused:
            client.post("/v1/runs", body)
        assert refused.value.status in (400, 404)
    with pytest.raises(ApiError) as refused:
        client.post("/v1/runs", {"code": "1", "language": "python", "binding": "JAVASCRIPT"})
    assert refused.value.details["field"] == "language"


def test_a_stream_ends_with_the_blocking_results_shape(client: Client) -> None:
    events = list(open_stream(client, "print('a')\n1/0"))
    kinds = [event["type"] for _, event in events]
    assert kinds == ["stdout", "error", "complete"]
    run_id, last = events[-1]
    assert last["data"]["runId"] == run_id and last["data"]["state"] == "discarded"
    assert client.get(f"/v1/runs/{run_id}")["run"] == last["data"]


def test_a_run_is_known_by_its_id_and_to_nobody_else(client: Client, sandbox: Any) -> None:
    run_id = run(client, "7").raw["runId"]
    assert Run(client.get(f"/v1/runs/{run_id}")["run"]).result == "7"
    assert client.post(f"/v1/runs/{run_id}/interrupt")["run"] == {"runId": run_id, "running": False}
    other = sandbox.run("1", language="python").raw["runId"]
    for path in (f"/v1/runs/{other}", "/v1/runs/run_none", f"{sandbox.path}/code/runs/{run_id}"):
        with pytest.raises(ApiError) as missing:
            client.get(path)
        assert (missing.value.status, missing.value.code) == (404, "not_found")
    with pytest.raises(ApiError) as missing:
        client.post(f"/v1/runs/{other}/interrupt")
    assert missing.value.status == 404


def test_an_interrupt_stops_a_run(client: Client) -> None:
    events = open_stream(client, "print('on', flush=True)\nwhile True: pass")
    run_id, first = next(events)
    assert first["data"] == "on\n"
    with pytest.raises(ApiError) as running:
        client.get(f"/v1/runs/{run_id}")
    assert running.value.status == 409
    assert client.post(f"/v1/runs/{run_id}/interrupt")["run"]["running"] is True
    _, last = list(events)[-1]
    assert (last["data"]["status"], last["data"]["error"]["name"]) == ("interrupted", "Interrupted")


def test_runs_go_on_side_by_side_up_to_a_limit(new_server: NewServer) -> None:
    server = new_server(CONFIG + "stateless_runs = 2\n")
    streams = [open_stream(server.client, "print('on', flush=True)\nwhile True: pass") for _ in range(2)]
    ids = [next(stream)[0] for stream in streams]
    with pytest.raises(ApiError) as refused:
        run(server.client, "1")
    assert (refused.value.status, refused.value.code) == (429, "rate_limited")
    assert refused.value.details["limit"] == 2 and refused.value.headers["retry-after"]
    for run_id in ids:
        server.client.post(f"/v1/runs/{run_id}/interrupt")
    for stream in streams:
        list(stream)
    assert run(server.client, "1").result == "1"


def test_many_at_once_do_not_meet(client: Client) -> None:
    code = "import time\nopen('n', 'w').write('{0}')\ntime.sleep(0.05)\nint(open('n').read())"
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda n: run(client, code.format(n)).result, range(24)))
    assert results == [str(n) for n in range(24)]


def test_random_numbers_never_repeat(client: Client) -> None:
    code = "import random, uuid\n(random.random(), uuid.uuid4().hex)"
    assert len({run(client, code).result for _ in range(5)}) == 5


def test_a_repeated_key_runs_once(client: Client) -> None:
    headers = {"idempotency-key": f"stateless-{time.time_ns()}"}
    body = {"code": "import uuid\nuuid.uuid4().hex", "language": "python"}
    first, again = (client.http.post("/v1/runs", json=body, headers=headers) for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    other = client.http.post("/v1/runs", json={**body, "code": "1"}, headers=headers)
    assert other.status_code == 409 and other.json()["error"]["code"] == "idempotency_key_reused"


def test_keys_see_the_runs_of_their_projects(client: Client) -> None:
    projects = [client.post("/v1/projects", {"name": name})["project"]["id"] for name in ("one", "two")]
    keys = [
        client.post("/v1/api-keys", {"name": "k", "scopes": ["code:run"], "projectIds": [project]})["secret"]
        for project in projects
    ]
    one, two = (Client(client.url, key) for key in keys)
    mine = run(one, "1").raw["runId"]
    assert run(one, "2", projectId=projects[0]).result == "2"
    with pytest.raises(ApiError) as refused:
        run(one, "1", projectId=projects[1])
    assert refused.value.status == 404
    assert one.get(f"/v1/runs/{mine}") and client.get(f"/v1/runs/{mine}")
    with pytest.raises(ApiError) as missing:
        two.get(f"/v1/runs/{mine}")
    assert missing.value.status == 404
    reader = client.post("/v1/api-keys", {"name": "r", "scopes": ["sandbox:read"]})["secret"]
    with pytest.raises(ApiError) as forbidden:
        run(Client(client.url, reader), "1")
    assert forbidden.value.details["scope"] == "code:run"


def test_a_workers_confinement_and_end(server: Server) -> None:
    """It is the process that every run gets, and it is gone with the run."""
    known = set(workers_of(server.pid))
    events = open_stream(server.client, "print('on', flush=True)\nwhile True: pass")
    run_id, _ = next(events)
    pids = [pid for pid in workers_of(server.pid) if status_of(pid).get("Seccomp") == "2"]
    assert pids
    server.client.post(f"/v1/runs/{run_id}/interrupt")
    list(events)
    wait_until(lambda: len(workers_of(server.pid)) <= max(len(known), len(pids)), "the run's worker ends")


def test_a_server_that_stops_ends_them(new_server: NewServer) -> None:
    server = new_server("[limits]\nstop_grace_ms = 500\nshutdown_grace_ms = 100\n")
    events = open_stream(server.client, "print('on', flush=True)\nwhile True: pass")
    next(events)
    assert server.stop() == 0
