# SPDX-License-Identifier: Apache-2.0
"""Requests as no decent client sends them: each gets a clear refusal, and the server goes on."""

import json

import pytest

from quick.client import Client, Sandbox
from quick.raw import Raw, request

CHUNKED = "transfer-encoding: chunked"
JSON = "content-type: application/json"


def is_well(client: Client) -> bool:
    return client.http.get("/healthz").is_success and "data" in client.get("/v1/projects")


def create(client: Client, *headers: str, body: bytes = b"", version: str = "1.1") -> bytes:
    """Makes a sandbox, with headers and body that need not fit together."""
    return request(client, "POST /v1/sandboxes", JSON, *headers, version=version) + body


# What is sent, by what is wrong with it; and the status of the refusal.
REQUEST_LINES: dict[str, tuple[bytes, int]] = {
    "no HTTP at all": (b"\x00\x01\x02\r\n\r\n", 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "a method alone": (b"GET\r\n\r\n", 400),
    "no version": (b"GET /healthz\r\n\r\n", 400),
    "two spaces": (b"GET  /healthz HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "a space in the target": (b"GET /health z HTTP/1.1\r\nhost: x\r\n\r\n", 505),
    "a small version": (b"GET /healthz http/1.1\r\nhost: x\r\n\r\n", 505),
    "HTTP/9.9": (b"GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n", 505),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "a relative target": (b"GET healthz HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "another scheme": (b"GET ftp://x/healthz HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "a fragment": (b"GET /healthz#x HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "a star": (b"OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "CONNECT": (b"CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "a NUL in the target": (b"GET /health\0z HTTP/1.1\r\nhost: x\r\n\r\n", 400),
    "a line of 100,000 bytes": (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n", 431),
    "a query of 100,000 bytes": (b"GET /healthz?" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", 431),
    "a method of 100,000 bytes": (b"A" * 100_000 + b" / HTTP/1.1\r\nhost: x\r\n\r\n", 431),
}

HEADERS: dict[str, tuple[bytes, int]] = {
    "no host": (b"", 400),
    "two hosts": (b"host: a\r\nhost: b\r\n", 400),
    "no colon": (b"host: x\r\nbad header\r\n", 400),
    "a space before the colon": (b"host : x\r\n", 400),
    "an empty name": (b"host: x\r\n: y\r\n", 400),
    "a folded first line": (b" folded: x\r\n", 400),
    "a NUL": (b"host: x\r\na: b\0c\r\n", 400),
    "a bare CR": (b"host: x\r\na: b\rc\r\n", 400),
    "a bare LF": (b"host: x\na: b\r\n", 400),
    "a large value": (b"host: x\r\na: " + b"b" * 100_000 + b"\r\n", 431),
    "too many": (b"host: x\r\n" + b"a: b\r\n" * 20_000, 431),
    "length -1": (b"host: x\r\ncontent-length: -1\r\n", 400),
    "length +1": (b"host: x\r\ncontent-length: +1\r\n", 400),
    "length 1.0": (b"host: x\r\ncontent-length: 1.0\r\n", 400),
    "length 0x1": (b"host: x\r\ncontent-length: 0x1\r\n", 400),
    "an empty length": (b"host: x\r\ncontent-length:\r\n", 400),
    "a length over 64 bits": (b"host: x\r\ncontent-length: 99999999999999999999\r\n", 400),
    "two lengths": (b"host: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n", 400),
    "two lengths in one": (b"host: x\r\ncontent-length: 1, 2\r\n", 400),
    "length and chunks": (b"host: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n", 400),
    "chunks and length": (b"host: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n", 400),
    "chunks twice": (b"host: x\r\ntransfer-encoding: chunked, chunked\r\n", 400),
    "an unknown coding": (b"host: x\r\ntransfer-encoding: gzip\r\n", 400),
    "an unknown coding and length": (
        b"host: x\r\ntransfer-encoding: gzip\r\ncontent-length: 5\r\n",
        400,
    ),
    "an unknown coding and chunks": (b"host: x\r\ntransfer-encoding: gzip, chunked\r\n", 400),
    "identity and chunks": (
        b"host: x\r\ntransfer-encoding: identity\r\ntransfer-encoding: chunked\r\n",
        400,
    ),
}

CHUNKS: dict[str, tuple[bytes, int]] = {
    "not hexadecimal": (b"zz\r\n{}\r\n0\r\n\r\n", 400),
    "negative": (b"-2\r\n{}\r\n0\r\n\r\n", 400),
    "with 0x": (b"0x2\r\n{}\r\n0\r\n\r\n", 400),
    "empty": (b"\r\n{}\r\n0\r\n\r\n", 400),
    "over 64 bits": (b"fffffffffffffffff\r\n{}", 400),
    "just below 64 bits": (b"fffffffffffffffe\r\n{}", 413),
    "no line end after the bytes": (b"2\r\n{}0\r\n\r\n", 400),
    "more bytes than said": (b"2\r\n{}{}\r\n0\r\n\r\n", 400),
    "a large extension": (b"2;x=" + b"y" * 200_000 + b"\r\n{}\r\n0\r\n\r\n", 431),
    "large trailers": (b"2\r\n{}\r\n0\r\n" + b"a: b\r\n" * 40_000 + b"\r\n", 431),
    "malformed trailers": (b"2\r\n{}\r\n0\r\nbad trailer\r\n\r\n", 400),
    "over the limit": (b"20000\r\n" + b" " * 0x20000 + b"\r\n0\r\n\r\n", 413),
}


def assert_refused(client: Client, data: bytes, status: int, ends: bool = True) -> None:
    """`ends`: the connection must end with it."""
    with Raw(client.url) as raw:
        raw.send(data)
        answer = raw.expect(status)
        assert answer.code == "invalid_request"
        assert answer.headers["x-request-id"] == answer.json["error"]["requestId"]
        assert not ends or answer.headers["connection"] == "close"
        raw.half_close()
        assert raw.at_end()
    assert is_well(client)


@pytest.mark.parametrize("wrong", REQUEST_LINES)
def test_request_lines(client: Client, wrong: str) -> None:
    data, status = REQUEST_LINES[wrong]
    # A target that means nothing does not spoil what follows it.
    assert_refused(client, data, status, ends=b"a" * 100 in data)


@pytest.mark.parametrize("wrong", HEADERS)
def test_headers(client: Client, wrong: str) -> None:
    lines, status = HEADERS[wrong]
    # What is no body must not be taken for the next request.
    smuggled = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    assert_refused(client, b"POST /healthz HTTP/1.1\r\n" + lines + b"\r\n" + smuggled, status)


@pytest.mark.parametrize("wrong", CHUNKS)
def test_chunks(client: Client, wrong: str) -> None:
    chunks, status = CHUNKS[wrong]
    assert_refused(client, create(client, CHUNKED) + chunks, status)


def test_chunks_as_they_may_be(client: Client) -> None:
    body = b'2;name=value;q="x"\r\n{"\r\n000c\r\nmetadata":{}\r\n1\r\n}\r\n0\r\ntrailer: x\r\n\r\n'
    with Raw(client.url) as raw:
        for _ in range(2):
            raw.send(create(client, CHUNKED, body=body))
            raw.expect(201)


def test_a_body_in_chunks_of_one_byte(client: Client) -> None:
    body = b'{"metadata": {"sent": "in chunks"}}'
    with Raw(client.url) as raw:
        for byte in create(client, CHUNKED):
            raw.send(bytes([byte]))
        raw.send(b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")
        answer = raw.expect(201)
        assert answer.json["sandbox"]["metadata"] == {"sent": "in chunks"}


@pytest.mark.parametrize("sends", [0, 1_000_000])
def test_a_body_over_the_limit_is_refused_early(
    client: Client, sandbox: Sandbox, sends: int
) -> None:
    limit = client.get("/v1/capabilities")["capabilities"]["limits"]["requestBytes"]
    start = request(
        client, f"POST {sandbox.path}/code/runs", JSON, f"content-length: {limit + 1}"
    )
    with Raw(client.url) as raw:
        raw.send(start + b" " * sends)
        answer = raw.expect(413)
        assert answer.code == "invalid_request"
        assert answer.json["error"]["details"]["limit"] == limit


def test_http_1_0_has_no_chunks(client: Client) -> None:
    data = create(client, CHUNKED, body=b"2\r\n{}\r\n0\r\n\r\n", version="1.0")
    assert_refused(client, data, 400)


def test_http_1_0(client: Client) -> None:
    with Raw(client.url) as raw:
        raw.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        raw.expect(200)
        assert raw.at_end()
    with Raw(client.url) as raw:
        for _ in range(2):
            raw.send(create(client, "connection: keep-alive", "content-length: 2", "expect: 100-continue", body=b"{}", version="1.0"))
            answer = raw.expect(201)
            assert answer.headers["connection"] == "keep-alive"


def test_a_stream_over_http_1_0_ends_with_the_connection(client: Client, sandbox: Sandbox) -> None:
    body = json.dumps({"code": "print(1)", "language": "python"}).encode()
    with Raw(client.url) as raw:
        route = f"POST {sandbox.path}/code/runs/stream"
        raw.send(request(client, route, "connection: keep-alive", body=body, version="1.0"))
        answer = raw.answer()
        assert answer is not None and "transfer-encoding" not in answer.headers
        assert answer.body.startswith(b"event: stdout\n") and answer.body.endswith(b"\n\n")


@pytest.mark.parametrize(
    "method", ["FOO", "get", "PATCH", "TRACE", "OPTIONS", "M-SEARCH", pytest.param("A" * 5000, id="long")]
)
def test_unknown_methods(client: Client, method: str) -> None:
    with Raw(client.url) as raw:
        raw.send(request(client, f"{method} /v1/sandboxes"))
        answer = raw.expect(405)
        assert answer.headers["allow"] == "POST, GET, HEAD" and len(answer.body) < 1000
        raw.send(request(client, f"{method} /v1/nothing"))
        raw.expect(404)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/v1/sandboxes/\xff\xfe", 404),
        ("/v1/sandboxes/%ff%fe", 404),
        ("/v1/sandboxes/%c3", 404),
        ("/v1/sandboxes/%c0%af", 404),
        ("/v1/sandboxes/%ed%a0%80", 404),
        ("/v1/sandboxes/%00", 404),
        ("/v1/sandboxes/%zz", 404),
        ("/v1/sandboxes/%", 404),
        ("/v1/sandboxes/" + "%41" * 5000, 404),
        ("/v1/sandboxes/..", 404),
        ("/v1/../v1/sandboxes", 404),
        ("/v1/./sandboxes", 404),
        ("/../../etc/passwd", 404),
        ("/v1/sandboxes/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/v1/sandboxes/..%2f..%2fetc%2fpasswd", 404),
        ("/v1/sandboxes;x=1", 404),
        ("/v1//sandboxes", 404),
        ("/v1/sandboxes?limit=\xff", 400),
        ("/v1/sandboxes?limit=%ff", 400),
        ("/v1/sandboxes?limit=%", 400),
        ("/v1/sandboxes?metadata.a=%00", 400),
        ("/v1/sandboxes?limit=1&limit=2", 400),
        ("/v1/sandboxes?" + "a&" * 101, 400),
        ("/v1/sandboxes?metadata.a=" + "b" * 30_000, 200),
        ("/v1/sandboxes?" + "&" * 30_000, 200),
        ("/v1/sandboxes??", 400),
        ("HTTP://other:1/v1/sandboxes?limit=1", 200),
    ],
)
def test_targets(client: Client, target: str, status: int) -> None:
    with Raw(client.url) as raw:
        raw.send(request(client, f"GET {target}"))
        answer = raw.expect(status)
        assert status == 200 or set(answer.json) == {"error"}
        # A refusal of what was understood leaves the connection open.
        raw.send(request(client, "GET /healthz"))
        raw.expect(200)
    assert is_well(client)


def test_as_many_headers_as_fit(client: Client) -> None:
    with Raw(client.url) as raw:
        raw.send(request(client, "GET /v1/projects", *["a: b"] * 5000))
        raw.expect(200)


def test_pipelined_requests_are_answered_in_order(client: Client, sandbox: Sandbox) -> None:
    body = json.dumps({"code": "1 + 1", "language": "python"}).encode()
    kinds = [
        (request(client, "GET /healthz"), 200, False),
        (request(client, "HEAD /v1/projects"), 200, True),
        (request(client, f"POST {sandbox.path}/code/runs", body=body), 200, False),
        (create(client, CHUNKED, body=b"2\r\n{}\r\n0\r\n\r\n"), 201, False),
        (request(client, "GET /v1/nothing"), 404, False),
        (request(client, f"POST {sandbox.path}/code/runs/stream", body=body), 200, False),
        (request(client, "POST /v1/projects", body=b'{"name": ""}'), 400, False),
    ]
    with Raw(client.url) as raw:
        raw.send(b"".join(data for data, _, _ in kinds * 5))
        for _, status, head_only in kinds * 5:
            raw.expect(status, head_only)
        raw.send(request(client, "GET /healthz", "connection: close") + kinds[0][0] * 3)
        answer = raw.answer()
        assert answer is not None and answer.headers["connection"] == "close" and raw.at_end()


def test_a_client_that_closes_its_side_gets_its_answers(client: Client, sandbox: Sandbox) -> None:
    body = json.dumps({"code": "import time; time.sleep(1); 'late'", "language": "python"}).encode()
    for route in ("runs", "runs/stream"):
        with Raw(client.url) as raw:
            raw.send(request(client, f"POST {sandbox.path}/code/{route}", body=body) * 2)
            raw.half_close()
            for _ in range(2):
                answer = raw.expect(200)
                assert b"'late'" in answer.body
            assert raw.at_end()


@pytest.mark.parametrize(
    "data",
    [b"", b"G", b"GET /healthz HTTP/1.1\r\nhost:", b"POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\n\r"],
)
def test_a_client_that_closes_its_side_too_soon(client: Client, data: bytes) -> None:
    with Raw(client.url) as raw:
        raw.send(data)
        raw.half_close()
        assert raw.at_end()
    for start in (create(client, "content-length: 10"), create(client, CHUNKED, body=b"a\r\n")):
        with Raw(client.url) as raw:
            raw.send(start + b"{")
            raw.half_close()
            assert raw.at_end()
    assert is_well(client)


def test_expect_100_continue(client: Client, sandbox: Sandbox) -> None:
    expect = "expect: 100-continue"
    with Raw(client.url) as raw:
        raw.send(create(client, "content-length: 2", expect))
        raw.expect(100)
        raw.send(b"{}")
        raw.expect(201)
        # Whoever does not wait needs no leave.
        raw.send(create(client, "content-length: 2", expect, body=b"{}"))
        answer = raw.answer()
        if answer is not None and answer.status == 100:
            answer = raw.answer()
        assert answer is not None and answer.status == 201
        # Nor is there any for what will be refused.
        raw.send(create(client, "content-length: 70000", expect))
        raw.expect(413)
    upload = f"PUT {sandbox.path}/files/content?path=f"
    with Raw(client.url) as raw:
        raw.send(request(client, upload, "content-length: 3", expect))
        raw.expect(100)
        raw.send(b"abc")
        raw.expect(200)
    assert sandbox.read("f") == "abc"
    with Raw(client.url) as raw:
        raw.send(f"POST /v1/sandboxes HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n{expect}\r\n\r\n".encode())
        raw.expect(401)


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_a_body_where_none_belongs_is_no_next_request(client: Client, method: str) -> None:
    smuggled = b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"
    with Raw(client.url) as raw:
        raw.send(request(client, f"{method} /v1/sandboxes/none", body=smuggled))
        raw.send(request(client, "GET /healthz"))
        raw.expect(404, head_only=method == "HEAD")
        answer = raw.answer()
        assert answer is not None and answer.json["status"] == "ok"


def test_clients_that_leave_at_any_place(client: Client, sandbox: Sandbox) -> None:
    body = json.dumps({"code": "print('x' * 100_000)", "language": "python"}).encode()
    whole = request(client, f"POST {sandbox.path}/code/runs/stream", body=body)
    for place in range(1, len(whole) + 1, len(whole) // 20):
        for leave in (Raw.close, Raw.reset):
            raw = Raw(client.url)
            raw.send(whole[:place])
            leave(raw)
    raw = Raw(client.url)
    raw.send(whole)
    assert raw.socket.recv(1000).startswith(b"HTTP/1.1 200")
    raw.reset()
    assert is_well(client)
    assert sandbox.run("1", language="python").ok()
