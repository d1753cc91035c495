# SPDX-License-Identifier: Apache-2.0
"""Case 55: symbolic links lead nowhere outside, for the guest and for the server's own file routes."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import Between
from quick.client import ApiError, Context, Sandbox
from quick.server import Server

TARGETS = [
    "/etc",
    "/etc/passwd",
    "../../../../../../etc/passwd",
    "/",
    "..",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/mem",
    "/sys",
]


@pytest.fixture
def secret(server: Server) -> Path:
    """A file of the host that must never be seen."""
    file = server.data.parent / "host-secret"
    file.write_text("the host's secret")
    return file


def link(context: Context, target: str, name: str = "link") -> None:
    context.run(
        f"import os\nif os.path.lexists({name!r}): os.unlink({name!r})\nos.symlink({target!r}, {name!r})"
    ).ok()


@pytest.mark.parametrize("target", TARGETS)
def test_the_guest_sees_its_own_world_only(python: Context, between: Between, target: str) -> None:
    run = python.run(f"import os; os.symlink({target!r}, 'link')")
    if run.status == "error":
        # Refusing to make such a link is fine too.
        assert run.error_name in ("PermissionError", "OSError")
        return
    between(python)
    run = python.run("print(open('link').read())")
    assert run.status == "error" and "root:" not in run.stdout, run.raw
    run = python.run("os.listdir('link')")
    assert "passwd" not in str(run.raw.get("outputs")) and "shadow" not in str(
        run.raw.get("outputs")
    )


@pytest.mark.parametrize("target", TARGETS)
def test_the_file_routes_follow_no_link_out(python: Context, target: str) -> None:
    sandbox = python.sandbox
    if (
        python.run(
            f"import os; os.symlink({target!r}, 'link'); os.mkdir('d'); os.symlink({target!r}, 'd/in')"
        ).status
        == "error"
    ):
        return
    for path in (
        "link",
        "link/passwd",
        "link/",
        "link/.",
        "link/..",
        "link//",
        "d/in",
        "d/in/passwd",
        "link/../link",
    ):
        for call in (
            lambda path=path: sandbox.read(path),
            lambda path=path: sandbox.files(path),
            lambda path=path: sandbox.write(f"{path}/new", "x", createParents=True),
            lambda path=path: sandbox.client.post(
                f"{sandbox.path}/files/mkdir", {"path": f"{path}/new", "parents": True}
            ),
        ):
            try:
                answer = call()
            except ApiError as error:
                assert error.code in (
                    "path_outside_workspace",
                    "file_not_found",
                    "path_not_directory",
                    "parent_directory_not_found",
                    "path_is_directory",
                    # A link to `..` that is not at the top stays inside.
                    "file_already_exists",
                    "invalid_request",
                ), (path, error)
            else:
                # `link/..` may be the workspace itself: links to directories that exist inside.
                assert "root:" not in str(answer) and "shadow" not in str(answer)
        response = sandbox.download(path)
        assert response.status_code != 200 or b"root:" not in response.content


def test_an_absolute_host_path_is_not_there(python: Context, secret: Path) -> None:
    run = python.run(f"open({str(secret)!r}).read()")
    assert run.error_name == "FileNotFoundError"
    link(python, str(secret))
    assert python.run("open('link').read()").status == "error"
    with pytest.raises(ApiError) as caught:
        python.sandbox.read("link")
    assert caught.value.code in ("path_outside_workspace", "file_not_found")
    assert secret.read_text() == "the host's secret"


def test_links_inside_work(python: Context, between: Between) -> None:
    sandbox = python.sandbox
    sandbox.write("dir/a.txt", "inside", createParents=True)
    python.run(
        "import os\nos.symlink('dir', 'rel'); os.symlink('/workspace/dir', 'abs'); os.symlink('../dir/a.txt', 'dir/up'); os.symlink('rel/a.txt', 'chain')"
    ).ok()
    between(python)
    for path in ("rel/a.txt", "abs/a.txt", "dir/up", "chain", "rel/up"):
        assert python.value(f"open({path!r}).read()") == "'inside'"
        assert sandbox.read(path) == "inside"
    assert [entry["name"] for entry in sandbox.files("rel/")] == ["a.txt", "up"]
    sandbox.write("rel/new.txt", "through the link")
    assert sandbox.read("dir/new.txt") == "through the link"
    sandbox.remove("rel")
    assert sandbox.stat("dir")["type"] == "directory"


def test_loops_and_long_chains_end(python: Context, between: Between) -> None:
    python.run(
        "import os\nos.symlink('self', 'self'); os.symlink('b', 'a'); os.symlink('a', 'b')\nopen('l0', 'w').write('end')\nfor i in range(50): os.symlink(f'l{i}', f'l{i+1}')"
    ).ok()
    between(python)
    for path in ("self", "a", "l50"):
        assert python.run(f"open({path!r})").error is not None
        with pytest.raises(ApiError) as caught:
            python.sandbox.read(path)
        assert caught.value.status in (400, 404)
    assert python.value("open('l30').read()") == "'end'"
    assert python.sandbox.read("l30") == "end"


def test_trailing_slashes_mean_a_directory(python: Context, between: Between) -> None:
    python.run(
        "import os\nos.mkdir('d'); open('f', 'w').write('x'); os.symlink('d', 'ld'); os.symlink('f', 'lf')"
    ).ok()
    between(python)
    assert (
        python.value(
            "os.path.isdir('ld/'), os.path.isdir('ld//'), os.listdir('ld/.'), os.path.exists('lf/')"
        )
        == "(True, True, [], False)"
    )
    assert python.run("open('lf/')").error_name == "NotADirectoryError"
    assert python.run("os.unlink('ld/')").error is not None
    assert python.value("os.path.islink('ld'), os.path.isdir('d')") == "(True, True)"


def test_renames_and_hard_links_across_the_root(python: Context) -> None:
    for code in (
        "import os; os.rename('/workspace', '/other')",
        "import os; os.rename('/usr', 'usr')",
        "import os; os.link('/etc/passwd', 'p')",
        "import os; os.rename('/dev', 'dev')",
        "import os; os.symlink('x', '/etc/x')",
    ):
        assert python.run(code).status == "error", code


def test_read_only_files_cannot_be_cut(python: Context) -> None:
    library = python.value("import os; os.__file__")
    for code in (
        f"open({library}, 'w')",
        f"import os; os.truncate({library}, 0)",
        f"import os; os.open({library}, os.O_RDONLY | os.O_TRUNC)",
        f"import os; os.unlink({library})",
        f"import os; os.chmod({library}, 0)",
        f"import os; os.rename({library}, '/workspace/x')",
    ):
        assert python.run(code).status == "error", code
    assert python.value(f"len(open({library}).read()) > 1000") == "True"


def test_swapping_a_directory_for_a_link_while_it_is_read(sandbox: Sandbox, secret: Path) -> None:
    swapper, reader = sandbox.context("python"), sandbox.context("python")
    sandbox.write("d/host-secret", "mine", createParents=True)
    target = str(secret.parent)
    with ThreadPoolExecutor(2) as pool:
        swaps = pool.submit(
            swapper.run,
            f"import os\nfor i in range(300):\n    os.rename('d', 'e'); os.symlink({target!r}, 'd'); os.unlink('d'); os.rename('e', 'd')",
        )
        for _ in range(30):
            reader.run(
                "import os\nseen = set()\nfor i in range(20):\n    try: seen.add(open('d/host-secret').read())\n    except OSError: pass"
            ).ok()
            with contextlib.suppress(ApiError):
                assert sandbox.read("d/host-secret") == "mine"
        swaps.result(60)
    assert reader.value("seen <= {'mine'}") == "True"


def test_javascript(javascript: Context, secret: Path) -> None:
    javascript.run(f"const fs = require('fs'); fs.symlinkSync('{secret}', 'link')")
    for path in ("link", str(secret), "/proc/self/environ", "/proc/1/cmdline", "../../etc/passwd"):
        assert javascript.run(f"fs.readFileSync('{path}')").status == "error", path
