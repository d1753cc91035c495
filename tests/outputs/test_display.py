# SPDX-License-Identifier: Apache-2.0
"""Ids, updates and metadata of displays, in all languages, and texts that are cut."""

import json

import pytest

from conftest import Between
from quick.client import Client, Context, Sandbox
from quick.engines import by_language

LANGUAGES = ["python", "javascript", "typescript", "perl", "ruby", "lua"]
CALL = {
    "python": ("display({}, display_id='p', metadata={{'width': 3}})", "display({}, display_id='p', update=True)"),
    "javascript": (
        "display({}, {{ displayId: 'p', metadata: {{ width: 3 }} }})",
        "display({}, {{ displayId: 'p', update: true }})",
    ),
    "perl": (
        "display({}, {{display_id => 'p', metadata => {{width => 3}}}}); undef",
        "display({}, {{display_id => 'p', update => 1}}); undef",
    ),
    "ruby": (
        "display {}, display_id: 'p', metadata: {{width: 3}}",
        "display {}, display_id: 'p', update: true",
    ),
}
CALL["lua"] = (
    "display({}, {{display_id = 'p', metadata = {{width = 3}}}})",
    "display({}, {{display_id = 'p', update = true}})",
)
CALL["typescript"] = CALL["javascript"]


@pytest.fixture(params=by_language(LANGUAGES))
def context(request: pytest.FixtureRequest, sandbox: Sandbox) -> Context:
    return sandbox.context(request.param)


def test_a_display_with_an_id_can_be_shown_anew(context: Context, between: Between) -> None:
    first, again = CALL[context.language]
    [shown] = context.run(first.format("5")).ok().outputs
    assert shown == {
        "kind": "inline", "format": "text", "value": "5", "metadata": {"width": 3}, "displayId": "p", "isResult": False,
    }  # fmt: skip
    between(context)
    [shown] = context.run(again.format("6")).ok().outputs
    assert (shown["value"], shown["displayId"], shown["update"]) == ("6", "p", True)


def test_handles_of_notebooks(python: Context, between: Between) -> None:
    run = python.run("h = display([1], display_id=True)\nh.update([2])\nupdate = h").ok()
    ids = {output["displayId"] for output in run.outputs}
    assert len(ids) == 1 and [output.get("update", False) for output in run.outputs] == [False, False, True, True]
    between(python)
    run = python.run("from IPython.display import update_display\nupdate_display(3, display_id=h.display_id)").ok()
    assert run.outputs[0]["displayId"] in ids and run.outputs[0]["update"] is True


def test_metadata_of_one_form(python: Context) -> None:
    code = (
        "from dormouse import Image, HTML\n"
        "display(Image(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(9), width=30, height=20))\n"
        "display(HTML('x'), metadata={'text/plain': {'a': 1}})"
    )
    run = python.run(code, artifactPolicy="promote").ok()
    assert run.output("png")["metadata"] == {"width": 30, "height": 20}
    assert "metadata" not in run.outputs[0] and run.outputs[2]["metadata"] == {"a": 1}


def test_a_long_text_keeps_its_ends_and_is_whole_on_request(client: Client, python: Context) -> None:
    code = "display('é' * 50_000 + 'z' * 50_000, format='markdown')"
    [output] = python.run(code).ok().outputs
    assert output["truncated"] is True and output["sizeBytes"] == 150_000
    assert len(output["value"].encode()) <= 65_536 and "artifactId" not in output
    assert output["value"].startswith("éé") and output["value"].endswith("zz")
    assert "bytes left out ...]" in output["value"]

    events = python.stream(code + "\nprint('x')", artifactPolicy="promote", captureFullOutput=True)
    assert [event["type"] for event in events] == ["stdout", "output", "complete"]
    output = events[1]["data"]
    download = client.http.get(f"/v1/artifacts/{output['artifactId']}/download")
    assert download.text == "é" * 50_000 + "z" * 50_000
    assert json.loads(json.dumps(output)) == events[-1]["data"]["outputs"][0]
    artifact = client.get(f"/v1/artifacts/{output['artifactId']}")["artifact"]
    assert (artifact["name"], artifact["contentType"]) == ("output-1.md", "text/markdown")


def test_an_unknown_format_is_an_error_that_names_the_known_ones(context: Context) -> None:
    code = {
        "python": "display(1, format='htm')",
        "perl": "display(1, 'htm')",
        "ruby": "display 1, format: 'htm'",
        "lua": "display(1, 'htm')",
    }.get(context.language, "display(1, { format: 'htm' })")
    run = context.run(code)
    assert run.status == "error" and "markdown" in str(run.error) and "chart" in str(run.error)
