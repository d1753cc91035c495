# SPDX-License-Identifier: Apache-2.0
"""Case 11: a client that goes away takes nothing along. The rule: its run goes on to its own end, runs that came later
wait for it as for any other, and its result can be fetched by its id."""

import json
from collections.abc import Callable

import pytest

from quick.client import ApiError, Client, Context, Run
from quick.processes import wait_until
from quick.raw import Raw, request
from quick.sse import decode_stream

PROGRAMS = {
    "python": (
        "import time\nfor i in range(20): print(i, flush=True); time.sleep(0.1)\nx = 'done'",
        "x",
        "'done'",
    ),
    "javascript": (
        "for (var i = 0; i < 20; i++) { console.log(i); await new Promise(r => setTimeout(r, 100)); }\nvar x = 'done'",
        "x",
        "'done'",
    ),
}
OUTPUT = "".join(f"{i}\n" for i in range(20))

LEAVE: dict[str, Callable[[Raw], None]] = {
    "FIN": Raw.close,
    "RST": Raw.reset,
    "half-close": Raw.half_close,
}


def begin(context: Context, route: str, code: str, *headers: str) -> Raw:
    """A run in progress on a connection of its own."""
    client = context.sandbox.client
    body = json.dumps({"code": code, "contextId": context.id}).encode()
    raw = Raw(client.url)
    raw.send(request(client, f"POST {context.sandbox.path}/code/{route}", *headers, body=body))
    wait_until(lambda: context.get()["running"], "the run starts")
    return raw


@pytest.mark.parametrize("way", LEAVE)
@pytest.mark.parametrize("route", ["runs", "runs/stream"])
@pytest.mark.parametrize("language", PROGRAMS)
def test_the_next_run_waits_for_it(
    request: pytest.FixtureRequest, language: str, route: str, way: str
) -> None:
    context: Context = request.getfixturevalue(language)
    code, name, value = PROGRAMS[language]
    raw = begin(context, route, code)
    LEAVE[way](raw)
    after = context.run(name).ok()
    assert (after.result, after.raw["executionCount"]) == (value, 2)
    assert context.get()["running"] is False
    if way == "half-close":
        # Who only stops sending still listens.
        answer = raw.expect(200)
        if route == "runs":
            run = Run(answer.json["run"])
        else:
            run = Run(list(decode_stream([answer.body]))[-1]["data"])
        assert run.ok().stdout == OUTPUT
        raw.close()


def test_the_output_of_a_stream_that_was_left_is_fetched_by_id(
    client: Client, python: Context
) -> None:
    path = f"{python.sandbox.path}/code/runs"
    body = {"code": PROGRAMS["python"][0], "contextId": python.id}
    with client.http.stream("POST", f"{path}/stream", json=body) as response:
        run_id = response.headers["x-dormouse-run-id"]
        next(response.iter_raw())
    with pytest.raises(ApiError) as caught:
        client.get(f"{path}/{run_id}")
    assert (caught.value.status, caught.value.code) == (409, "conflict")
    assert python.value("x") == "'done'"
    assert Run(client.get(f"{path}/{run_id}")["run"]).ok().stdout == OUTPUT


@pytest.mark.parametrize("route", ["runs", "runs/stream"])
def test_a_key_gives_the_answer_that_was_not_heard(
    client: Client, python: Context, route: str
) -> None:
    """Nothing runs twice: the repeated request gets the result of the first."""
    key = f"idempotency-key: left-{route}-{python.id}"
    code = "import time; time.sleep(0.5); n = globals().get('n', 0) + 1; print(n)"
    begin(python, route, code, key).reset()
    assert python.value("n") == "1"
    body = json.dumps({"code": code, "contextId": python.id}).encode()
    with Raw(client.url) as raw:
        raw.send(request(client, f"POST {python.sandbox.path}/code/{route}", key, body=body))
        answer = raw.expect(200)
    assert answer.headers["idempotency-replayed"] == "true" and b'"stdout":"1\\n"' in answer.body
    assert python.value("n") == "1"


@pytest.mark.parametrize("route", ["runs", "runs/stream"])
def test_an_endless_run_that_was_left_can_be_interrupted(python: Context, route: str) -> None:
    python.run("kept = 1").ok()
    begin(python, route, "while True: pass").close()
    python.interrupt()
    assert python.value("kept") == "1"


def test_a_run_that_was_left_ends_at_its_time_limit(python: Context) -> None:
    client = python.sandbox.client
    body = {"code": "while True: pass", "contextId": python.id, "timeoutMs": 1500}
    with Raw(client.url) as raw:
        content = json.dumps(body).encode()
        raw.send(request(client, f"POST {python.sandbox.path}/code/runs/stream", body=content))
        wait_until(lambda: python.get()["running"], "the run starts")
    assert python.value("1 + 1") == "2"


def test_runs_in_the_queue_whose_clients_left_run_too(python: Context) -> None:
    first = begin(python, "runs", "import time; time.sleep(1); order = ['first']")
    waiting = []
    client = python.sandbox.client
    for number in range(3):
        body = json.dumps({"code": f"order.append({number})", "contextId": python.id}).encode()
        waiting.append(Raw(client.url))
        route = ("runs", "runs/stream")[number % 2]
        waiting[-1].send(request(client, f"POST {python.sandbox.path}/code/{route}", body=body))
    wait_until(lambda: in_progress(client) >= 4, "all are in the queue")
    for raw in (*waiting, first):
        raw.reset()
    assert python.value("order[0], sorted(order[1:])") == "('first', [0, 1, 2])"
    assert python.get()["executions"] == 5


def in_progress(client: Client) -> float:
    for line in client.http.get("/metrics").text.splitlines():
        if line.startswith("dormouse_runs_in_progress "):
            return float(line.split(" ")[1])
    return 0.0
