# SPDX-License-Identifier: Apache-2.0
"""Standard streams: each run reads its own standard input from the start, and writes are never held back."""

from dormouse._builtins import __builtins__  # isort: skip

import io
import os
import sys


class _StandardInput(io.RawIOBase):
    """File descriptor 0; remembers whether anything was read from it."""

    used = False
    name = "<stdin>"
    mode = "rb"

    def readable(self):
        return True

    def fileno(self):
        return 0

    def isatty(self):
        return False

    def readinto(self, buffer):
        self.used = True
        data = os.read(0, len(buffer))
        buffer[: len(data)] = data
        return len(data)


_raw = None


def _open_input():
    global _raw
    ours = sys.stdin is sys.__stdin__
    _raw = _StandardInput()
    sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(_raw), encoding="utf-8", errors="surrogateescape")
    sys.__stdin__.mode = "r"
    if ours:
        sys.stdin = sys.__stdin__


def _open_output(descriptor, name):
    stream = io.TextIOWrapper(
        io.FileIO(descriptor, "wb", closefd=False),
        encoding="utf-8",
        errors="backslashreplace",
        write_through=True,
    )
    stream.mode = "w"
    stream.buffer.name = name
    return stream


def boot():
    _open_input()
    sys.stdin = sys.__stdin__


def begin_run():
    """Gives the run a fresh standard input, and opens again what the last run closed."""
    if _raw.used or _raw.closed or sys.__stdin__.closed:
        _open_input()
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        original = getattr(sys, f"__{name}__")
        if original is None or original.closed or original.buffer.closed:
            ours = getattr(sys, name) is original
            fresh = _open_output(descriptor, f"<{name}>")
            setattr(sys, f"__{name}__", fresh)
            if ours:
                setattr(sys, name, fresh)
