# SPDX-License-Identifier: Apache-2.0
"""Downloads: whole files, ranges, headers."""

import hashlib

import pytest

from quick.client import ApiError, Sandbox

CONTENT = bytes(range(256)) * 16


@pytest.fixture
def file(sandbox: Sandbox) -> Sandbox:
    sandbox.run("open('data.bin', 'wb').write(bytes(range(256)) * 16)", language="python").ok()
    return sandbox


def test_a_whole_file(file: Sandbox) -> None:
    response = file.download("data.bin")
    assert (response.status_code, response.content) == (200, CONTENT)
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["content-length"] == "4096"
    assert response.headers["accept-ranges"] == "bytes"
    assert response.headers["content-disposition"].startswith("attachment")
    assert "data.bin" in response.headers["content-disposition"]
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=10-19", 10, 19),
        ("bytes=4000-", 4000, 4095),
        ("bytes=-6", 4090, 4095),
        ("bytes=4090-9999999999", 4090, 4095),
        ("bytes=-99999", 0, 4095),
        ("Bytes=1-1", 1, 1),
    ],
)
def test_a_range(file: Sandbox, value: str, first: int, last: int) -> None:
    response = file.download("data.bin", {"range": value})
    assert response.status_code == 206
    assert response.content == CONTENT[first : last + 1]
    assert response.headers["content-range"] == f"bytes {first}-{last}/4096"


@pytest.mark.parametrize("value", ["bytes=4096-", "bytes=5000-6000", "bytes=-0"])
def test_a_range_outside(file: Sandbox, value: str) -> None:
    response = file.download("data.bin", {"range": value})
    assert response.status_code == 416
    assert response.headers["content-range"] == "bytes */4096"
    assert response.json()["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    "value", ["bytes=a-b", "bytes=2-1", "lines=0-1", "bytes=", "bytes=-", "bytes=0-0,5-5", "x"]
)
def test_a_range_that_is_none_is_ignored(file: Sandbox, value: str) -> None:
    response = file.download("data.bin", {"range": value})
    assert (response.status_code, response.content) == (200, CONTENT)


def test_head_has_no_body(file: Sandbox) -> None:
    response = file.client.http.head(f"{file.path}/files/download", params={"path": "data.bin"})
    assert response.status_code == 200 and response.content == b""
    assert response.headers["content-length"] == "4096"


def test_an_empty_file(sandbox: Sandbox) -> None:
    sandbox.write("empty", "")
    assert sandbox.download("empty").content == b""
    assert sandbox.download("empty", {"range": "bytes=0-"}).status_code == 416


def test_a_large_file_arrives_unchanged(sandbox: Sandbox) -> None:
    code = "import random, hashlib\nb = random.Random(1).randbytes(20_000_000)\nopen('big', 'wb').write(b)\nhashlib.sha256(b).hexdigest()"
    expected = sandbox.run(code, language="python").ok().result
    digest = hashlib.sha256()
    with sandbox.client.http.stream(
        "GET", f"{sandbox.path}/files/download", params={"path": "big"}
    ) as response:
        for piece in response.iter_bytes():
            digest.update(piece)
    assert repr(digest.hexdigest()) == expected
    part = sandbox.download("big", {"range": "bytes=19999990-"})
    assert part.status_code == 206 and len(part.content) == 10


def test_a_download_url_leads_to_the_file(file: Sandbox) -> None:
    answer = file.client.post(f"{file.path}/files/download-url", {"path": "data.bin"})
    assert (answer["authMode"], answer["method"]) == ("api_key", "GET")
    assert answer["url"].startswith(file.client.url) and answer["expiresAt"].endswith("Z")
    assert file.client.http.get(answer["url"]).content == CONTENT
    with pytest.raises(ApiError) as caught:
        file.client.post(f"{file.path}/files/download-url", {"path": "missing"})
    assert caught.value.code == "file_not_found"


def test_what_is_no_file_cannot_be_downloaded(sandbox: Sandbox) -> None:
    sandbox.client.post(f"{sandbox.path}/files/mkdir", {"path": "d"})
    assert sandbox.download("d").json()["error"]["code"] == "path_is_directory"
    assert sandbox.download("missing").json()["error"]["code"] == "file_not_found"


def test_the_name_in_the_header_is_escaped(sandbox: Sandbox) -> None:
    name = 'a"b\\c\r\nx: y ключ 🦔;.txt'
    sandbox.write(name, "x")
    response = sandbox.download(name)
    assert response.content == b"x"
    assert "x" not in response.headers
    disposition = response.headers["content-disposition"]
    assert (
        "\r" not in disposition and "\n" not in disposition and "filename*=UTF-8''" in disposition
    )
