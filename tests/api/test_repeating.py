# SPDX-License-Identifier: Apache-2.0
"""Requests with an idempotency key are executed at most once, whatever happens."""

import contextlib
import random
import threading
import time
import uuid
from typing import Any

import httpx
import pytest

from conftest import NewServer
from quick.client import Client, Sandbox
from quick.server import Server
from quick.sse import decode_stream


def keyed(client: Client, path: str, body: Any, key: str) -> httpx.Response:
    return client.http.post(path, json=body, headers={"idempotency-key": key})


def new_key() -> str:
    return uuid.uuid4().hex


def replayed(response: httpx.Response) -> bool:
    return response.headers.get("idempotency-replayed") == "true"


def step(box: Sandbox, key: str, stream: bool = False) -> httpx.Response:
    """One run that counts itself in memory and in a file."""
    code = "n = globals().get('n', 0) + 1\nopen('n', 'a').write('x')\nn, len(open('n').read())"
    path = f"{box.path}/code/runs" + ("/stream" if stream else "")
    return keyed(box.client, path, {"code": code, "language": "python"}, key)


def test_a_run_is_executed_once(sandbox: Sandbox) -> None:
    key = new_key()
    first, again = step(sandbox, key), step(sandbox, key)
    assert (first.status_code, replayed(first), replayed(again)) == (200, False, True)
    assert again.content == first.content
    assert again.headers["x-dormouse-run-id"] == first.headers["x-dormouse-run-id"]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert step(sandbox, new_key()).json()["run"]["outputs"][0]["value"] == "(2, 2)"


def test_a_replayed_stream_is_one_complete_event(sandbox: Sandbox) -> None:
    key = new_key()
    first = list(decode_stream([step(sandbox, key, stream=True).content]))
    again = step(sandbox, key, stream=True)
    assert replayed(again) and again.headers["content-type"].startswith("text/event-stream")
    events = list(decode_stream([again.content]))
    assert len(events) == 1 and events[0] == first[-1]
    # The blocking route is another route.
    assert step(sandbox, key).json()["run"]["outputs"][0]["value"] == "(2, 2)"


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_answers_outlive_the_server(new_server: NewServer, end: str) -> None:
    server = new_server()
    project = new_key()
    made = keyed(server.client, "/v1/projects", {"name": "p"}, project)
    create = new_key()
    sandbox = keyed(server.client, "/v1/sandboxes", {"metadata": {"a": "b"}}, create)
    box = Sandbox(server.client, sandbox.json()["sandbox"]["id"])
    context = new_key()
    first_context = keyed(box.client, f"{box.path}/code/contexts", {"language": "python"}, context)
    run, stream = new_key(), new_key()
    first_run, first_stream = step(box, run), step(box, stream, stream=True)
    ttl = new_key()
    first_ttl = keyed(box.client, f"{box.path}/ttl", {"ttlMs": 3_600_000}, ttl)
    if end == "kill":
        server.kill()
    else:
        server.stop()
    server.start()
    box = Sandbox(server.client, box.id)
    for first, again in (
        (made, keyed(server.client, "/v1/projects", {"name": "p"}, project)),
        (sandbox, keyed(server.client, "/v1/sandboxes", {"metadata": {"a": "b"}}, create)),
        (
            first_context,
            keyed(box.client, f"{box.path}/code/contexts", {"language": "python"}, context),
        ),
        (first_run, step(box, run)),
        (first_ttl, keyed(box.client, f"{box.path}/ttl", {"ttlMs": 3_600_000}, ttl)),
    ):
        assert first.is_success and replayed(again)
        assert (again.status_code, again.content) == (first.status_code, first.content)
    replay = list(decode_stream([step(box, stream, stream=True).content]))
    assert replay == list(decode_stream([first_stream.content]))[-1:]
    assert step(box, new_key()).json()["run"]["outputs"][0]["value"] == "(3, 3)"
    other = keyed(server.client, "/v1/sandboxes", {}, create)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert len(server.client.get("/v1/sandboxes")["data"]) == 1
    assert len(server.client.get("/v1/projects")["data"]) == 2


