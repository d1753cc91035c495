# SPDX-License-Identifier: Apache-2.0
"""Case 26: the order of all output is the order of the writes."""

from quick.client import Context
from quick.sse import Event


def order_of(events: list[Event]) -> list[tuple[str, str]]:
    """Lines and outputs in order, streams merged where they are neighbours."""
    merged: list[tuple[str, str]] = []
    for event in events[:-1]:
        text = event["data"]["value"] if event["type"] == "output" else event["data"]
        if merged and merged[-1][0] == event["type"] and event["type"] != "output":
            merged[-1] = (event["type"], merged[-1][1] + text)
        else:
            merged.append((event["type"], text))
    return merged


def test_python(python: Context) -> None:
    code = """
import os, sys
for i in range(1000):
    print(i, end="" if i % 2 else "\\n")
    if i % 3 == 0: os.write(2, f"e{i}\\n".encode())
    else: print(f"e{i}", file=sys.stderr)
display("middle")
os.write(1, b"raw")
print("end", end="")
"""
    expected: list[tuple[str, str]] = []
    for i in range(1000):
        expected += [("stdout", f"{i}" + ("" if i % 2 else "\n")), ("stderr", f"e{i}\n")]
    expected += [("output", "'middle'"), ("stdout", "rawend")]
    assert order_of(python.stream(code)) == expected


def test_javascript(javascript: Context) -> None:
    code = """
for (let i = 0; i < 500; i++) { process.stdout.write(String(i)); console.error("e" + i); }
display("middle");
console.log("end");
"""
    expected: list[tuple[str, str]] = []
    for i in range(500):
        expected += [("stdout", str(i)), ("stderr", f"e{i}\n")]
    expected += [("output", "'middle'"), ("stdout", "end\n")]
    assert [
        piece for piece in order_of(javascript.stream(code)) if piece != ("output", "undefined")
    ] == expected


def test_nothing_is_left_in_a_buffer(python: Context) -> None:
    python.run(
        "import sys; n = sys.stdout.write('a'); n = sys.stderr.write('b'); n = sys.stdout.buffer.write(b'c')"
    ).ok()
    run = python.run("1").ok()
    assert (run.stdout, run.stderr) == ("", "")
