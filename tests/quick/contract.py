# SPDX-License-Identifier: Apache-2.0
"""Checks every answer that a test gets against the OpenAPI document that the same server serves."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs

Json = dict[str, Any]

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
STREAMS = ("text/event-stream", "application/octet-stream")


class Broken(AssertionError):
    """The server answered what its document does not say."""


@cache
def document() -> Json:
    return dict(json.loads(DOCUMENT.read_text()))


@cache
def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Paths as patterns, those with fewer parameters first: /runs/stream is not /runs/{runId}."""
    paths = sorted(document()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\\{[^/]+?\\}", "[^/]+", re.escape(path))), path) for path in paths]


def resolve(node: Json) -> Json:
    while "$ref" in node:
        target: Any = document()
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


@cache
def validator(path: str, method: str, status: str, content_type: str) -> jsonschema_rs.Validator:
    operation = document()["paths"][path][method]
    answer = resolve(operation["responses"][status])
    schema = answer["content"][content_type].get("schema", {})
    return jsonschema_rs.validator_for(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "components": document()["components"],
            "allOf": [schema],
        }
    )


@cache
def event_validator(schema: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "components": document()["components"],
            "$ref": f"#/components/schemas/{schema}",
        }
    )


def check_event(schema: str, event: Json) -> None:
    """The data of one server-sent event."""
    errors = [error.message for error in event_validator(schema).iter_errors(event)]
    if errors:
        raise Broken(f"an event of a stream: {'; '.join(errors[:5])} in {str(event)[:2000]}")


def check(response: httpx.Response) -> None:
    """An httpx hook. Answers to unknown paths and methods have the error envelope, which the client reads anyhow."""
    request = response.request
    method = "get" if request.method == "HEAD" else request.method.lower()
    raw_path = request.url.raw_path.decode().partition("?")[0]
    path = next((path for pattern, path in patterns() if pattern.fullmatch(raw_path)), None)
    if path is None or method not in document()["paths"][path]:
        return
    where = f"{request.method} {path} {response.status_code}"
    answers = document()["paths"][path][method]["responses"]
    status = str(response.status_code)
    if status not in answers:
        status = "default"
    if status not in answers:
        raise Broken(f"{where}: the status is not documented")
    content = resolve(answers[status]).get("content", {})
    content_type = response.headers.get("content-type", "").partition(";")[0]
    if not content_type and not content:
        return
    if request.method == "HEAD" or response.status_code == 304:
        return
    documented = next((key for key in content if key.partition(";")[0] == content_type), None)
    if documented is None:
        if "*/*" in content or "application/octet-stream" in content:
            return
        raise Broken(f"{where}: the content type {content_type!r} is not documented")
    if content_type in STREAMS or "json" not in content_type:
        return
    response.read()
    errors = [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for error in validator(path, method, status, documented).iter_errors(
            json.loads(response.content)
        )
    ]
    if errors:
        raise Broken(f"{where}: " + "; ".join(errors[:5]) + f" in {response.text[:2000]}")
