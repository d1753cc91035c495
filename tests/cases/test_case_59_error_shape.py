# SPDX-License-Identifier: Apache-2.0
"""Case 59: what the API refuses has one shape, and nothing runs as something else."""

import json
from typing import Any

import pytest

from quick.client import ApiError, Context, Sandbox


def refused(sandbox: Sandbox, body: Any) -> tuple[int, str]:
    for route in ("runs", "runs/stream"):
        response = sandbox.client.http.post(f"{sandbox.path}/code/{route}", json=body)
        error = response.json()["error"]
        assert set(error) - {"details"} == {"code", "message", "requestId", "retryable"}
        assert (
            isinstance(error["message"], str)
            and len(error["message"]) > 5
            and error["retryable"] is False
        )
    return response.status_code, error["code"]


@pytest.mark.parametrize(
    "language",
    ["Python", "PYTHON", "js", "py", "node", "cobol", "python ", " python", "pythоn", "x" * 1000],
)
def test_unknown_languages(sandbox: Sandbox, language: str) -> None:
    assert refused(sandbox, {"code": "1", "language": language}) == (
        400,
        "unsupported_code_language",
    )
    with pytest.raises(ApiError) as caught:
        sandbox.context(language)
    assert (caught.value.status, caught.value.code) == (400, "unsupported_code_language")
    assert sandbox.contexts() == []


@pytest.mark.parametrize("binding", ["python", "NOTHING", "PY", "x" * 1000])
def test_unknown_bindings(sandbox: Sandbox, binding: str) -> None:
    status, code = refused(sandbox, {"code": "1", "binding": binding})
    assert status in (400, 404) and code in (
        "not_found",
        "invalid_request",
        "unsupported_code_language",
    )


@pytest.mark.parametrize(
    "body",
    [
        {"language": "python"},
        {"code": None, "language": "python"},
        {"code": 5, "language": "python"},
        {"code": ["1"], "language": "python"},
        {"code": True, "language": "python"},
        {"code": "1"},
        {"code": "1", "language": None},
        {"code": "1", "language": 5},
        {"code": "1", "language": ""},
        {"code": "1", "language": "python", "unknown": 1},
        {"code": "1", "language": "python", "Code": "2"},
        {"code": "1", "language": "python", "contextId": "a", "contextName": "b"},
        {},
    ],
)
def test_fields_that_are_missing_wrong_or_unknown(sandbox: Sandbox, body: dict[str, Any]) -> None:
    assert refused(sandbox, body) == (400, "invalid_request")
    assert sandbox.contexts() == []


@pytest.mark.parametrize("body", [[], "text", 5, None, True, [{"code": "1", "language": "python"}]])
def test_bodies_that_are_no_object(sandbox: Sandbox, body: Any) -> None:
    assert refused(sandbox, body) == (400, "invalid_request")


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"",
        b"{}x",
        b'{"code": "1", "language": "python"} trailing',
        b'{"code": "1", "language": "python"}{}',
        b"\xff\xfe",
        b'{"code": "\xff", "language": "python"}',
        b"code=1&language=python",
        b'{"code": "1" "language": "python"}',
        b"{'code': '1'}",
        b'{"code": NaN, "language": "python"}',
        b"[" * 100_000,
        b'{"a":' * 1000,
        b'\xef\xbb\xbf{"code": "1", "language": "python"}',
    ],
)
def test_bodies_that_are_no_json(sandbox: Sandbox, content: bytes) -> None:
    response = sandbox.client.http.post(
        f"{sandbox.path}/code/runs", content=content, headers={"content-type": "application/json"}
    )
    assert response.status_code == 400 and response.json()["error"]["code"] == "invalid_request"
    assert sandbox.contexts() == []


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "x",
        "application/json; charset=latin-1",
    ],
)
def test_wrong_content_types(sandbox: Sandbox, content_type: str) -> None:
    response = sandbox.client.http.post(
        f"{sandbox.path}/code/runs",
        content=b'{"code": "1", "language": "python"}',
        headers={"content-type": content_type},
    )
    assert response.status_code == 415 and response.json()["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/json;charset=UTF-8",
        "application/vnd.x+json",
    ],
)
def test_right_content_types(sandbox: Sandbox, content_type: str) -> None:
    response = sandbox.client.http.post(
        f"{sandbox.path}/code/runs",
        content=b'{"code": "1", "language": "python"}',
        headers={"content-type": content_type},
    )
    assert response.status_code == 200


@pytest.mark.parametrize("context_id", ["cctx_unknown", "cctx_", "x", "../..", "x" * 2000])
def test_unknown_contexts(sandbox: Sandbox, context_id: str) -> None:
    assert refused(sandbox, {"code": "1", "contextId": context_id}) == (404, "not_found")
    assert refused(sandbox, {"code": "1", "contextName": context_id}) in (
        (404, "not_found"),
        (400, "invalid_request"),
    )


def test_code_over_the_limit(sandbox: Sandbox) -> None:
    limit = sandbox.client.get("/v1/capabilities")["capabilities"]["limits"]["codeBytes"]
    assert refused(sandbox, {"code": "#" * (limit + 1), "language": "python"}) == (
        413,
        "code_source_too_large",
    )
    assert sandbox.run("#" * limit, language="python").ok().result is None


def test_stdin_over_the_limit(sandbox: Sandbox) -> None:
    limit = sandbox.client.get("/v1/capabilities")["capabilities"]["limits"]["stdinBytes"]
    status, _ = refused(sandbox, {"code": "1", "language": "python", "stdin": "x" * (limit + 1)})
    assert status in (400, 413)


def test_a_body_of_ten_megabytes_is_no_failure(sandbox: Sandbox) -> None:
    status, code = refused(sandbox, {"code": "x" * 10_000_000, "language": "python"})
    assert (status, code) == (413, "code_source_too_large")


def test_the_hidden_field_of_command_clients_is_accepted(sandbox: Sandbox) -> None:
    body = {"code": "1", "language": "python", "_crownestRequireCommandRead": True}
    assert sandbox.client.post(f"{sandbox.path}/code/runs", body)["run"]["status"] == "ok"


def test_errors_of_the_code_are_not_errors_of_the_api(python: Context, javascript: Context) -> None:
    for context, code in (
        (python, "raise SystemError('mine')"),
        (python, "syntax error here"),
        (javascript, "throw new Error('mine')"),
    ):
        response = context.sandbox.client.http.post(
            f"{context.sandbox.path}/code/runs", json={"code": code, "contextId": context.id}
        )
        assert response.status_code == 200
        assert response.json()["run"]["status"] == "error"


def test_every_answer_is_json(sandbox: Sandbox) -> None:
    for response in (
        sandbox.client.http.delete(f"{sandbox.path}/files?path=none"),
        sandbox.client.http.delete(sandbox.path + "x"),
        sandbox.client.http.get("/nope"),
    ):
        json.loads(response.content)