def test_a_run_cut_short_by_a_crash_is_executed_once_in_the_end(new_server: NewServer) -> None:
    server = new_server()
    box = server.client.sandbox()
    chance = random.Random(7)
    for count in range(1, 13):
        key = new_key()
        attempts = 0
        while True:
            attempts += 1
            crash = attempts <= 3
            response = step_and_crash(server, box.id, key, chance.random() * 0.3 if crash else None)
            if response is not None:
                break
        assert response.status_code == 200, response.text
        assert response.json()["run"]["outputs"][0]["value"] == f"({count}, {count})"
    assert step(Sandbox(server.client, box.id), new_key()).json()["run"]["outputs"][0]["value"] == (
        "(13, 13)"
    )


def step_and_crash(
    server: Server, sandbox_id: str, key: str, after: float | None
) -> httpx.Response | None:
    """The answer, or None if the server was killed before it came."""
    answers: list[httpx.Response] = []

    def ask(client: Client) -> None:
        with contextlib.suppress(httpx.HTTPError):
            answers.append(step(Sandbox(client, sandbox_id), key))
        client.close()

    asking = threading.Thread(target=ask, args=(Client(server.url, server.key),))
    asking.start()
    if after is not None:
        time.sleep(after)
        server.kill()
    asking.join()
    if after is not None:
        server.start()
    return answers[0] if answers else None


def test_the_same_key_at_the_same_time(sandbox: Sandbox) -> None:
    key = new_key()
    path = f"{sandbox.path}/code/runs"
    body = {"code": "import time; time.sleep(1); 'done'", "language": "python"}
    answers: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda: answers.append(keyed(sandbox.client, path, body, key)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [200, 409, 409, 409]
    for answer in answers:
        if answer.status_code == 409:
            error = answer.json()["error"]
            assert error["code"] == "idempotency_request_in_progress" and error["retryable"]
    other = keyed(sandbox.client, path, {**body, "code": "2"}, key)
    assert other.json()["error"]["code"] == "idempotency_key_reused"
    assert replayed(keyed(sandbox.client, path, body, key))


def test_keys_of_others_do_not_meet(server: Server, sandbox: Sandbox) -> None:
    made = server.client.post("/v1/api-keys", {"name": "x", "scopes": ["code:run"]})
    other = Client(server.url, made["secret"])
    key = new_key()
    assert not replayed(step(sandbox, key))
    assert not replayed(step(Sandbox(other, sandbox.id), key))
    assert replayed(step(Sandbox(other, sandbox.id), key))
    other.close()


def test_errors_in_the_code_are_answers_and_refusals_are_not(sandbox: Sandbox) -> None:
    path = f"{sandbox.path}/code/runs"
    key = new_key()
    raised = keyed(sandbox.client, path, {"code": "1/0", "language": "python"}, key)
    again = keyed(sandbox.client, path, {"code": "1/0", "language": "python"}, key)
    assert raised.json()["run"]["status"] == "error" and replayed(again)
    stopped = new_key()
    body = {"code": "while True: pass", "language": "python", "timeoutMs": 300}
    first = keyed(sandbox.client, path, body, stopped)
    assert first.json()["run"]["status"] == "timeout"
    assert keyed(sandbox.client, path, body, stopped).content == first.content
    refused = new_key()
    for _ in range(2):
        answer = keyed(sandbox.client, path, {"code": "1", "language": "cobol"}, refused)
        assert answer.status_code == 400 and not replayed(answer)
    assert keyed(sandbox.client, path, {"code": "1", "language": "python"}, refused).is_success


def test_an_answer_that_is_too_large_is_not_given_again(sandbox: Sandbox) -> None:
    path = f"{sandbox.path}/code/runs"
    body = {"code": "print('\\x01' * 1_000_000)", "language": "python"}
    key = new_key()
    first = keyed(sandbox.client, path, body, key)
    assert first.is_success and len(first.content) > 1 << 20
    again = keyed(sandbox.client, path, body, key)
    assert again.status_code == 409
    error = again.json()["error"]
    assert error["code"] == "conflict" and error["retryable"] is False
    run = sandbox.client.get(f"{path}/{error['details']['runId']}")["run"]
    assert run["stdout"] == first.json()["run"]["stdout"]


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_keys_that_are_none(sandbox: Sandbox, key: str) -> None:
    answer = step(sandbox, key)
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == "idempotency-key"


def test_new_api_keys_are_never_repeated(client: Client) -> None:
    key = new_key()
    body = {"name": "x", "scopes": ["code:run"]}
    first, second = (keyed(client, "/v1/api-keys", body, key) for _ in range(2))
    assert first.json()["secret"] != second.json()["secret"]
