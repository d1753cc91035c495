# SPDX-License-Identifier: Apache-2.0
"""Outputs and streams of runs that become artifacts."""

import hashlib
from typing import Any

import pytest

from conftest import Between, NewServer
from quick.client import ApiError, Client, Context, Json, Run, Sandbox
from quick.pictures import SVG, png

PNG = f"display({{'image/png': {png()!r}}}, raw=True)"


def kinds(run: Run) -> list[tuple[str, str]]:
    return [
        (output["format"], output.get("reason", output["kind"]))
        for output in run.outputs
        if output["format"] != "text"
    ]


def fetch(client: Client, artifact_id: str) -> bytes:
    response = client.http.get(f"/v1/artifacts/{artifact_id}/download")
    assert response.status_code == 200, response.text
    return response.content


def artifact_of(client: Client, output: Json) -> Json:
    return dict(client.get(f"/v1/artifacts/{output['artifactId']}")["artifact"])


def promote(context: Context, code: str, **fields: Any) -> Run:
    return context.run(code, artifactPolicy="promote", **fields)


def displays(**bundle: Any) -> str:
    names = {"html": "text/html", "svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg"}
    return f"display({ {names[name]: value for name, value in bundle.items()}!r}, raw=True)"


def test_pictures_and_pages_become_artifacts(client: Client, python: Context, between: Between) -> None:
    between(python)
    run = promote(python, f"{PNG}\n{displays(svg=SVG)}\n{displays(html='<p>hi</p>')}").ok()
    assert kinds(run) == [("png", "artifact"), ("svg", "artifact"), ("html", "artifact")]
    picture = run.output("png")
    assert (picture["contentType"], picture["sizeBytes"]) == ("image/png", len(png()))
    assert fetch(client, picture["artifactId"]) == png()
    assert fetch(client, run.output("html")["artifactId"]) == b"<p>hi</p>"
    assert "activeContent" not in picture and "activeContent" not in run.output("svg")
    assert run.output("html")["activeContent"] is True
    artifact = artifact_of(client, picture)
    place = run.outputs.index(picture) + 1
    assert artifact["name"] == f"output-{place}.png" and artifact["runId"] == run.raw["runId"]
    assert artifact["sandboxId"] == python.sandbox.id and "sourcePath" not in artifact


def test_javascript_promotes_too(client: Client, javascript: Context) -> None:
    code = f"display('<b>js</b>', {{format: 'html'}}); display(new Uint8Array({list(png())}), {{format: 'png'}})"
    run = promote(javascript, code).ok()
    assert fetch(client, run.output("html")["artifactId"]) == b"<b>js</b>"
    assert fetch(client, run.output("png")["artifactId"]) == png()


def test_without_promotion_nothing_is_kept(client: Client, python: Context) -> None:
    run = python.run(f"{PNG}\n{displays(html='x')}").ok()
    assert kinds(run) == [
        ("png", "requires_artifact_promotion"),
        ("html", "requires_artifact_promotion"),
    ]
    assert client.get(f"{python.sandbox.path}/artifacts")["data"] == []


def test_bytes_must_be_what_they_claim(python: Context) -> None:
    cases = [
        (displays(png=b"no picture"), ("png", "unsupported_format")),
        (displays(jpeg=png()), ("jpeg", "unsupported_format")),
        (displays(png=b"<html><script>1</script>"), ("png", "unsafe_active_content")),
        (displays(svg="<html/>"), ("svg", "unsupported_format")),
        (displays(svg="<svg><g></svg>"), ("svg", "unsupported_format")),
        (
            displays(svg='<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>'),
            ("svg", "unsafe_active_content"),
        ),
    ]
    for code, expected in cases:
        assert kinds(promote(python, code).ok()) == [expected], code
    assert python.sandbox.client.get(f"{python.sandbox.path}/artifacts")["data"] == []


def test_active_content_is_kept_but_never_shown(client: Client, python: Context) -> None:
    scripted = SVG.replace("<svg ", '<svg onload="alert(1)" ')
    output = promote(python, displays(svg=scripted)).ok().output("svg")
    assert output["activeContent"] is True
    response = client.http.get(f"/v1/artifacts/{output['artifactId']}/download")
    assert response.text == scripted
    assert response.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in response.headers["content-security-policy"]


def test_large_data_becomes_an_artifact(client: Client, python: Context) -> None:
    code = "display({'application/json': ['x' * 100_000]}, raw=True)"
    assert kinds(python.run(code).ok()) == [("json", "output_too_large")]
    output = promote(python, code).ok().output("json")
    assert (output["kind"], output["contentType"]) == ("artifact", "application/json")
    assert fetch(client, output["artifactId"]) == b'["' + b"x" * 100_000 + b'"]'
    small = promote(python, "display({'application/json': {'a': 1}}, raw=True)").ok()
    assert small.output("json")["value"] == {"a": 1}
    chart = promote(
        python, "display({'application/vnd.vega-lite.v5+json': {'d': 'x' * 100_000}}, raw=True)"
    ).ok()
    assert chart.output("chart")["kind"] == "artifact"


