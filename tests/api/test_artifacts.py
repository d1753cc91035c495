# SPDX-License-Identifier: Apache-2.0
"""Artifacts of workspace files: their life, their downloads, their limits."""

import hashlib
import re

import httpx
import pytest

from conftest import NewServer
from quick.client import ApiError, Client, Json, Sandbox
from quick.pictures import SVG, png

NO_SUCH = "art_" + "0" * 20


def create(sandbox: Sandbox, path: str, **fields: str) -> Json:
    answer = sandbox.client.post(f"{sandbox.path}/artifacts", {"path": path, **fields})
    return dict(answer["artifact"])


def listed(sandbox: Sandbox, **query: str | int) -> list[Json]:
    return list(sandbox.client.get(f"{sandbox.path}/artifacts", **query)["data"])


def download(client: Client, artifact_id: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return client.http.get(f"/v1/artifacts/{artifact_id}/download", headers=headers)


def test_an_artifact_has_every_documented_field(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("out/table.csv", "a,b\n", createParents=True)
    response = client.http.post(f"{sandbox.path}/artifacts", json={"path": "out/table.csv"})
    assert response.status_code == 201
    artifact = response.json()["artifact"]
    assert re.fullmatch(r"art_[A-Za-z0-9]+", artifact["id"])
    assert artifact["sandboxId"] == sandbox.id
    assert (artifact["orgId"], artifact["projectId"]) == (
        sandbox.get()["orgId"],
        sandbox.get()["projectId"],
    )
    assert (artifact["name"], artifact["contentType"]) == ("table.csv", "text/csv")
    assert (artifact["sizeBytes"], artifact["activeContent"]) == (4, False)
    assert artifact["sourcePath"] == "/workspace/out/table.csv"
    assert artifact["sha256"] == hashlib.sha256(b"a,b\n").hexdigest()
    assert artifact["objectKey"] and "deletedAt" not in artifact and "runId" not in artifact
    assert artifact["createdAt"] < artifact["retentionExpiresAt"]
    assert client.get(f"/v1/artifacts/{artifact['id']}")["artifact"] == artifact
    assert listed(sandbox) == [artifact]


def test_it_outlives_the_file_and_the_sandbox(client: Client) -> None:
    sandbox = client.sandbox()
    sandbox.write("a.txt", "first")
    artifact = create(sandbox, "a.txt")
    sandbox.write("a.txt", "second")
    sandbox.remove("a.txt")
    sandbox.delete()
    assert download(client, artifact["id"]).content == b"first"
    assert [one["id"] for one in listed(sandbox)] == [artifact["id"]]
    with pytest.raises(ApiError) as caught:
        create(sandbox, "a.txt")
    assert (caught.value.status, caught.value.code) == (410, "sandbox_destroyed")


def test_it_outlives_the_server(new_server: NewServer) -> None:
    server = new_server()
    sandbox = server.client.sandbox()
    content = bytes(range(256)) * 400
    sandbox.run("open('b', 'wb').write(bytes(range(256)) * 400)", language="python").ok()
    artifact = create(sandbox, "b", name="kept.bin")
    sandbox.delete()
    server.kill()
    server.start()
    assert download(server.client, artifact["id"]).content == content
    assert server.client.get(f"/v1/artifacts/{artifact['id']}")["artifact"] == artifact


def test_deletion_leaves_a_tombstone(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("a.txt", "x")
    artifact = create(sandbox, "a.txt")
    path = f"/v1/artifacts/{artifact['id']}"
    deleted = client.call("DELETE", path)["artifact"]
    assert deleted["deletedAt"].endswith("Z") and "sha256" not in deleted
    assert client.call("DELETE", path)["artifact"] == deleted
    assert client.get(path)["artifact"] == deleted
    assert listed(sandbox) == []
    assert listed(sandbox, include="historical") == [deleted]
    for call in (lambda: client.get(f"{path}/download"), lambda: client.post(f"{path}/download-url")):
        with pytest.raises(ApiError) as caught:
            call()
        assert (caught.value.status, caught.value.code) == (404, "not_found")
    assert sandbox.read("a.txt") == "x"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("missing", 404, "file_not_found"),
        ("/workspace", 400, "path_is_directory"),
        ("/etc/passwd", 400, "path_outside_workspace"),
        ("../x", 400, "path_outside_workspace"),
        ("link", 400, "path_outside_workspace"),
    ],
)
def test_what_is_no_file_of_the_workspace(sandbox: Sandbox, path: str, status: int, code: str) -> None:
    sandbox.run("import os; os.symlink('/etc/passwd', 'link')", language="python").ok()
    with pytest.raises(ApiError) as caught:
        create(sandbox, path)
    assert (caught.value.status, caught.value.code) == (status, code)


def test_bad_requests_name_their_field(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("a", "x")
    for body, field in [
        ({}, "path"),
        ({"path": 1}, "path"),
        ({"path": "a", "name": ""}, "name"),
        ({"path": "a", "name": "x" * 256}, "name"),
        ({"path": "a", "name": "a\r\nb"}, "name"),
        ({"path": "a", "title": "b"}, "title"),
    ]:
        with pytest.raises(ApiError) as caught:
            client.post(f"{sandbox.path}/artifacts", body)
        assert (caught.value.code, caught.value.details["field"]) == ("invalid_request", field)
    for method, path in [
        ("GET", f"/v1/artifacts/{NO_SUCH}"),
        ("GET", "/v1/artifacts/nonsense"),
        ("DELETE", f"/v1/artifacts/{NO_SUCH}"),
        ("GET", f"/v1/artifacts/{NO_SUCH}/download"),
        ("POST", f"/v1/artifacts/{NO_SUCH}/download-url"),
        ("GET", f"/v1/sandboxes/sbx_{'0' * 20}/artifacts"),
    ]:
        with pytest.raises(ApiError) as caught:
            client.call(method, path)
        assert (caught.value.status, caught.value.code) == (404, "not_found")


def test_pages_go_through_all(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("a", "x")
    made = [create(sandbox, "a", name=str(i))["id"] for i in range(7)]
    seen: list[str] = []
    query: dict[str, str | int] = {"limit": 3}
    while True:
        page = client.get(f"{sandbox.path}/artifacts", **query)
        seen += [artifact["id"] for artifact in page["data"]]
        if not page["hasMore"]:
            break
        query["cursor"] = page["nextCursor"]
    assert sorted(seen) == sorted(made) and len(seen) == 7


def test_creation_is_repeatable_by_key(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("a", "x")
    answers = [
        client.http.post(
            f"{sandbox.path}/artifacts", json={"path": "a"}, headers={"idempotency-key": "same"}
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert len(listed(sandbox)) == 1


@pytest.mark.parametrize(
    ("name", "content", "content_type", "active", "disposition"),
    [
        ("p.png", png(), "image/png", False, "inline"),
        ("p.png", b"<html>", "application/octet-stream", False, "attachment"),
        ("p.svg", SVG.encode(), "image/svg+xml", False, "attachment"),
        ("p.svg", SVG.replace("<path", "<script/><path").encode(), "image/svg+xml", True, "attachment"),
        ("p.html", b"<p>hi", "text/html", True, "attachment"),
        ("p.js", b"alert(1)", "text/javascript", True, "attachment"),
        ("p.txt", "ключ".encode(), "text/plain", False, "inline"),
        ("p.txt", b"\xff\x00", "application/octet-stream", False, "attachment"),
        ("p", b"text", "application/octet-stream", False, "attachment"),
    ],
)
def test_types_are_believed_only_with_their_bytes(
    client: Client, sandbox: Sandbox, name: str, content: bytes, content_type: str, active: bool, disposition: str
) -> None:
    client.http.put(f"{sandbox.path}/files/content", params={"path": name}, content=content)
    artifact = create(sandbox, name)
    assert (artifact["contentType"], artifact["activeContent"]) == (content_type, active)
    response = download(client, artifact["id"])
    assert response.content == content
    assert response.headers["content-type"].startswith(content_type)
    assert response.headers["content-disposition"].startswith(f"{disposition}; filename=")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"


def test_the_name_in_the_header_is_escaped(client: Client, sandbox: Sandbox) -> None:
    sandbox.write('a"b\r\nx: y 🦔.txt', "x")
    artifact = create(sandbox, 'a"b\r\nx: y 🦔.txt')
    assert artifact["name"] == 'a"b__x: y 🦔.txt'
    response = download(client, artifact["id"])
    assert "x" not in response.headers and "filename*=UTF-8''" in response.headers["content-disposition"]
    other = create(sandbox, 'a"b\r\nx: y 🦔.txt', name="../../etc/passwd")
    disposition = download(client, other["id"]).headers["content-disposition"]
    assert disposition == 'attachment; filename="passwd"' or disposition == 'inline; filename="passwd"'


def test_ranges_tags_and_head(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("a.bin", "0123456789")
    artifact = create(sandbox, "a.bin")
    whole = download(client, artifact["id"])
    tag = whole.headers["etag"]
    assert (whole.status_code, whole.content) == (200, b"0123456789")
    assert tag == f'"{artifact["sha256"]}"' and whole.headers["accept-ranges"] == "bytes"
    part = download(client, artifact["id"], {"range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    assert part.headers["content-range"] == "bytes 2-4/10"
    assert download(client, artifact["id"], {"range": "bytes=2-4", "if-range": tag}).status_code == 206
    assert download(client, artifact["id"], {"range": "bytes=2-4", "if-range": '"x"'}).status_code == 200
    assert download(client, artifact["id"], {"range": "bytes=10-"}).status_code == 416
    for value in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        known = download(client, artifact["id"], {"if-none-match": value})
        assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
    assert download(client, artifact["id"], {"if-none-match": '"x"'}).status_code == 200
    head = client.http.head(f"/v1/artifacts/{artifact['id']}/download")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "10")


def test_the_download_url_leads_to_it(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("a.txt", "x")
    artifact = create(sandbox, "a.txt")
    response = client.http.post(f"/v1/artifacts/{artifact['id']}/download-url")
    answer = response.json()
    assert (answer["authMode"], answer["method"]) == ("api_key", "GET")
    assert answer["url"] == f"{client.url}/v1/artifacts/{artifact['id']}/download"
    assert answer["headers"] == {"x-content-type-options": "nosniff"}
    assert client.http.get(answer["url"]).content == b"x"
    assert httpx.get(answer["url"], trust_env=False).status_code == 401


def test_limits(new_server: NewServer) -> None:
    config = "[artifacts]\nmax_bytes = 100000\nsandbox_bytes = 150000\nretention_days = 0\n"
    sandbox = new_server(config).client.sandbox()
    sandbox.write("large", "x" * 100_001)
    sandbox.write("fits", "x" * 100_000)
    with pytest.raises(ApiError) as caught:
        create(sandbox, "large")
    assert (caught.value.status, caught.value.code) == (413, "file_too_large")
    assert caught.value.details["limit"] == 100_000
    artifact = create(sandbox, "fits")
    assert "retentionExpiresAt" not in artifact
    with pytest.raises(ApiError) as caught:
        create(sandbox, "fits")
    assert (caught.value.status, caught.value.code) == (429, "quota_exceeded")
    sandbox.client.call("DELETE", f"/v1/artifacts/{artifact['id']}")
    create(sandbox, "fits")
