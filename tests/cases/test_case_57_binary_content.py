# SPDX-License-Identifier: Apache-2.0
"""Case 57: contents are bytes, whichever way they go."""

import base64
import gzip
import hashlib
import subprocess
from pathlib import Path

import pytest

from conftest import Between
from quick.client import Sandbox
from quick.server import DORMOUSE, MEMORY_KIB, Server

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"

CONTENTS = {
    "all bytes": bytes(range(256)) * 512,
    "empty": b"",
    "crlf": b"a\r\nb\r\rc\n",
    "utf-16": "é🦔".encode("utf-16"),
    "gzip": gzip.compress(b"x" * 10_000, mtime=0),
    "bom": b"\xef\xbb\xbfbom",
    "zeros": bytes(200_000),
    "no newline": b"end",
    "looks like base64": b"YWJj",
    "looks like JSON": b'{"content": "\\u0000"}',
}


@pytest.mark.parametrize("name", CONTENTS)
def test_there_and_back(sandbox: Sandbox, between: Between, name: str) -> None:
    content = CONTENTS[name]
    digest = hashlib.sha256(content).hexdigest()
    sandbox.write("f", base64.b64encode(content).decode(), encoding="base64")
    assert base64.b64decode(sandbox.read("f", "base64")) == content
    assert sandbox.download("f").content == content
    python, javascript = sandbox.context("python"), sandbox.context("javascript")
    assert python.value(
        "import hashlib; b = open('f', 'rb').read(); open('g', 'wb').write(b) and 0; hashlib.sha256(b).hexdigest()"
    ) == repr(digest)
    between(python)
    assert javascript.value(
        "const fs = require('fs'); const b = fs.readFileSync('g'); fs.writeFileSync('h', b); require('crypto').createHash('sha256').update(b).digest('hex')"
    ) == repr(digest)
    between(javascript)
    assert python.value("hashlib.sha256(open('h', 'rb').read()).hexdigest()") == repr(digest)
    assert sandbox.download("h").content == content
    assert sandbox.stat("h")["sizeBytes"] == len(content)


@pytest.mark.parametrize("text", ["a\r\nb", "\ufeffbom", "é🦔", "\x00\x01", "", "line\n", "\u2028"])
def test_text_is_not_touched(sandbox: Sandbox, text: str) -> None:
    sandbox.write("t", text)
    assert sandbox.read("t") == text
    assert sandbox.download("t").content == text.encode()
    assert sandbox.run("open('t', newline='').read()", language="python").ok().result == repr(text)


@pytest.mark.parametrize("name", ["all bytes", "empty", "crlf", "gzip"])
def test_through_the_command_line(
    server: Server, sandbox: Sandbox, tmp_path: Path, name: str
) -> None:
    content = CONTENTS[name]
    base = [str(DORMOUSE), "files", "--data", str(server.data), "-s", sandbox.id]
    subprocess.run([*base, "write", "piped"], input=content, timeout=60, check=True)
    local = tmp_path / "local"
    local.write_bytes(content)
    subprocess.run([*base, "write", "copied", str(local)], timeout=60, check=True)
    for remote in ("piped", "copied"):
        assert (
            subprocess.run(
                [*base, "read", remote], capture_output=True, timeout=60, check=True
            ).stdout
            == content
        )
        out = tmp_path / f"out-{remote}"
        subprocess.run([*base, "read", remote, "-o", str(out)], timeout=60, check=True)
        assert out.read_bytes() == content


@pytest.mark.parametrize("way", ["run", "stream"])
def test_in_an_output(sandbox: Sandbox, way: str) -> None:
    content = PNG_MAGIC + CONTENTS["all bytes"]
    sandbox.write("f.png", base64.b64encode(content).decode(), encoding="base64")
    code = "display({'image/png': open('f.png', 'rb').read()}, raw=True)"
    fields = {"language": "python", "artifactPolicy": "promote"}
    if way == "run":
        output = sandbox.run(code, **fields).ok().output("png")
    else:
        outputs = [e["data"] for e in sandbox.stream(code, **fields) if e["type"] == "output"]
        output = next(one for one in outputs if one["format"] == "png")
    path = f"/v1/artifacts/{output['artifactId']}/download"
    assert sandbox.client.http.get(path).content == content


def test_a_hundred_megabytes(server: Server, sandbox: Sandbox) -> None:
    """Streamed, not buffered: the server's memory stays flat."""
    from quick.processes import status_of

    code = "import hashlib\nh = hashlib.sha256()\nwith open('big', 'wb') as f:\n    for i in range(100):\n        b = bytes([i]) * 1_000_000; h.update(b); n = f.write(b)\nh.hexdigest()"
    expected = sandbox.run(code, language="python", timeoutMs=110_000).ok().result
    digest, size = hashlib.sha256(), 0
    with sandbox.client.http.stream(
        "GET", f"{sandbox.path}/files/download", params={"path": "big"}
    ) as response:
        for piece in response.iter_bytes():
            digest.update(piece)
            size += len(piece)
    assert size == 100_000_000 and repr(digest.hexdigest()) == expected
    assert int(status_of(server.pid)["VmRSS"].split()[0]) < MEMORY_KIB
