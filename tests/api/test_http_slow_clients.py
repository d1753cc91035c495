# SPDX-License-Identifier: Apache-2.0
"""Clients that are slow, idle or too many: they cost little, and nobody else waits for them."""

import json
import resource
import time

import pytest

from conftest import NewServer
from quick.client import Client
from quick.processes import sockets_of, status_of, wait_until
from quick.raw import Raw, request
from quick.server import Server

# Short, but a request that comes in one piece never meets them.
IMPATIENT = """
[limits]
stop_grace_ms = 2000
stream_bytes = 33554432
[http]
header_timeout_ms = 500
body_timeout_ms = 500
body_deadline_ms = 2000
write_timeout_ms = 500
"""


@pytest.fixture
def impatient(new_server: NewServer) -> Server:
    return new_server(IMPATIENT)


def upload(client: Client, path: str, *headers: str) -> bytes:
    return request(client, f"PUT {path}/files/content?path=f", *headers)


def test_idle_connections_are_closed(new_server: NewServer) -> None:
    server = new_server("[http]\nidle_timeout_ms = 2000\n")
    with Raw(server.url) as fresh, Raw(server.url) as used:
        used.send(request(server.client, "GET /healthz"))
        used.expect(200)
        assert fresh.at_end() and used.at_end()


def test_starts_of_requests_that_never_end(impatient: Server) -> None:
    client, sandbox = impatient.client, impatient.client.sandbox()
    json_body = ("content-type: application/json",)
    starts = [
        b"G",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\n",
        request(client, "POST /v1/sandboxes", *json_body, "content-length: 10") + b"{",
        request(client, "POST /v1/sandboxes", *json_body, "transfer-encoding: chunked") + b"5\r\n{",
        upload(client, sandbox.path, "content-length: 10") + b"a",
        upload(client, sandbox.path, "transfer-encoding: chunked") + b"5\r\na",
    ]
    connections = [Raw(impatient.url) for _ in starts]
    for raw, start in zip(connections, starts, strict=True):
        raw.send(start)
    assert sandbox.run("1 + 1", language="python").ok().result == "2"
    for raw in connections:
        assert raw.at_end()
        raw.close()
    assert sandbox.names() == []


@pytest.mark.parametrize("start", ["head", "body"])
def test_requests_that_drip(impatient: Server, start: str) -> None:
    """A byte now and then does not buy more time than a whole request has."""
    client = impatient.client
    data = b"GET /healthz HTTP/1.1\r\nx: "
    if start == "body":
        headers = ("content-type: application/json", "content-length: 60000")
        data = request(client, "POST /v1/sandboxes", *headers)
    with Raw(impatient.url) as raw:
        raw.send(data)
        deadline = time.monotonic() + 60
        while raw.send(b" "):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert client.http.get("/healthz").is_success


def test_a_download_that_nobody_takes(impatient: Server) -> None:
    sandbox = impatient.client.sandbox()
    code = "with open('big', 'wb') as f:\n    for _ in range(64): n = f.write(bytes(1 << 20))"
    sandbox.run(code, language="python").ok()
    impatient.client.close()
    base = sockets_of(impatient.pid)
    with Raw(impatient.url, receive_buffer=4096) as raw:
        raw.send(request(impatient.client, f"GET {sandbox.path}/files/download?path=big"))
        assert raw.socket.recv(100).startswith(b"HTTP/1.1 200")
        wait_until(lambda: sockets_of(impatient.pid) <= base, "the server lets go", 60)


def test_a_download_that_is_taken_slowly_is_whole(new_server: NewServer) -> None:
    """The time is for each piece, not for all of it."""
    server = new_server("[http]\nwrite_timeout_ms = 3000\n")
    sandbox = server.client.sandbox()
    size = 8 << 20
    sandbox.run(f"n = open('big', 'wb').write(bytes({size}))", language="python").ok()
    with Raw(server.url, receive_buffer=65536) as raw:
        raw.send(request(server.client, f"GET {sandbox.path}/files/download?path=big"))
        taken, start = 0, time.monotonic()
        while taken < size:
            piece = raw.socket.recv(65536)
            assert piece
            taken += len(piece)
            if time.monotonic() - start < 5:
                time.sleep(0.05)


