# SPDX-License-Identifier: Apache-2.0
"""The file routes: read, write, list, stat, mkdir, move, delete."""

import base64
from typing import Any

import pytest

from quick.client import ApiError, Client, Sandbox

LIMIT = 256 * 1024


def refused(call: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value.status, caught.value.code


def test_write_read_stat_list_delete(sandbox: Sandbox) -> None:
    made = sandbox.write("notes.txt", "grüße\n")
    assert made["path"] == "/workspace/notes.txt" and made["name"] == "notes.txt"
    assert (made["type"], made["sizeBytes"], made["mode"]) == ("file", 8, "0644")
    assert made["modifiedAt"].endswith("Z")
    assert sandbox.stat("/workspace/notes.txt") == made == sandbox.stat("notes.txt")
    assert sandbox.files() == [made]
    answer = sandbox.client.get(f"{sandbox.path}/files/read", path="notes.txt")
    assert answer == {
        "content": "grüße\n",
        "encoding": "utf8",
        "path": "/workspace/notes.txt",
        "sizeBytes": 8,
    }
    assert sandbox.remove("notes.txt") == {"deleted": True}
    assert sandbox.files() == []
    assert refused(lambda: sandbox.read("notes.txt")) == (404, "file_not_found")
    assert refused(lambda: sandbox.remove("notes.txt")) == (404, "file_not_found")
    assert refused(lambda: sandbox.stat("notes.txt")) == (404, "file_not_found")


def test_overwrite_and_parents(sandbox: Sandbox) -> None:
    sandbox.write("a", "1")
    sandbox.write("a", "2")
    assert sandbox.read("a") == "2"
    assert refused(lambda: sandbox.write("a", "3", overwrite=False)) == (409, "file_already_exists")
    assert refused(lambda: sandbox.write("x/y/z", "1")) == (404, "parent_directory_not_found")
    sandbox.write("x/y/z", "deep", createParents=True)
    assert sandbox.read("/workspace/x/y/z") == "deep"
    assert sandbox.stat("x/y")["type"] == "directory"
    assert refused(lambda: sandbox.write("x/y", "1")) == (400, "path_is_directory")
    assert refused(lambda: sandbox.write("a/b", "1", createParents=True)) == (
        400,
        "path_not_directory",
    )
    assert refused(lambda: sandbox.read("x")) == (400, "path_is_directory")
    assert refused(lambda: sandbox.files("a")) == (400, "path_not_directory")
    assert refused(lambda: sandbox.remove("x")) == (409, "directory_not_empty")
    assert sandbox.read("a") == "2"


def test_mkdir_and_move(sandbox: Sandbox) -> None:
    client, path = sandbox.client, sandbox.path
    made = client.post(f"{path}/files/mkdir", {"path": "d"})["file"]
    assert (made["path"], made["type"]) == ("/workspace/d", "directory")
    assert refused(lambda: client.post(f"{path}/files/mkdir", {"path": "d"})) == (
        409,
        "file_already_exists",
    )
    assert client.post(f"{path}/files/mkdir", {"path": "d", "parents": True})["file"] == made
    assert refused(lambda: client.post(f"{path}/files/mkdir", {"path": "p/q"})) == (
        404,
        "parent_directory_not_found",
    )
    client.post(f"{path}/files/mkdir", {"path": "p/q", "parents": True})
    sandbox.write("d/f", "moved")
    assert (
        client.post(f"{path}/files/move", {"from": "d", "to": "p/q/d"})["file"]["path"]
        == "/workspace/p/q/d"
    )
    assert sandbox.read("p/q/d/f") == "moved" and sandbox.names() == ["p"]
    sandbox.write("g", "old")
    move = {"from": "p/q/d/f", "to": "g"}
    assert refused(lambda: client.post(f"{path}/files/move", move)) == (409, "file_already_exists")
    client.post(f"{path}/files/move", {**move, "overwrite": True})
    assert sandbox.read("g") == "moved"
    assert refused(lambda: client.post(f"{path}/files/move", {"from": "p", "to": "p/q/in"})) == (
        400,
        "invalid_request",
    )
    assert refused(lambda: client.post(f"{path}/files/move", {"from": "none", "to": "x"})) == (
        404,
        "file_not_found",
    )
    assert (
        client.post(f"{path}/files/move", {"from": "g", "to": "g"})["file"]["path"]
        == "/workspace/g"
    )
    assert sandbox.read("g") == "moved"


def test_the_workspace_itself_stays(sandbox: Sandbox) -> None:
    for path in ("/workspace", "/workspace/", ".", "a/.."):
        if path == "a/..":
            sandbox.client.post(f"{sandbox.path}/files/mkdir", {"path": "a"})
        assert refused(lambda path=path: sandbox.remove(path))[0] in (400, 409), path
        move = {"from": path, "to": "elsewhere"}
        assert (
            refused(lambda move=move: sandbox.client.post(f"{sandbox.path}/files/move", move))[0]
            == 400
        )


def test_bytes_go_through_base64(sandbox: Sandbox) -> None:
    content = bytes(range(256)) * 100
    sandbox.write("bin", base64.b64encode(content).decode(), encoding="base64")
    assert base64.b64decode(sandbox.read("bin", encoding="base64")) == content
    assert sandbox.stat("bin")["sizeBytes"] == len(content)
    assert refused(lambda: sandbox.read("bin")) == (400, "invalid_file_encoding")
    for wrong in ("not base64!", "YQ", "Y Q==", "YQ===", "=", "YQ==\n\n!"):
        assert (
            refused(lambda wrong=wrong: sandbox.write("x", wrong, encoding="base64"))[0] == 400
        ), wrong
    assert refused(lambda: sandbox.write("x", "a", encoding="latin1"))[0] == 400
    assert refused(lambda: sandbox.read("bin", encoding="hex"))[0] == 400


def test_the_limit_of_direct_access(sandbox: Sandbox) -> None:
    sandbox.write("just", "a" * LIMIT)
    assert sandbox.read("just") == "a" * LIMIT
    assert refused(lambda: sandbox.write("over", "a" * (LIMIT + 1))) == (413, "file_too_large")
    too_large = base64.b64encode(bytes(LIMIT + 1)).decode()
    assert refused(lambda: sandbox.write("over", too_large, encoding="base64")) == (
        413,
        "file_too_large",
    )
    sandbox.run(f"open('over', 'w').write('a' * {LIMIT + 1})", language="python").ok()
    with pytest.raises(ApiError) as caught:
        sandbox.read("over")
    assert (caught.value.status, caught.value.code) == (413, "file_too_large")
    assert caught.value.details == {"limit": LIMIT, "actual": LIMIT + 1}
    assert sandbox.download("over").content == b"a" * (LIMIT + 1)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "..",
        "../x",
        "/",
        "/workspace/..",
        "a/../../x",
        "/workspace/../etc/passwd",
        "/workspaces",
        "/tmp/x",
    ],
)
def test_paths_outside_are_refused_by_every_route(sandbox: Sandbox, path: str) -> None:
    client, base = sandbox.client, f"{sandbox.path}/files"
    sandbox.write("inside", "x")
    client.post(f"{base}/mkdir", {"path": "a"})
    calls = [
        lambda: sandbox.read(path),
        lambda: sandbox.stat(path),
        lambda: sandbox.files(path),
        lambda: sandbox.write(path, "x"),
        lambda: sandbox.write(path, "x", createParents=True),
        lambda: sandbox.remove(path),
        lambda: client.post(f"{base}/mkdir", {"path": path}),
        lambda: client.post(f"{base}/move", {"from": path, "to": "y"}),
        lambda: client.post(f"{base}/move", {"from": "inside", "to": path}),
        lambda: client.post(f"{base}/download-url", {"path": path}),
        lambda: client.get(f"{base}/download", path=path),
    ]
    for number, call in enumerate(calls):
        status, code = refused(call)
        assert (status, code) == (400, "path_outside_workspace"), (number, status, code)
    assert sandbox.names() == ["a", "inside"]


