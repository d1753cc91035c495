# SPDX-License-Identifier: Apache-2.0
"""Connections on which a test sends any bytes it likes."""

import json
import socket
import struct
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from quick.client import Client

PATIENCE_S = 60.0


@dataclass(frozen=True)
class Answer:
    """One response, its body without chunks."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code."""
        return str(self.json["error"]["code"])


class Cut(Exception):
    """The connection ended inside an answer."""


class Raw:
    """One TCP connection to a server."""

    def __init__(self, url: str, receive_buffer: int | None = None) -> None:
        address = urlsplit(url)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect((address.hostname, address.port))
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> bool:
        """False when the server takes no more."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def answer(self, head_only: bool = False) -> Answer | None:
        """The next answer, None at the end of the connection."""
        try:
            return self._answer(head_only)
        except ConnectionResetError:
            return None

    def expect(self, status: int, head_only: bool = False) -> Answer:
        """The next answer, which must have this status."""
        answer = self.answer(head_only)
        assert answer is not None and answer.status == status, answer
        return answer

    def _answer(self, head_only: bool) -> Answer | None:
        first = self.file.readline()
        if not first:
            return None
        headers: dict[str, str] = {}
        while (line := self._line()) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        status = int(first.split(b" ", 2)[1])
        if head_only or status < 200 or status in (204, 304):
            return Answer(status, headers, b"")
        return Answer(status, headers, self._body(headers))

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self._line(), 16):
                body += self._exactly(size + 2)[:-2]
            self._line()
            return body
        if "content-length" in headers:
            return self._exactly(int(headers["content-length"]))
        return self.file.read()

    def _line(self) -> bytes:
        line = self.file.readline()
        if not line.endswith(b"\n"):
            raise Cut
        return line

    def _exactly(self, size: int) -> bytes:
        data = self.file.read(size)
        if len(data) < size:
            raise Cut
        return data

    def at_end(self) -> bool:
        """Whether the server closes the connection without another byte; waits for it."""
        try:
            return self.file.read(1) == b""
        except ConnectionResetError:
            return True

    def half_close(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Ends with RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def request(
    client: Client, start: str, *headers: str, body: bytes | None = None, version: str = "1.1"
) -> bytes:
    """A request with the client's key; `start` is method and target."""
    lines = [f"{start} HTTP/{version}", "host: x", f"authorization: Bearer {client.key}", *headers]
    if body is not None:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")
