# SPDX-License-Identifier: Apache-2.0
"""Streaming runs: the bytes of the stream, its order, its end."""

import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from quick.client import ApiError, Client, Context, Run, Sandbox
from quick.processes import wait_until
from quick.sse import Event


def text_of(events: list[Event], kind: str) -> str:
    return "".join(event["data"] for event in events if event["type"] == kind)


def test_complete_is_the_last_event_and_has_the_blocking_shape(python: Context) -> None:
    events = python.stream("print('a'); 1 + 1")
    assert [event["type"] for event in events] == ["stdout", "output", "complete"]
    assert all(set(event) == {"type", "data"} for event in events)
    blocking = python.run("print('a'); 1 + 1").ok()
    result = events[-1]["data"]
    assert set(result) == set(blocking.raw)
    assert result["stdout"] == "a\n" and result["outputs"] == [events[1]["data"]]


def test_an_error_is_an_event_and_part_of_the_result(python: Context) -> None:
    events = python.stream("print('before')\n1/0")
    assert [event["type"] for event in events] == ["stdout", "error", "complete"]
    assert events[1]["data"] == events[2]["data"]["error"]
    assert events[1]["data"]["name"] == "ZeroDivisionError"


@pytest.mark.parametrize(
    "code", ["while True: pass", "import sys; sys.exit(3)", "import os; os._exit(2)"]
)
def test_every_stream_ends_with_complete(python: Context, code: str) -> None:
    events = python.stream(code, timeoutMs=500)
    assert events[-1]["type"] == "complete"
    assert [event["type"] for event in events].count("complete") == 1


def test_a_refused_run_is_no_stream(python: Context) -> None:
    with pytest.raises(ApiError) as caught:
        python.sandbox.stream("1", contextId="cctx_unknown")
    assert (caught.value.status, caught.value.code) == (404, "not_found")
    with pytest.raises(ApiError) as invalid:
        python.stream("1", timeoutMs=0)
    assert invalid.value.status == 400


def test_output_arrives_while_the_run_goes_on(python: Context) -> None:
    stream = python.open_stream("print('first', flush=True)\nwhile True: pass")
    text = ""
    while "\n" not in text:
        event = next(stream)
        assert event["type"] == "stdout"
        text += event["data"]
    assert text == "first\n"
    python.interrupt()
    rest = list(stream)
    assert rest[-1]["data"]["status"] == "interrupted"


def test_both_streams_and_displays_keep_their_order(python: Context) -> None:
    code = """
import os, sys
for i in range(300):
    print(i, end=" " if i % 3 else "\\n")
    print(i, file=sys.stderr)
    if i % 50 == 0: os.write(1, b"raw ")
    if i % 100 == 0: display(i)
"""
    events = python.stream(code)
    expected: list[tuple[str, str]] = []
    for i in range(300):
        expected.append(("stdout", f"{i} " if i % 3 else f"{i}\n"))
        expected.append(("stderr", f"{i}\n"))
        if i % 50 == 0:
            expected.append(("stdout", "raw "))
        if i % 100 == 0:
            expected.append(("output", str(i)))
    assert merged(expected) == merged([(event["type"], content_of(event)) for event in events[:-1]])
    assert events[-1]["data"]["stdout"] == "".join(
        text for kind, text in expected if kind == "stdout"
    )


def content_of(event: Event) -> str:
    return str(event["data"]["value"] if event["type"] == "output" else event["data"])


def merged(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one stream count as one piece: cuts are nobody's business."""
    result: list[tuple[str, str]] = []
    for kind, text in pieces:
        if result and result[-1][0] == kind and kind != "output":
            result[-1] = (kind, result[-1][1] + text)
        else:
            result.append((kind, text))
    return result


def test_text_that_looks_like_a_stream_stays_text(python: Context) -> None:
    text = "data: x\n\nevent: complete\ndata: {}\r\n\r\n: c\n\rid: 1\n\u0085\u2028\u2029\x00\x1b[31m\n\n\n"
    events = python.stream(f"import sys; n = sys.stdout.write({text!r})")
    assert text_of(events, "stdout") == text
    assert events[-1]["data"]["stdout"] == text


def test_a_reader_that_goes_away_does_not_stop_the_run(client: Client, python: Context) -> None:
    """The rule: a run goes on to its own end, and its output can be fetched by its id."""
    code = "import time\nfor i in range(10):\n    print(i, flush=True)\n    time.sleep(0.1)\nx = 'finished'"
    with client.http.stream(
        "POST",
        f"{python.sandbox.path}/code/runs/stream",
        json={"code": code, "contextId": python.id},
    ) as response:
        run_id = response.headers["x-dormouse-run-id"]
        next(response.iter_raw())
    assert python.value("x") == "'finished'"
    fetched = Run(client.get(f"{python.sandbox.path}/code/runs/{run_id}")["run"])
    assert fetched.ok().stdout == "".join(f"{i}\n" for i in range(10))


@pytest.mark.parametrize("way", ["fin", "reset", "half-close"])
@pytest.mark.parametrize("route", ["runs", "runs/stream"])
def test_a_connection_that_breaks_holds_nothing(
    client: Client, python: Context, way: str, route: str
) -> None:
    address = urlsplit(client.url)
    body = (
        b'{"code": "import time; time.sleep(0.3); x = 1", "contextId": "%s"}' % python.id.encode()
    )
    head = (
        f"POST {python.sandbox.path}/code/{route} HTTP/1.1\r\nhost: {address.netloc}\r\n"
        f"authorization: Bearer {client.key}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(head.encode() + body)
        wait_until(lambda: python.get()["running"], "the run starts")
        if way == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        if way == "half-close":
            connection.shutdown(socket.SHUT_WR)
    assert python.value("x") == "1"
    assert python.get()["running"] is False


def test_a_slow_reader_blocks_nobody_else(client: Client, sandbox: Sandbox) -> None:
    slow, quick = sandbox.context("python"), sandbox.context("python")
    address = urlsplit(client.url)
    body = b'{"code": "for i in range(200000): print(i)", "contextId": "%s"}' % slow.id.encode()
    head = (
        f"POST {sandbox.path}/code/runs/stream HTTP/1.1\r\nhost: {address.netloc}\r\n"
        f"authorization: Bearer {client.key}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), 30) as connection:
        connection.sendall(head.encode() + body)
        assert connection.recv(100)
        for n in range(5):
            assert quick.value(f"{n} + 1") == str(n + 1)
        assert slow.value("i") == "199999"


def test_many_streams_at_once(client: Client) -> None:
    sandboxes = [client.sandbox() for _ in range(4)]
    codes = {n: f"for i in range(500): print({n}, i)" for n in range(4)}
    with ThreadPoolExecutor(4) as pool:
        streams = list(pool.map(lambda n: sandboxes[n].stream(codes[n], language="python"), codes))
    for n, events in enumerate(streams):
        assert text_of(events, "stdout") == "".join(f"{n} {i}\n" for i in range(500))
    for sandbox in sandboxes:
        sandbox.delete()