def test_a_stream_that_nobody_reads(impatient: Server) -> None:
    """The run ends as if it were read, and its connection does not stay."""
    client, sandbox = impatient.client, impatient.client.sandbox()
    context = sandbox.context("python")
    body = {"code": "for i in range(400): print(chr(233) * 16_000)\nkept = 1", "contextId": context.id}
    base = sockets_of(impatient.pid)
    with Raw(impatient.url, receive_buffer=4096) as raw:
        content = json.dumps(body).encode()
        raw.send(request(client, f"POST {sandbox.path}/code/runs/stream", body=content))
        assert raw.socket.recv(100).startswith(b"HTTP/1.1 200")
        assert context.value("kept", timeoutMs=60_000) == "1"
        client.close()
        wait_until(lambda: sockets_of(impatient.pid) < base + 1, "the server lets go", 60)


def test_connections_that_are_too_many(new_server: NewServer) -> None:
    server = new_server("[http]\nmax_connections = 20\n")
    server.client.close()
    ask = request(server.client, "GET /healthz")
    connections = [Raw(server.url) for _ in range(20)]
    for raw in connections:
        raw.send(ask)
        raw.expect(200)
    for _ in range(5):
        with Raw(server.url) as late:
            late.send(ask)
            answer = late.expect(503)
            assert answer.code == "resource_allocation_failed" and answer.json["error"]["retryable"]
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.headers["connection"] == "close"
            late.half_close()
            assert late.at_end()
    connections.pop().close()

    def has_room() -> bool:
        with Raw(server.url) as raw:
            raw.send(ask)
            answer = raw.answer()
            return answer is not None and answer.status == 200

    wait_until(has_room, "a connection that ends makes room")
    for raw in connections:
        raw.send(ask)
        raw.expect(200)
        raw.close()


def test_two_thousand_idle_connections(new_server: NewServer) -> None:
    count = 2000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count + 500:
        pytest.skip("this process may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 500), hard))
    times = "idle_timeout_ms = 600000\nheader_timeout_ms = 600000\n"
    server = new_server(f"[http]\nmax_connections = {count + 50}\n{times}")
    client, sandbox = server.client, server.client.sandbox()
    sandbox.run("x = 1", language="python").ok()
    before = int(status_of(server.pid)["VmRSS"].split()[0])
    starts = [b"", b"GET /heal", request(client, "GET /healthz")]
    connections = []
    try:
        for number in range(count):
            connections.append(Raw(server.url))
            connections[-1].send(starts[number % len(starts)])
        for raw in connections[2::3]:
            raw.expect(200)
        assert sandbox.run("x + 1", language="python").ok().result == "2"
        grown = int(status_of(server.pid)["VmRSS"].split()[0]) - before
        assert grown < count * 64, f"{grown} KiB"
        for raw in connections[1::3]:
            raw.send(b"thz HTTP/1.1\r\nhost: x\r\n\r\n")
            raw.expect(200)
    finally:
        for raw in connections:
            raw.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_until(lambda: sockets_of(server.pid) < 100, "the server lets go of them")
    assert sandbox.run("x + 2", language="python").ok().result == "3"


def test_fewer_descriptors_than_connections(new_server: NewServer) -> None:
    """Too many clients are told so, and what the server needs for itself is left to it."""
    server = new_server("", prefix=["prlimit", "--nofile=400:400"])
    assert "only 200 connections are taken" in server.log
    sandbox = server.client.sandbox()
    ask = request(server.client, "GET /healthz")
    connections, statuses = [], []
    for _ in range(220):
        connections.append(Raw(server.url))
        connections[-1].send(ask)
        answer = connections[-1].answer()
        statuses.append(answer.status if answer else None)
    assert statuses[:190] == [200] * 190 and statuses[-1] == 503
    for raw in connections[:5]:
        raw.close()
    wait_until(lambda: server.client.http.get("/healthz").is_success, "there is room again")
    assert sandbox.run("1", language="python").ok()
    assert sandbox.run("2", language="javascript").ok()
    for raw in connections:
        raw.close()


def test_runs_of_clients_that_leave_end_and_let_go(new_server: NewServer) -> None:
    server = new_server()
    client, sandbox = server.client, server.client.sandbox()
    contexts = [sandbox.context("python") for _ in range(4)]
    base = sockets_of(server.pid)
    for number, context in enumerate(contexts):
        code = "import time\nfor i in range(5): print(i, flush=True); time.sleep(0.2)\ndone = 1"
        body = json.dumps({"code": code, "contextId": context.id}).encode()
        route = ("runs", "runs/stream")[number % 2]
        raw = Raw(server.url)
        raw.send(request(client, f"POST {sandbox.path}/code/{route}", body=body))
        wait_until(lambda context=context: context.get()["running"], "the run starts")  # type: ignore[misc]
        (raw.close if number < 2 else raw.reset)()
    for context in contexts:
        assert context.value("done") == "1"
    client.close()
    workers = 4
    wait_until(lambda: sockets_of(server.pid) <= base + workers, "the server lets go")
