# SPDX-License-Identifier: Apache-2.0
"""Packages: what an operator adds, every new context of the language can import."""

import base64
import io
import json
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quick.cli import OK, REFUSED, USAGE, Cli
from quick.client import Run
from quick.engines import needs_data
from quick.server import CONFIG, Server

# pip comes with the interpreter that runs the tests.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


def make_wheel(directory: Path, name: str, version: str, files: dict[str, str], *needs: str) -> Path:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {need}\n" for need in needs)
    contents = files | {
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    contents[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*contents, f"{info}/RECORD"])
    path = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in contents.items():
            wheel.writestr(inner, text)
    return path


def make_tarball(directory: Path, name: str, version: str, files: dict[str, str]) -> Path:
    path = directory / f"{name}-{version}.tgz"
    manifest = json.dumps({"name": name, "version": version, "main": "index.js"})
    with tarfile.open(path, "w:gz") as archive:
        for inner, text in {"package.json": manifest, **files}.items():
            entry = tarfile.TarInfo(f"package/{inner}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "data", CONFIG)
    made.start()
    yield made
    made.close()


@pytest.fixture
def cli(server: Server, tmp_path: Path) -> Cli:
    return Cli(server.data, PATH=PATH, HOME=str(tmp_path))


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    directory = tmp_path / "wheels"
    directory.mkdir()
    make_wheel(directory, "barn_owl", "1.2", {"barn_owl/__init__.py": "from barn import hoot\n"}, "barn")
    make_wheel(directory, "barn", "0.5", {"barn.py": "def hoot():\n    return 'hoo'\n"})
    return directory


def names(listed: str) -> list[list[str]]:
    return [line.split() for line in listed.splitlines()[1:]]


def test_python_packages_with_what_they_need(server: Server, cli: Cli, wheels: Path) -> None:
    sandbox = server.client.sandbox()
    older = sandbox.context()
    older.run("x = 1").ok()
    added = cli("packages", "add", "--from", str(wheels), "barn-owl")
    assert added.code == OK, added.err
    assert names(added.out) == [["barn", "0.5"], ["barn_owl", "1.2"]]
    assert names(cli("packages", "list").out) == names(added.out)
    # At once in new contexts and in runs without one; after an evict, too.
    context = sandbox.context()
    assert context.value("import barn_owl; barn_owl.hoot()") == "'hoo'"
    context.evict()
    assert context.value("(barn_owl.hoot(), barn_owl.__file__)") == "('hoo', '/usr/lib/dormouse/packages/barn_owl/__init__.py')"
    once = server.client.post("/v1/runs", {"code": "import barn; barn.hoot()", "language": "python"})["run"]
    assert once["status"] == "ok"
    # A context that was there before goes on with what it had.
    assert older.value("x") == "1" and older.run("import barn").error_name == "ModuleNotFoundError"
    # Nobody can change them.
    assert context.run("open('/usr/lib/dormouse/packages/barn.py', 'w')").error_name == "OSError"
    server.restart()
    for one, code, value in ((context, "barn_owl.hoot()", "'hoo'"), (older, "x", "1")):
        body = {"code": code, "contextId": one.id}
        run = server.client.post(f"{sandbox.path}/code/runs", body)["run"]
        assert Run(run).result == value


@needs_data
def test_what_the_engine_has_is_not_fetched(server: Server, cli: Cli, wheels: Path) -> None:
    make_wheel(wheels, "frames", "1.0", {"frames.py": "import numpy, pandas\n"}, "numpy>=1.20", "pandas<3", "six")
    added = cli("packages", "add", "--from", str(wheels), "frames")
    assert added.code == OK, added.err
    assert names(added.out) == [["frames", "1.0"]]
    context = server.client.sandbox().context()
    assert context.value("import frames, six; frames.numpy.__name__ + six.__name__") == "'numpysix'"
    # Another version cannot be had.
    make_wheel(wheels, "six", "9.0", {"six.py": "own = True\n"})
    assert names(cli("packages", "add", "--from", str(wheels), "six").out) == [["frames", "1.0"]]
    make_wheel(wheels, "newer", "1.0", {"newer.py": ""}, "six>=9")
    assert cli("packages", "add", "--from", str(wheels), "newer").code == REFUSED


def test_another_version_and_removal(server: Server, cli: Cli, wheels: Path) -> None:
    assert cli("packages", "add", str(wheels / "barn-0.5-py3-none-any.whl")).code == OK
    old = server.client.sandbox().context()
    assert old.value("import barn; barn.hoot()") == "'hoo'"
    newer = make_wheel(wheels, "barn", "0.6", {"barn.py": "def hoot():\n    return 'HOO'\n"})
    assert names(cli("packages", "add", str(newer)).out) == [["barn", "0.6"]]
    assert server.client.sandbox().context().value("import barn; barn.hoot()") == "'HOO'"
    assert old.value("barn.hoot()") == "'hoo'"
    removed = cli("packages", "remove", "barn")
    assert (removed.code, names(removed.out)) == (OK, [])
    assert server.client.sandbox().context().run("import barn").error_name == "ModuleNotFoundError"
    assert not [entry for entry in (server.data / "packages" / "python").iterdir() if entry.is_dir()]
    assert cli("packages", "remove", "barn").code == REFUSED


def test_without_a_server(tmp_path: Path, wheels: Path) -> None:
    cli = Cli(tmp_path / "own", PATH=PATH, HOME=str(tmp_path))
    assert cli("packages", "add", str(wheels / "barn-0.5-py3-none-any.whl")).code == OK
    ended = cli("run", "-c", "import barn; barn.hoot()")
    assert (ended.code, ended.out) == (OK, "'hoo'\n")
    assert cli("--json", "packages", "list").json == {"data": [{"name": "barn", "version": "0.5"}]}


def test_what_cannot_be_added_changes_nothing(server: Server, cli: Cli, wheels: Path) -> None:
    assert cli("packages", "add", str(wheels / "barn-0.5-py3-none-any.whl")).code == OK
    native = make_wheel(wheels, "fast", "1.0", {"fast/core.so": "x"})
    refused = cli("packages", "add", str(native))
    assert refused.code == REFUSED and "fast/core.so" in refused.err
    missing = cli("packages", "add", "--from", str(wheels), "nothing-of-that-name")
    assert missing.code == REFUSED and "nothing-of-that-name" in missing.err
    for arguments in (["-l", "perl", "add", "x"], ["-l", "javascript", "add", "--build", "x"]):
        assert cli("packages", *arguments).code == REFUSED
    assert cli("packages", "add").code == USAGE
    assert cli("--url", server.url, "packages", "list").code == USAGE
    assert names(cli("packages", "list").out) == [["barn", "0.5"]]
    assert server.client.sandbox().context().value("import barn; barn.hoot()") == "'hoo'"


def test_a_binding_can_do_without(tmp_path: Path, wheels: Path) -> None:
    bindings = '[bindings.PYTHON]\nengine = "python-3.13"\npreload = "import barn"\n'
    bindings += '[bindings.BARE]\nengine = "python-3.13"\ndefault = false\npackages = false\n'
    data = tmp_path / "data"
    plain = Cli(data, PATH=PATH, HOME=str(tmp_path))
    assert plain("packages", "add", str(wheels / "barn-0.5-py3-none-any.whl")).code == OK
    server = Server(data, CONFIG + bindings)
    server.start()
    try:
        sandbox = server.client.sandbox()
        assert sandbox.context().value("barn.hoot()") == "'hoo'"
        bare = sandbox.context(binding="BARE")
        assert bare.run("import barn").error_name == "ModuleNotFoundError"
    finally:
        server.close()


@needs_npm
def test_javascript_and_typescript_packages(server: Server, cli: Cli, tmp_path: Path) -> None:
    owl = make_tarball(tmp_path, "owl", "1.0.0", {"index.js": "exports.hoot = () => 'hoo';\n"})
    added = cli("packages", "-l", "javascript", "add", str(owl))
    assert added.code == OK, added.err
    assert names(added.out) == [["owl", "1.0.0"]]
    sandbox = server.client.sandbox()
    context = sandbox.context(language="javascript")
    assert context.value("const owl = require('owl'); owl.hoot()") == "'hoo'"
    context.evict()
    assert context.value("owl.hoot()") == "'hoo'"
    typed = sandbox.context(language="typescript")
    assert typed.value("import { hoot } from 'owl'; hoot()") == "'hoo'"
    # A second one leaves the first; names are npm's.
    owlet = make_tarball(tmp_path, "owlet", "0.1.0", {"index.js": "exports.size = 1;\n"})
    added = cli("packages", "-l", "typescript", "add", str(owlet))
    assert names(added.out) == [["owl", "1.0.0"], ["owlet", "0.1.0"]], added.err
    removed = cli("packages", "-l", "javascript", "remove", "owl")
    assert names(removed.out) == [["owlet", "0.1.0"]], removed.err
    run = sandbox.context(language="javascript").run("require('owl')")
    assert "owlet 0.1.0" in run.raw["error"]["message"] and "dormouse packages add" in run.raw["error"]["message"]


def test_a_missing_module_says_what_there_is(server: Server, cli: Cli, wheels: Path) -> None:
    context = server.client.sandbox().context()
    error = context.run("import requests").raw["error"]
    assert error["message"] == "No module named 'requests'"
    own = context.run("import sys; print('numpy 2' if 'numpy' in sys.modules else 'nothing', end='')").ok().stdout
    assert any(f"there is: {own}" in line or f", {own}" in line for line in error["traceback"])
    cli("packages", "add", str(wheels / "barn-0.5-py3-none-any.whl"))
    lines = server.client.sandbox().context().run("import requests").raw["error"]["traceback"]
    assert any("barn 0.5" in line for line in lines) and any("packages add requests" in line for line in lines)
    # Not for a part that a package lacks.
    lines = context.run("import os.nothing").raw["error"]["traceback"]
    assert not any("installed" in line for line in lines)


def test_wheels_of_the_workspace(server: Server, wheels: Path) -> None:
    sandbox = server.client.sandbox()
    for wheel in wheels.iterdir():
        sandbox.write(wheel.name, base64.b64encode(wheel.read_bytes()).decode(), encoding="base64")
    context = sandbox.context()
    context.run("import dormouse; dormouse.install('barn-0.5-py3-none-any.whl', 'barn_owl-1.2-py3-none-any.whl')").ok()
    assert context.value("import barn_owl; barn_owl.hoot()") == "'hoo'"
    context.evict()
    assert context.value("barn_owl.hoot()") == "'hoo'"
    # The sandbox has them, not this context alone.
    assert sandbox.context().value("import barn; barn.hoot()") == "'hoo'"
    assert "not a wheel" in context.run("dormouse.install('notes.txt')").raw["error"]["message"]
    assert "dormouse.install" in context.run("%pip install barn").raw["error"]["message"]
