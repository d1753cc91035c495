# SPDX-License-Identifier: Apache-2.0
"""Files that come as they are."""

import hashlib
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from conftest import NewServer
from quick.client import Sandbox


def upload(sandbox: Sandbox, path: str, content: bytes | Iterator[bytes], **query: str) -> httpx.Response:
    return sandbox.client.http.put(
        f"{sandbox.path}/files/content",
        params={"path": path, **query},
        content=content,
        headers={"content-type": "application/octet-stream"},
    )


def test_a_large_file_arrives_unchanged(sandbox: Sandbox) -> None:
    piece = bytes(range(256)) * 4_096
    digest = hashlib.sha256()

    def pieces() -> Iterator[bytes]:
        for i in range(20):
            digest.update(piece[i:])
            yield piece[i:]

    response = upload(sandbox, "/workspace/in.bin", pieces())
    assert response.status_code == 200, response.text
    file = response.json()["file"]
    assert (file["path"], file["type"]) == ("/workspace/in.bin", "file")
    code = "import hashlib; hashlib.sha256(open('in.bin', 'rb').read()).hexdigest()"
    assert sandbox.run(code, language="python").ok().result == repr(digest.hexdigest())


@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 300_000])
def test_sizes_around_the_limits(sandbox: Sandbox, size: int) -> None:
    content = b"\xff" * size
    assert upload(sandbox, "f", content).json()["file"]["sizeBytes"] == size
    assert sandbox.download("f").content == content


def test_parents_and_overwriting(sandbox: Sandbox) -> None:
    assert upload(sandbox, "a/b", b"1").json()["error"]["code"] == "parent_directory_not_found"
    assert upload(sandbox, "a/b", b"1", createParents="true").status_code == 200
    refused = upload(sandbox, "a/b", b"2", overwrite="false")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "file_already_exists")
    assert upload(sandbox, "a/b", b"3").status_code == 200
    assert sandbox.read("a/b") == "3"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/etc/x", 400, "path_outside_workspace"),
        ("/workspace", 400, "path_is_directory"),
        ("a\x00b", 400, "invalid_request"),
    ],
)
def test_paths_that_cannot_be_written(sandbox: Sandbox, path: str, status: int, code: str) -> None:
    response = upload(sandbox, path, b"x")
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


def test_other_content_types_are_refused(sandbox: Sandbox) -> None:
    target = f"{sandbox.path}/files/content?path=a"
    refused = sandbox.client.http.put(target, json={"a": 1})
    assert refused.status_code == 415
    bare = sandbox.client.http.put(target, content=b"bare")
    assert bare.status_code == 200 and sandbox.read("a") == "bare"


def test_a_destroyed_sandbox_takes_nothing(sandbox: Sandbox) -> None:
    other = sandbox.client.sandbox()
    other.delete()
    assert upload(other, "a", b"x").status_code == 410


def test_the_quota_is_judged_before_and_while_it_comes(new_server: NewServer) -> None:
    sandbox = new_server("[limits]\nworkspace_bytes = 2000000\n").client.sandbox()
    for content in (bytes(2_000_001), iter([bytes(1_000_000), bytes(1_000_001)])):
        try:
            refused = upload(sandbox, "a", content)
        except httpx.WriteError:
            continue  # the server closed before all was sent
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "quota_exceeded")
    assert sandbox.files() == []
    assert upload(sandbox, "a", bytes(2_000_000)).status_code == 200
    assert upload(sandbox, "b", b"x").status_code == 429
    assert upload(sandbox, "a", bytes(1_999_999)).status_code == 200, "in place of the old one"


def test_an_upload_that_breaks_off_leaves_nothing(sandbox: Sandbox) -> None:
    parts = urlsplit(sandbox.client.url)
    assert parts.hostname is not None and parts.port is not None
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        head = f"PUT {sandbox.path}/files/content?path=a HTTP/1.1\r\nhost: x\r\n"
        head += f"authorization: Bearer {sandbox.client.key}\r\ncontent-length: 1000\r\n\r\n"
        connection.sendall(head.encode() + b"x" * 999)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    assert sandbox.files() == []
