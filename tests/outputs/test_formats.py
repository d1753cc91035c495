# SPDX-License-Identifier: Apache-2.0
"""Each cell of the table of formats in docs/outputs.md: by the blocking route and in a stream, in order with stdout."""

from typing import Any

import pytest

from outputs.table import BYTES, FORMATS, LANGUAGES, PAGE, TEXTS, Format, code_language, display, table
from quick.client import Client, Json, Sandbox
from quick.engines import needs

PRINT = {
    "python": "print('{}')",
    "javascript": "console.log('{}');",
    "perl": "print \"{}\\n\";",
    "ruby": "puts '{}'",
    "lua": "print('{}')",
}


def cases() -> list[Any]:
    return [
        pytest.param(
            row,
            language,
            policy,
            id=f"{row.name}-{language}-{policy}",
            marks=needs(language),
        )
        for row in FORMATS
        for language in LANGUAGES
        for policy in ("inline_only", "promote")
    ]


def check(client: Client, row: Format, policy: str, outputs: list[Json]) -> None:
    assert [output["format"] for output in outputs] == list(row.outputs)
    for output in outputs:
        assert output["kind"] == row.kind(policy, output["format"]), output
        assert output["isResult"] is False
    own = next(output for output in outputs if output["format"] == row.name)
    if own["kind"] == "rejected":
        assert own["reason"] == "requires_artifact_promotion"
    elif own["kind"] == "artifact":
        assert own["contentType"] == row.mime
        content = client.http.get(f"/v1/artifacts/{own['artifactId']}/download").content
        expected = BYTES.get(row.name) or TEXTS[row.name].encode()
        assert content == expected and own["sizeBytes"] == len(expected)
    elif row.name == "json":
        assert own["value"] == {"a": [1, None]}
    elif row.name == "data":
        fields = [{"name": "n", "type": "integer"}, {"name": "s", "type": "string"}]
        records = [{"n": 1, "s": "x"}, {"n": 2, "s": "y"}]
        assert own["value"] == {"schema": {"fields": fields}, "data": records, "rowCount": 2}
    elif row.name == "chart":
        assert own["contentType"] == row.mime and own["value"]["type"] == "line"
    else:
        assert own["value"] == TEXTS[row.name].replace("\\\\", "\\")


@pytest.mark.parametrize(("row", "language", "policy"), cases())
def test_format(client: Client, sandbox: Sandbox, row: Format, language: str, policy: str) -> None:
    context = sandbox.context(language)
    say = PRINT[code_language(language)]
    code = "\n".join([say.format("before"), display(row.name, language), say.format("after")])
    if code_language(language) == "ruby":
        code += "\nnil"
    run = context.run(code, artifactPolicy=policy).ok()
    assert run.stdout == "before\nafter\n" and run.stderr == ""
    check(client, row, policy, run.outputs)

    events = context.stream(code, artifactPolicy=policy)
    check(client, row, policy, [event["data"] for event in events if event["type"] == "output"])
    assert [event["type"] for event in events[-1:]] == ["complete"]
    order = [event["data"] if event["type"] == "stdout" else "output" for event in events[:-1]]
    shown = "".join(item if item != "output" else "|" for item in order)
    # What waits for an artifact comes when the run is saved, and what is behind it waits, too.
    live = "|" * next(
        (i for i, output in enumerate(row.outputs) if row.kind(policy, output) == "artifact"),
        len(row.outputs),
    )
    assert shown == f"before\n{live}after\n{'|' * (len(row.outputs) - len(live))}"


def test_the_published_table_is_this_suite() -> None:
    assert table() in PAGE.read_text(), "run: python -m outputs.table"
