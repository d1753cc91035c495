# SPDX-License-Identifier: Apache-2.0
"""Case 56: any name that Linux takes comes back as it is; the others are a clear 400."""

import json
from urllib.parse import quote

import pytest

from conftest import Between
from quick.client import ApiError, Context, Sandbox

NAMES = [
    "sp ace",
    " lead",
    "trail ",
    "%41",
    "%2e%2e%2f",
    "a%",
    "#hash",
    "q?x=1",
    "a&b",
    "a+b",
    "it's",
    '"q"',
    "back\\slash",
    "new\nline",
    "cr\rx",
    "tab\t",
    "-dash",
    "--",
    ".hidden",
    "...",
    "dot.",
    "🦔",
    "e\u0301",
    "\u00e9",
    "\u202eabc",
    "\u200f",
    "\u202f",
    "\u00a0",
    "CON",
    "nul.txt",
    "a:b",
    "a*b",
    "a|b",
    "<x>",
    "~",
    "$HOME",
    "`ls`",
    ";",
    "x" * 255,
    "é" * 127,
    "\x01",
    "\x7f",
    "\u2028",
    "日本語.txt",
    "a=b",
    "[x]",
    "{y}",
    "workspace",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_comes_back_through_every_route(sandbox: Sandbox, name: str) -> None:
    content = f"content of {name}"
    made = sandbox.write(name, content)
    assert (made["name"], made["path"]) == (name, f"/workspace/{name}")
    assert sandbox.stat(name)["name"] == name and sandbox.stat(f"/workspace/{name}")["name"] == name
    assert sandbox.names() == [name]
    assert sandbox.read(name) == content
    assert sandbox.download(name).content == content.encode()
    sandbox.client.post(f"{sandbox.path}/files/move", {"from": name, "to": "other"})
    sandbox.client.post(f"{sandbox.path}/files/move", {"from": "other", "to": name})
    url = sandbox.client.post(f"{sandbox.path}/files/download-url", {"path": name})["url"]
    assert sandbox.client.http.get(url).content == content.encode()
    sandbox.remove(name)
    assert sandbox.names() == []
    sandbox.client.post(f"{sandbox.path}/files/mkdir", {"path": name})
    sandbox.write(f"{name}/inner", "x")
    assert sandbox.names(name) == ["inner"]


def test_the_guest_and_the_api_agree(sandbox: Sandbox, between: Between) -> None:
    python = sandbox.context("python")
    for name in NAMES[: len(NAMES) // 2]:
        sandbox.write(name, name)
    python.run(
        f"import os, json\nfor n in json.loads({json.dumps(json.dumps(NAMES[len(NAMES) // 2 :]))}): open(n, 'w', newline='').write(n)"
    ).ok()
    between(python)
    assert (
        python.value(
            f"sorted(os.listdir()) == sorted(json.loads({json.dumps(json.dumps(NAMES))})), all(open(n, newline='').read() == n for n in os.listdir())"
        )
        == "(True, True)"
    )
    assert sandbox.names() == sorted(NAMES)
    javascript = sandbox.context("javascript")
    assert (
        javascript.value(
            "const fs = require('fs'); fs.readdirSync('.').every(n => fs.readFileSync(n, 'utf8') === n)"
        )
        == "true"
    )


def test_a_stream_tells_the_names_of_what_a_run_wrote(python: Context) -> None:
    code = f"for name in {NAMES!r}: n = open(name, 'w').write('x')\nprint(sorted(os.listdir()))"
    events = python.stream(f"import os\n{code}")
    assert events[0]["data"] == f"{sorted(NAMES)!r}\n"
    written = events[-1]["data"]["files"]["written"]
    assert sorted(written) == sorted(f"/workspace/{name}" for name in NAMES)


@pytest.mark.parametrize("name", ["x" * 256, "é" * 128, "a\x00b", "", "a/" * 2048 + "b"])
def test_names_that_linux_does_not_take(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ApiError) as caught:
        sandbox.write(name, "x", createParents=True)
    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    for route in ("stat", "read", "download"):
        response = sandbox.client.http.get(
            f"{sandbox.path}/files/{route}?path={quote(name, safe='')}"
        )
        assert response.status_code in (400, 404)


@pytest.mark.parametrize(
    "name", [".", "..", "/", "//", "a/..", "./", "workspace/../..", "/workspace/"]
)
def test_names_that_mean_directories(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ApiError) as caught:
        sandbox.write(name, "x")
    assert caught.value.status in (400, 404)


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "..%2f..%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        "%252e%252e%252fetc",
        "..%5c..%5cetc",
        "%c0%ae%c0%ae/",
        "%00",
    ],
)
def test_encoded_traversal(sandbox: Sandbox, path: str) -> None:
    for route in ("stat", "read", "download"):
        response = sandbox.client.http.get(f"{sandbox.path}/files/{route}?path={path}")
        assert response.status_code in (400, 404), (route, response.text)
        assert "root:" not in response.text


def test_plus_and_percent_in_queries(sandbox: Sandbox) -> None:
    sandbox.write("a b", "space")
    sandbox.write("a+b", "plus")
    get = sandbox.client.http.get
    assert get(f"{sandbox.path}/files/read?path=a+b").json()["content"] == "space"
    assert get(f"{sandbox.path}/files/read?path=a%20b").json()["content"] == "space"
    assert get(f"{sandbox.path}/files/read?path=a%2Bb").json()["content"] == "plus"
    assert get(f"{sandbox.path}/files/read?path=%2Fworkspace%2Fa%2Bb").json()["content"] == "plus"


def test_invalid_utf8_made_by_the_guest(python: Context, between: Between) -> None:
    """Names are UTF-8: others are refused with an error, and nothing else is harmed."""
    run = python.run("import os; open(b'bad\\xff', 'w').write('x')")
    assert run.status in ("ok", "error")
    between(python)
    python.run("open('good', 'w').write('y')").ok()
    assert "good" in python.sandbox.names()
    for entry in python.sandbox.files():
        python.sandbox.remove(entry["name"])
    assert python.sandbox.names() == []


def test_a_big_directory(python: Context) -> None:
    python.run(
        "import os\nos.mkdir('d')\nfor i in range(20_000): open(f'd/{i:05}', 'w').close()",
        timeoutMs=110_000,
    ).ok()
    assert python.sandbox.names("d") == [f"{i:05}" for i in range(20_000)]
    assert python.value("len(os.listdir('d'))") == "20000"
    python.evict()
    assert python.value("len(os.listdir('d'))", timeoutMs=110_000) == "20000"
    assert python.sandbox.info()["workspace"]["files"] >= 20_000
    python.run("import shutil; shutil.rmtree('d')", timeoutMs=110_000).ok()
    assert python.sandbox.names() == []


def test_deep_paths(python: Context) -> None:
    deep = "/".join(["d" * 50] * 60)
    python.sandbox.write(f"{deep}/f", "deep", createParents=True)
    assert python.value(f"open({deep!r} + '/f').read()") == "'deep'"
    assert python.sandbox.read(f"{deep}/f") == "deep"
