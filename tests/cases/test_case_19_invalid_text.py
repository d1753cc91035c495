# SPDX-License-Identifier: Apache-2.0
"""Case 19: lone surrogates and invalid bytes never break a response. The client parses strictly, so that any
answer it returns at all is valid UTF-8 and valid JSON."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox

PYTHON = [
    "print('a\\ud83dz')",
    "'a\\ud83dz'",
    "{'a\\ud83dz': '\\udfff'}",
    "raise ValueError('a\\ud83dz')",
    "class E(Exception): pass\nE.__name__ = 'E\\ud83d'\nraise E",
    "open('n\\udcff', 'w')",
    "import os; os.listdir(b'.')",
    "import sys; n = sys.stdout.buffer.write(b'\\xff\\xfe')",
    "import os; n = os.write(1, b'\\xf0\\x9f'); n = os.write(2, b'\\x80')",
    "display({'text/plain': 'a\\ud83dz', 'text/html': '\\ud83d'}, raw=True)",
    "class R:\n    def __repr__(self): return 'r\\udc80'\nR()",
    "import sys; sys.exit('m\\ud83d')",
    "import warnings; warnings.warn('w\\ud83d')",
    "exec(compile('1/0', 'f\\udcff', 'exec'))",
]
JAVASCRIPT = [
    "console.log('a\\ud83dz')",
    "'\\ud83d'",
    "({ ['k\\udfff']: '\\ud83d' })",
    "throw new Error('m\\ud83d')",
    "throw '\\ud83d'",
    "process.stdout.write(Buffer.from([0xff, 0xfe, 0xf0, 0x9f]))",
    "const e = new Error('x'); e.name = 'N\\ud800'; throw e",
    "require('fs').writeFileSync('n\\ud83d', 'x')",
    "Symbol('\\ud83d')",
]


@pytest.mark.parametrize("code", PYTHON)
def test_python(python: Context, between: Between, code: str) -> None:
    run = python.run(code)
    assert run.status in ("ok", "error", "exited"), run.raw
    events = python.stream(code)
    assert events[-1]["type"] == "complete"
    between(python)
    assert python.value("1 + 1") == "2"


@pytest.mark.parametrize("code", JAVASCRIPT)
def test_javascript(javascript: Context, between: Between, code: str) -> None:
    run = javascript.run(code)
    assert run.status in ("ok", "error"), run.raw
    assert javascript.stream(code)[-1]["type"] == "complete"
    between(javascript)
    assert javascript.value("1 + 1") == "2"


def test_the_rule_is_replacement(python: Context, javascript: Context) -> None:
    assert (
        python.run("import sys; n = sys.stdout.buffer.write(b'a\\xff\\xf0\\x9fb')").ok().stdout
        == "a\ufffd\ufffdb"
    )
    run = python.run("raise ValueError('a\\ud83dz')")
    assert run.error is not None and run.error["message"] in ("a\ufffdz", r"a\ud83dz")
    assert python.value("'a\\ud83dz'") == r"'a\ud83dz'"
    assert javascript.run("console.log('a\\ud83dz')").ok().stdout == "a\ufffdz\n"


def test_code_and_stdin_may_not_hold_them(sandbox: Sandbox) -> None:
    for body in (
        rb'{"code": "\"\ud83d\"", "language": "python"}',
        b'{"code": "\xff", "language": "python"}',
        rb'{"code": "1", "language": "python", "stdin": "\udfff"}',
    ):
        response = sandbox.client.http.post(
            f"{sandbox.path}/code/runs", content=body, headers={"content-type": "application/json"}
        )
        assert response.status_code == 400, body
        assert response.json()["error"]["code"] == "invalid_request"
