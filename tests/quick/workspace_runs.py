# SPDX-License-Identifier: Apache-2.0
"""Workspace runs, as the tests make and watch them."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from quick import contract
from quick.client import ApiError, Client, Json
from quick.processes import wait_until

RUNS = "/v1/workspace-runs"
ENDED = ("succeeded", "failed", "canceled")
Files = dict[str, str | bytes]


def pack(files: Files, more: Callable[[tarfile.TarFile], None] | None = None) -> bytes:
    """A .tar.gz of regular files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o644
            archive.addfile(info, io.BytesIO(data))
        if more is not None:
            more(archive)
    return buffer.getvalue()


def special(name: str, kind: bytes, target: str = "", size: int = 0) -> Callable[[tarfile.TarFile], None]:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type = kind
        info.linkname = target
        info.size = size
        archive.addfile(info, io.BytesIO(b"x" * size))

    return add


def create(client: Client, command: str, **fields: Any) -> Json:
    run: Json = client.post(RUNS, {"command": command, **fields})["workspaceRun"]
    return run


def put(client: Client, run_id: str, archive: bytes, **headers: str) -> Json:
    sent = {
        "content-type": "application/gzip",
        "x-crownest-archive-sha256": hashlib.sha256(archive).hexdigest(),
        "x-crownest-archive-size": str(len(archive)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    response = client.http.put(f"{RUNS}/{run_id}/archive", content=archive, headers=sent)
    if not response.is_success:
        raise ApiError(response)
    answer: Json = response.json()
    return answer


def get(client: Client, run_id: str) -> Json:
    run: Json = client.get(f"{RUNS}/{run_id}")["workspaceRun"]
    return run


def start(client: Client, command: str, files: Files | bytes, **fields: Any) -> Json:
    """A run on its way."""
    run = create(client, command, **fields)
    put(client, run["id"], files if isinstance(files, bytes) else pack(files))
    started: Json = client.post(f"{RUNS}/{run['id']}/start")["workspaceRun"]
    return started


def wait_for_end(client: Client, run_id: str) -> Json:
    wait_until(lambda: get(client, run_id)["status"] in ENDED, "the run ends", seconds=120)
    return get(client, run_id)


def events(client: Client, run_id: str, after: int = 0, limit: int = 500) -> list[Json]:
    """All events, page by page, as clients do."""
    found: list[Json] = []
    while True:
        page = client.get(f"{RUNS}/{run_id}/events", afterSeq=after, limit=limit)
        assert len(page["data"]) <= limit
        found += page["data"]
        if not page["data"]:
            assert "nextSeq" not in page and page["hasMore"] is False
            return found
        after = page["data"][-1]["seq"]
        assert page["nextSeq"] == after
        if not page["hasMore"]:
            return found


def output(client: Client, run_id: str, stream: str = "stdout") -> str:
    return "".join(e["data"] for e in events(client, run_id) if e["type"] == stream)


def finish(client: Client, command: str, files: Files | bytes, **fields: Any) -> Json:
    return wait_for_end(client, start(client, command, files, **fields)["id"])


def refused(call: Callable[[], Any]) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value.status, caught.value.code


def transfer(client: Client, run_id: str, archive: bytes) -> Json:
    body = {"sha256": hashlib.sha256(archive).hexdigest(), "sizeBytes": len(archive)}
    made: Json = client.post(f"{RUNS}/{run_id}/archive-transfer", body)["transfer"]
    return made


def send(client: Client, made: Json, archive: bytes) -> httpx.Response:
    return client.http.put(made["uploadUrl"], content=archive, headers=made["headers"])


def finalize(client: Client, run_id: str, upload_id: str, archive: bytes) -> Json:
    body = {
        "sha256": hashlib.sha256(archive).hexdigest(),
        "sizeBytes": len(archive),
        "uploadId": upload_id,
    }
    return client.post(f"{RUNS}/{run_id}/archive/finalize", body)


def follow(client: Client, run_id: str, after: int = 0) -> list[Json]:
    """The events of a stream, with a strict reading of its lines."""
    target = f"{RUNS}/{run_id}/events?stream=true&afterSeq={after}"
    with client.http.stream("GET", target) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        raw = response.read()
    assert b"\r" not in raw and max(raw, default=0) < 0x80
    found = []
    for block in raw.decode().split("\n\n")[:-1]:
        name, identity, data = block.split("\n")
        event: Json = json.loads(data.removeprefix("data: "))
        contract.check_event("WorkspaceRunEvent", event)
        assert name == f"event: {event['type']}" and identity == f"id: {event['seq']}"
        found.append(event)
    return found
