# SPDX-License-Identifier: Apache-2.0
"""Case 18: input reads what was given and never hangs."""

import pytest

from conftest import Between
from quick.client import Context


def test_a_prompt_is_output(python: Context, between: Between) -> None:
    between(python)
    run = python.run("n = input('Name? '); n", stdin="ada\n").ok()
    assert (run.stdout, run.result) == ("Name? ", "'ada'")
    run = python.run("n = input('Name? ')")
    assert (run.stdout, run.error_name) == ("Name? ", "EOFError")


def test_lines_are_consumed_one_by_one_and_the_rest_is_dropped(
    python: Context, between: Between
) -> None:
    assert python.run("input(), input()", stdin="a\nb\nc\n").ok().result == "('a', 'b')"
    between(python)
    assert python.run("import sys; sys.stdin.read()").ok().result == "''"
    assert (
        python.run("sys.stdin.readlines()", stdin="no newline at the end").ok().result
        == "['no newline at the end']"
    )


@pytest.mark.parametrize(
    "code",
    [
        "breakpoint()",
        "import getpass; getpass.getpass()",
        "import pdb; pdb.set_trace()",
        "help()",
        "import code; code.interact()",
        "input()",
        "import sys; sys.stdin.readline() or 1/0",
        "import fileinput; list(fileinput.input()) or 1/0",
    ],
)
def test_nothing_waits_for_a_terminal(python: Context, code: str) -> None:
    run = python.run(code, timeoutMs=10_000)
    assert run.status in ("ok", "error", "exited"), run.raw
    assert "Errno 29" not in run.traceback
    assert python.value("1 + 1") == "2"


def test_getpass_reads_stdin(python: Context) -> None:
    run = python.run("import getpass; getpass.getpass('Secret: ')", stdin="s3cret\n")
    assert run.result == "'s3cret'"
    assert "s3cret" not in run.stdout


def test_javascript(javascript: Context, between: Between) -> None:
    assert (
        javascript.run("require('fs').readFileSync(0, 'utf8')", stdin="a\nb").ok().result
        == r"'a\nb'"
    )
    between(javascript)
    assert javascript.run("require('fs').readFileSync('/dev/stdin', 'utf8')").ok().result == "''"
    run = javascript.run("prompt('Name?')", stdin="ada\n").ok()
    assert run.result == "'ada'" and run.stdout.startswith("Name?")
    assert javascript.run("prompt('Name?')").ok().result == "null"


def test_javascript_readline(javascript: Context) -> None:
    code = (
        "const rl = require('readline').createInterface({ input: process.stdin });\n"
        "const lines = []; for await (const line of rl) lines.push(line); lines"
    )
    assert javascript.run(code, stdin="a\nb\n", timeoutMs=10_000).ok().result == "[ 'a', 'b' ]"


def test_javascript_stdin_stream(javascript: Context) -> None:
    code = "let all = ''; process.stdin.setEncoding('utf8'); for await (const piece of process.stdin) all += piece; all"
    assert javascript.run(code, stdin="grüße", timeoutMs=10_000).ok().result == "'grüße'"
