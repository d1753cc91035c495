# SPDX-License-Identifier: Apache-2.0
"""Case 25: which value is the result; the table itself is cells/*/result.cell. Here: the same on every way in."""

import json
import subprocess

import pytest

from quick.client import Sandbox
from quick.server import DORMOUSE, Server
from quick.sse import Event

TABLE = [
    ("python", "1+1;", None),
    ("python", "1+1; # c", None),
    ("python", "1+1 # c;", "2"),
    ("python", "x = 5", None),
    ("python", "(x := 5)", "5"),
    ("python", "'doc'", "'doc'"),
    ("python", "if 1: 5", None),
    ("python", "None", None),
    ("python", "def f(): pass", None),
    ("python", "# only", None),
    ("python", "", None),
    ("javascript", "{a:1}", "{ a: 1 }"),
    ("javascript", "x = 1", "1"),
    ("javascript", "var x = 1", None),
    ("javascript", ";", None),
    ("javascript", "undefined", None),
    ("javascript", "1, 2", "2"),
    ("javascript", "", None),
    ("typescript", "const x: number = 1", None),
    ("typescript", "1 as number", "1"),
    ("typescript", "", None),
]


def result_in(events: list[Event]) -> str | None:
    found = [
        event["data"]["value"]
        for event in events
        if event["type"] == "output" and event["data"]["isResult"]
    ]
    return found[0] if found else None


@pytest.mark.parametrize(("language", "code", "expected"), TABLE)
def test_http(sandbox: Sandbox, language: str, code: str, expected: str | None) -> None:
    context = sandbox.context(language)
    assert context.run(code).ok().result == expected
    context.evict()
    assert result_in(context.stream(code)) == expected


@pytest.mark.parametrize("language", ["python", "javascript", "typescript"])
def test_command_line(server: Server, sandbox: Sandbox, language: str) -> None:
    for row_language, code, expected in TABLE:
        if row_language != language:
            continue
        command = [
            str(DORMOUSE),
            "run",
            "--json",
            "--data",
            str(server.data),
            "-s",
            sandbox.id,
            "-l",
            language,
            "-c",
            code,
        ]
        ended = subprocess.run(command, capture_output=True, timeout=60, check=True)
        outputs = json.loads(ended.stdout)["run"]["outputs"]
        found = [
            output["value"]
            for output in outputs
            if output["isResult"] and output["format"] == "text"
        ]
        assert found == ([] if expected is None else [expected]), code
