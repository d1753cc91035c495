# SPDX-License-Identifier: Apache-2.0
"""Case 36: source text arrives byte for byte, on every way in."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.server import DORMOUSE, Server

PIECES = [
    r"a\nb\\n",
    "tab\there",
    "'''\"\"\"",
    "$HOME ${x} `ls`",
    "%d %% {{}} {0}",
    "é 日本 🦔 e\u0301 \u202e",
    "\u0085\u2028\u2029",
    "<b>&amp;</b>",
    "-- ; #",
    "\x0c\x0b",
    "\x7f",
    "\\",
    "\ufeff",
    "x" * 1000,
]


@pytest.mark.parametrize("piece", PIECES)
def test_python_literals_are_untouched(python: Context, between: Between, piece: str) -> None:
    between(python)
    code = f"import hashlib\nhashlib.sha256({piece!r}.encode()).hexdigest()"
    assert python.value(code) == repr(hashlib.sha256(piece.encode()).hexdigest())
    comment = piece.replace("\x0b", " ").replace("\x0c", " ")
    if comment.splitlines() == [comment]:
        assert python.run(f"# {comment}\n'after'").ok().result == "'after'"


@pytest.mark.parametrize("piece", PIECES)
def test_javascript_literals_are_untouched(javascript: Context, piece: str) -> None:
    code = f"require('crypto').createHash('sha256').update({json.dumps(piece)}).digest('hex')"
    assert javascript.value(code) == repr(hashlib.sha256(piece.encode()).hexdigest())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\r\ny = 2\r\nx + y\r\n", "3"),
        ("x = 1\ry = 2\rx + y", "3"),
        ("\ufeffx = 5\nx", "5"),
        ("\x0cx = 1\nx", "1"),
        ("#!/usr/bin/env python3\n1", "1"),
        ("# -*- coding: latin-1 -*-\n'é'", "'é'"),
        ("# coding: utf-8\n'é'", "'é'"),
        ("if True:\n\tx = 1\n\ty = 2\nx", "1"),
        ("x = '''a\r\nb'''\nx", r"'a\nb'"),
        ("'''a\n  b'''", r"'a\n  b'"),
        ("\n\n  \n1\n\n  \n", "1"),
        ("变量 = 1; 变量", "1"),
        ("1 \\\n + 1", "2"),
        ("1;" * 10_000 + "2", "2"),
    ],
)
def test_python_layouts(python: Context, code: str, expected: str) -> None:
    assert python.value(code) == expected


@pytest.mark.parametrize("code", ["x = 1\x00", "\x00", "'a\x00b'", "  x = 1", "x = 1\n\ty = 2"])
def test_python_sources_that_are_none(python: Context, code: str) -> None:
    run = python.run(code)
    assert run.status == "error" and run.error_name in (
        "SyntaxError",
        "IndentationError",
        "TabError",
        "ValueError",
    )


@pytest.mark.parametrize(
    "code",
    ["!ls", "%time 1", "%%bash\nls", "?print", "print?", "!pip install x", "%matplotlibx"],
)
def test_magics_are_errors_that_help(python: Context, code: str) -> None:
    run = python.run(code)
    assert run.error is not None and run.error["name"] == "SyntaxError"
    assert len(run.error["message"]) > len("invalid syntax"), run.error["message"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("%matplotlib inline\n1", "1"),
        ("\t\n%matplotlib inline\r\n%matplotlib\r\n1", "1"),
        ("if 1:\n  %matplotlib notebook\n1", "1"),
        ("'''\n%matplotlib inline\n'''", r"'\n%matplotlib inline\n'"),
        ("matplotlib = 4\n(9\n%matplotlib)", "1"),
        ("await __import__('asyncio').sleep(0)\n%matplotlib inline\n1", "1"),
    ],
)
def test_a_magic_that_says_what_is_so_anyway(python: Context, code: str, expected: str) -> None:
    assert python.value(code) == expected


def test_lines_keep_their_numbers_below_a_magic(python: Context) -> None:
    run = python.run("%matplotlib inline\nx = 1\n1 / 0")
    assert run.error is not None and run.error["lineNumber"] == 3
    run = python.run("%matplotlib inline\n%time 1")
    assert run.error is not None and run.error["lineNumber"] == 2 and "magics" in run.error["message"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("#!/usr/bin/env node\n1", "1"),
        ("\ufeff1", "1"),
        ("1\r\n+1\r\n", "2"),
        ("`a\nb`", r"'a\nb'"),
        ("`a\r\nb`", r"'a\nb'"),
        ("'\u2028'.length", "1"),
        ("let ключ = 1; ключ", "1"),
        ("<!-- html comment\n1", "1"),
    ],
)
def test_javascript_layouts(javascript: Context, code: str, expected: str) -> None:
    assert javascript.value(code) == expected


def test_two_megabytes_of_source(python: Context, javascript: Context) -> None:
    filler = "# " + "x" * 97 + "\n"
    code = filler * 20_000 + "1 + 1"
    assert 1_900_000 < len(code) < 2 << 20
    assert python.value(code, timeoutMs=60_000) == "2"
    assert javascript.value("// " + "x" * 1_900_000 + "\n1 + 1", timeoutMs=60_000) == "2"
    literal = "x" * 1_000_000
    assert python.value(f"len('{literal}')") == "1000000"


def test_every_way_of_the_command_line(server: Server, sandbox: Sandbox, tmp_path: Path) -> None:
    code = "t = '''a\\n\\\\ $HOME `ls` %d\n\té \"q\" 🦔'''\nimport hashlib; print(hashlib.sha256(t.encode()).hexdigest(), end='')"
    expected = hashlib.sha256('a\n\\ $HOME `ls` %d\n\té "q" 🦔'.encode()).hexdigest()
    file = tmp_path / "cell.py"
    file.write_text(code, encoding="utf-8")
    base = [str(DORMOUSE), "run", "--data", str(server.data), "-s", sandbox.id]
    for arguments, given in ((["-c", code], b""), ([str(file)], b""), (["-"], code.encode())):
        ended = subprocess.run(
            [*base, *arguments], input=given, capture_output=True, timeout=60, check=True
        )
        assert ended.stdout.decode() == expected, arguments
