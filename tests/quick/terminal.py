# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose standard error, and output if wanted, is a terminal."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class Seen:
    code: int
    out: bytes
    """Standard output, if it was no terminal."""
    screen: str
    """All that the terminal was sent."""


def on_a_terminal(
    command: list[str],
    environment: dict[str, str],
    columns: int = 100,
    stdin: BinaryIO | None = None,
    output_too: bool = False,
) -> Seen:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=theirs if output_too else write_end,
        stderr=theirs,
        env={"TERM": "xterm", **environment},
    )
    os.close(theirs)
    os.close(write_end)
    out, screen = bytearray(), bytearray()
    try:
        _drain({ours: screen, read_end: out})
        return Seen(process.wait(120), bytes(out), screen.decode())
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(read_end)


def _drain(buffers: dict[int, bytearray]) -> None:
    waiting = set(buffers)
    while waiting:
        ready, _, _ = select.select(list(waiting), [], [], 120)
        assert ready, "the command is silent"
        for descriptor in ready:
            try:
                piece = os.read(descriptor, 65536)
            except OSError:  # the terminal's other end is closed
                piece = b""
            buffers[descriptor] += piece
            if not piece:
                waiting.discard(descriptor)