def test_a_run_that_is_rolled_back_leaves_none(client: Client, sandbox: Sandbox) -> None:
    code = f"{displays(html='<p>')}\nprint('x')\nwhile True: pass"
    context = sandbox.context("python")
    events = context.stream(code, artifactPolicy="promote", captureFullOutput=True, timeoutMs=1500)
    result = events[-1]["data"]
    if result["state"] == "kept":
        # The soft stop was in time: the artifact is there.
        assert fetch(client, Run(result).output("html")["artifactId"]) == b"<p>"
    crash = context.run("import os; os._exit(1)", artifactPolicy="promote")
    assert crash.outputs == []
    before = len(client.get(f"{sandbox.path}/artifacts", include="historical")["data"])
    code = f"{displays(html='<i>')}\nx = []\nwhile True: x.append(bytearray(1 << 24))"
    broken = context.run(code, artifactPolicy="promote")
    after = client.get(f"{sandbox.path}/artifacts", include="historical")["data"]
    if broken.state == "rolled_back":
        assert kinds(broken) == [("html", "not_saved")] and len(after) == before
    else:
        assert len(after) == before + 1


def test_events_of_artifacts_come_when_they_can_be_fetched(client: Client, python: Context) -> None:
    code = f"""
print('a')
display('first')
{displays(html="<p>1")}
print('b')
display('second')
{displays(html="<p>2")}
print('c')
"""
    order: list[str] = []
    contents: list[bytes] = []
    result: Json = {}
    for event in python.open_stream(code, artifactPolicy="promote"):
        if event["type"] == "output":
            output = event["data"]
            if output["kind"] == "artifact":
                contents.append(fetch(client, output["artifactId"]))
            order.append(output["format"] if output["kind"] == "artifact" else str(output["value"]))
        elif event["type"] == "stdout":
            order += event["data"].split()
        else:
            result = event["data"]
    assert contents == [b"<p>1", b"<p>2"]
    assert order.index("'first'") < order.index("b")
    assert order.index("c") < order.index("html")
    shown = [item for item in order if item in ("'first'", "html", "'second'")]
    assert shown == ["'first'", "html", "'second'", "html"]
    assert [
        output["format"] for output in result["outputs"] if output["kind"] == "artifact"
    ] == ["html", "html"]


def test_a_repeated_run_names_the_same_artifacts(client: Client, sandbox: Sandbox) -> None:
    body = {"code": displays(html="x"), "language": "python", "artifactPolicy": "promote"}
    runs = [
        client.http.post(
            f"{sandbox.path}/code/runs", json=body, headers={"idempotency-key": "once"}
        ).json()["run"]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert len(client.get(f"{sandbox.path}/artifacts")["data"]) == 1


def test_artifacts_of_a_run_survive_a_kill(new_server: NewServer) -> None:
    server = new_server()
    sandbox = server.client.sandbox()
    output = promote(sandbox.context("python"), PNG).ok().output("png")
    server.kill()
    server.start()
    assert fetch(server.client, output["artifactId"]) == png()


def test_all_of_the_output_on_request(client: Client, python: Context) -> None:
    code = "import sys\nfor i in range(400_000): print(i)\nprint('e', file=sys.stderr)"
    run = promote(python, code, captureFullOutput=True).ok()
    whole = "".join(f"{i}\n" for i in range(400_000)).encode()
    assert run.raw["stdoutTruncated"] and run.raw["stdoutBytes"] == len(whole)
    assert "bytes left out" in run.stdout and run.stdout.endswith("399999\n")
    kept = fetch(client, run.raw["stdoutArtifactId"])
    assert hashlib.sha256(kept).digest() == hashlib.sha256(whole).digest()
    assert fetch(client, run.raw["stderrArtifactId"]) == b"e\n"
    artifact = client.get(f"/v1/artifacts/{run.raw['stdoutArtifactId']}")["artifact"]
    assert (artifact["name"], artifact["contentType"]) == ("stdout.txt", "text/plain")
    silent = promote(python, "x = 1", captureFullOutput=True).ok()
    assert "stdoutArtifactId" not in silent.raw and "stderrArtifactId" not in silent.raw
    with pytest.raises(ApiError) as caught:
        python.run("1", captureFullOutput=True)
    assert caught.value.details["field"] == "captureFullOutput"


def test_limits_of_promotion(new_server: NewServer) -> None:
    config = "[limits]\noutputs_per_run = 6\n[artifacts]\noutput_bytes = 2000\nrun_bytes = 5000\n"
    config += "stream_bytes = 3000\nsandbox_bytes = 100000\n"
    client = new_server(config).client
    context = client.sandbox().context("python")
    page = displays(html="x" * 1_990)
    run = promote(context, f"{displays(html='x' * 2_001)}\n{page}\n{page}").ok()
    assert kinds(run) == [("html", "output_too_large"), ("html", "artifact"), ("html", "artifact")]
    other = client.sandbox().context("python")
    run = promote(other, "\n".join([page.replace("display(", "display(")] * 2 + [displays(html="y" * 1_500)]))
    assert kinds(run.ok())[-1] == ("html", "output_too_large"), "of the run"
    run = promote(context, "print('z' * 10_000)", captureFullOutput=True).ok()
    assert fetch(client, run.raw["stdoutArtifactId"]) == b"z" * 3_000
    many = promote(context, "for i in range(9): display(i)").ok()
    assert [output["kind"] for output in many.outputs] == ["inline"] * 6 + ["rejected"]
