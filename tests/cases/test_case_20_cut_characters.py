# SPDX-License-Identifier: Apache-2.0
"""Case 20: characters and line ends cut by chunk borders arrive whole."""

import json

import pytest

from quick.client import Context
from quick.sse import Event, decode_stream


def stdout_of(events: list[Event]) -> str:
    return "".join(event["data"] for event in events if event["type"] == "stdout")


def test_an_emoji_written_byte_by_byte(python: Context) -> None:
    code = "import sys, time\nfor b in '🦔é€'.encode():\n    sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(0.02)"
    events = python.stream(code)
    pieces = [event["data"] for event in events if event["type"] == "stdout"]
    assert "".join(pieces) == "🦔é€" and "\ufffd" not in "".join(pieces)
    assert events[-1]["data"]["stdout"] == "🦔é€"


def test_a_character_cut_between_the_streams(python: Context) -> None:
    code = (
        "import os\nfor b in '🦔'.encode():\n    os.write(1, bytes([b])); os.write(2, bytes([b]))"
    )
    run = python.run(code).ok()
    assert (run.stdout, run.stderr) == ("🦔", "🦔")


def test_an_unfinished_character_at_the_end(python: Context) -> None:
    run = python.run("import os; n = os.write(1, '🦔'.encode()[:3])").ok()
    assert run.stdout == "\ufffd"
    assert python.run("print('next')").ok().stdout == "next\n"


@pytest.mark.parametrize("size", [1_000_000])
def test_a_megabyte_of_mixed_characters(python: Context, size: int) -> None:
    text = ("aé€🦔" * (size // 10))[: size // 10 * 4]
    code = f"import sys\nt = 'aé€🦔' * {size // 10}\nd = t.encode()\nfor i in range(0, len(d), 4093): n = sys.stdout.buffer.write(d[i:i+4093])"
    events = python.stream(code)
    assert stdout_of(events) == text == events[-1]["data"]["stdout"]


def test_every_kind_of_line_end(python: Context, javascript: Context) -> None:
    text = "a\rb\nc\r\nd\n\re\r\n\r\n\n\ndata: f\r: g\nevent: h\n\n\u2028i\u2029\u0085"
    for context, code in (
        (python, f"import sys; n = sys.stdout.write({json.dumps(text)})"),
        (javascript, f"process.stdout.write({json.dumps(text)}); undefined"),
    ):
        events = context.stream(code)
        assert stdout_of(events) == text
        assert context.run(code).ok().stdout == text


def test_the_stream_may_be_cut_anywhere(python: Context) -> None:
    """Our own reader, fed the same bytes cut at every place."""
    sandbox = python.sandbox
    with sandbox.client.http.stream(
        "POST",
        f"{sandbox.path}/code/runs/stream",
        json={"code": "print('é🦔\\r\\n'); display(1)", "contextId": python.id},
    ) as response:
        content = b"".join(response.iter_raw())
    whole = list(decode_stream([content]))
    for cut in range(len(content)):
        assert list(decode_stream([content[:cut], content[cut:]])) == whole
