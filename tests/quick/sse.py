# SPDX-License-Identifier: Apache-2.0
"""Server-sent events, decoded strictly: anything that our stream promises never to send is an error."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

Event = dict[str, Any]


class MalformedStream(Exception):
    """The stream broke one of its own rules."""


def decode_event(block: bytes) -> Event | None:
    """One event without its blank line; None for a comment."""
    if not block.isascii():
        raise MalformedStream(f"bytes outside ASCII: {block[:200]!r}")
    if b"\r" in block:
        raise MalformedStream(f"a carriage return: {block[:200]!r}")
    lines = block.decode("ascii").split("\n")
    if all(line.startswith(":") for line in lines):
        return None
    if len(lines) != 2 or not lines[0].startswith("event: ") or not lines[1].startswith("data: "):
        raise MalformedStream(f"not an event line and one data line: {block[:200]!r}")
    event: Event = json.loads(lines[1].removeprefix("data: "), parse_constant=refuse_constant)
    if event["type"] != lines[0].removeprefix("event: "):
        raise MalformedStream(f"event line and type differ: {block[:200]!r}")
    return event


def refuse_constant(name: str) -> None:
    raise MalformedStream(f"{name} is not JSON")


def decode_stream(pieces: Iterable[bytes]) -> Iterator[Event]:
    """Events of a stream that arrives in pieces cut anywhere."""
    rest = b""
    for piece in pieces:
        rest += piece
        *blocks, rest = rest.split(b"\n\n")
        for block in blocks:
            event = decode_event(block)
            if event is not None:
                yield event
    if rest:
        raise MalformedStream(f"the stream ends inside an event: {rest[:200]!r}")
