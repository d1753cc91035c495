# SPDX-License-Identifier: Apache-2.0
"""HTTP itself: what a server on a socket must stand."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from quick.client import Client, Sandbox


def exchange(client: Client, data: bytes, half_close: bool = True) -> bytes:
    """Sends bytes and reads until the server closes the connection."""
    address = urlsplit(client.url)
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def head(client: Client, start: str, *headers: str) -> bytes:
    lines = [
        start,
        f"host: {urlsplit(client.url).netloc}",
        f"authorization: Bearer {client.key}",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_requests_in_a_row_are_answered_in_order(client: Client) -> None:
    requests = [head(client, f"GET /v1/sandboxes/n{n} HTTP/1.1") for n in range(5)]
    last = head(client, "GET /healthz HTTP/1.1", "connection: close")
    answer = exchange(client, b"".join(requests) + last, half_close=False)
    assert answer.count(b"HTTP/1.1 404") == 5 and answer.count(b"HTTP/1.1 200") == 1
    assert answer.rindex(b"HTTP/1.1 404") < answer.index(b"HTTP/1.1 200")


def test_a_chunked_request_body(client: Client) -> None:
    body = b'{"metadata": {"sent": "in chunks"}}'
    chunks = b"".join(b"%x\r\n%s\r\n" % (1, bytes([byte])) for byte in body) + b"0\r\n\r\n"
    start = head(
        client,
        "POST /v1/sandboxes HTTP/1.1",
        "content-type: application/json",
        "transfer-encoding: chunked",
        "connection: close",
    )
    answer = exchange(client, start + chunks)
    assert status_of(answer) == 201 and b"in chunks" in answer


def test_expect_100_continue(client: Client) -> None:
    address = urlsplit(client.url)
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(
            head(
                client,
                "POST /v1/sandboxes HTTP/1.1",
                "content-type: application/json",
                "content-length: 2",
                "expect: 100-continue",
                "connection: close",
            )
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.sendall(b"{}")
        assert connection.recv(100).startswith(b"HTTP/1.1 201")


def test_http_1_0_gets_no_chunks(client: Client, sandbox: Sandbox) -> None:
    body = json.dumps({"code": "print(1)", "language": "python"}).encode()
    start = head(
        client,
        f"POST {sandbox.path}/code/runs/stream HTTP/1.0",
        "content-type: application/json",
        f"content-length: {len(body)}",
    )
    answer = exchange(client, start + body, half_close=False)
    headers, _, content = answer.partition(b"\r\n\r\n")
    assert b"chunked" not in headers.lower()
    assert content.startswith(b"event: stdout\n") and content.endswith(b"\n\n")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"GET / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
        b"POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_malformed_requests_are_refused_and_hurt_nobody(client: Client, data: bytes) -> None:
    answer = exchange(client, data)
    if answer:
        assert 400 <= status_of(answer) < 506
    assert client.http.get("/healthz").status_code == 200


def test_a_body_over_the_limit_is_refused_early(client: Client, sandbox: Sandbox) -> None:
    limit = client.get("/v1/capabilities")["capabilities"]["limits"]["requestBytes"]
    start = head(
        client,
        f"POST {sandbox.path}/code/runs HTTP/1.1",
        "content-type: application/json",
        f"content-length: {limit + 1}",
    )
    answer = exchange(client, start)
    assert status_of(answer) == 413
    assert b'"invalid_request"' in answer


def test_a_request_that_never_ends_holds_nobody_up(client: Client) -> None:
    address = urlsplit(client.url)
    connections = [
        socket.create_connection((address.hostname, address.port), 30) for _ in range(50)
    ]
    try:
        for connection in connections:
            connection.sendall(b"POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\n")
        assert client.http.get("/healthz").status_code == 200
    finally:
        for connection in connections:
            connection.close()