@pytest.mark.parametrize("path", ["", "a\x00b", "a" * 256, "b/" * 2100 + "c", 5, None])
def test_paths_that_are_none_are_refused(sandbox: Sandbox, path: Any) -> None:
    assert refused(lambda: sandbox.write(path, "x", createParents=True)) == (400, "invalid_request")


def test_fields_that_are_missing_or_unknown(sandbox: Sandbox) -> None:
    client, base = sandbox.client, f"{sandbox.path}/files"
    bodies: list[Any] = [
        {},
        {"path": "a"},
        {"content": "a"},
        {"path": "a", "content": "b", "mode": 1},
        [],
        "x",
        None,
        5,
    ]
    for body in bodies:
        response = client.http.put(base, json=body)
        assert response.status_code == 400, body
    assert refused(lambda: client.get(f"{base}/read"))[1] == "invalid_request"
    assert refused(lambda: client.get(f"{base}/stat", path="a", other="b"))[1] == "invalid_request"
    assert client.http.get(f"{base}/stat?path=a&path=b").status_code == 400
    assert client.http.get(f"{base}/stat?path=%ff").status_code == 400
    assert client.http.get(f"{base}/stat?path=%zz").status_code == 400


def test_the_guest_sees_what_the_api_wrote_and_the_other_way_round(sandbox: Sandbox) -> None:
    sandbox.write("in/a.txt", "from outside", createParents=True)
    run = sandbox.run(
        "import os\nos.chmod('in/a.txt', 0o640)\nos.utime('in/a.txt', (1e9, 1e9))\nopen('in/a.txt').read()",
        language="python",
    )
    assert run.ok().result == "'from outside'"
    file = sandbox.stat("in/a.txt")
    assert file["mode"] == "0640" and file["modifiedAt"] == "2001-09-09T01:46:40.000Z"
    sandbox.run(
        "os.symlink('in/a.txt', 'link'); os.symlink('nowhere', 'dangling')", language="python"
    ).ok()
    by_name = {entry["name"]: entry for entry in sandbox.files()}
    assert by_name["link"]["type"] == "symlink" and by_name["link"]["target"] == "in/a.txt"
    assert sandbox.read("link") == "from outside"
    assert sandbox.stat("dangling")["type"] == "symlink"
    assert refused(lambda: sandbox.read("dangling"))[1] == "file_not_found"
    sandbox.remove("link")
    assert sandbox.read("in/a.txt") == "from outside"


def test_two_sandboxes_share_nothing(client: Client, sandbox: Sandbox) -> None:
    other = client.sandbox()
    sandbox.write("a", "mine")
    assert other.files() == []
    assert other.run("import os; os.listdir('/workspace')", language="python").ok().result == "[]"
