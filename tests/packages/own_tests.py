# SPDX-License-Identifier: Apache-2.0
"""Runs the data packages' own tests inside their engine, each test module in a context of its own:

    cd tests && PYTHON -m packages.own_tests RESULTS [--page] [--node GUEST] [NAME | NAME/MODULE …]

RESULTS is a folder: it keeps the sources, what ran (NAME.json), and what it came to. NAME is a package of own.toml, which
lists its modules; what has a result already is not run again unless it is named. With --page the results go to
docs/data.md. With --node the tests run under node in GUEST, what guest/python-data/build made, without an engine."""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from packages.own_page import write_page
from quick.server import Server

HERE = Path(__file__).resolve().parent
GUEST = HERE.parents[1] / "guest" / "python-data"
RUN_MJS = HERE.parents[1] / "guest" / "python" / "test" / "run.mjs"
LIMIT_S = 3600
CONFIG = f"""
[limits]
stop_grace_ms = 5000
max_timeout_ms = {LIMIT_S * 1000}
[bindings.PYTHON_DATA]
engine = "python-data-3.13"
memory_bytes = 2147483648
max_timeout_ms = {LIMIT_S * 1000}
"""

Result = dict[str, Any]


def download(folder: Path) -> None:
    """Source distributions and wheels, as pinned."""
    if (folder / ".complete").exists():
        return
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    pip += ["--require-hashes", "-d", str(folder)]
    sources = ["--no-binary", ":all:", "--no-build-isolation", "-r", str(GUEST / "sources.txt")]
    subprocess.run([*pip, *sources], check=True, env={**os.environ, "PYTHONPATH": str(GUEST / "fetch")})
    subprocess.run([*pip, "--only-binary", ":all:", "-r", str(HERE / "runner.txt")], check=True)
    (folder / ".complete").touch()


def archive(name: str, suite: dict[str, Any], folder: Path) -> bytes:
    """The package's tests and what runs them; no file of the package itself, and no pictures to compare figures with."""
    root = Path(suite.get("root", name))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        target.write(HERE / "inside.py", "runner/inside.py")
        with tarfile.open(next(folder.glob(f"{name}-*.tar.gz"))) as source:
            for member in source:
                path = Path(*Path(member.name).parts[1:])
                inside = path.relative_to(root) if path.is_relative_to(root) else Path()
                wanted = {"tests", "Tests"} & set(inside.parts) or inside == Path("conftest.py")
                wanted = wanted and "baseline_images" not in inside.parts
                if wanted and (file := source.extractfile(member) if member.isfile() else None):
                    target.writestr(f"suite/{name}/{inside}", file.read())
        for wheel in sorted(folder.glob("*.whl")):
            with zipfile.ZipFile(wheel) as source:
                for inside in source.namelist():
                    target.writestr(f"runner/{inside}", source.read(inside))
    return buffer.getvalue()


def code_of(name: str, module: str, more: list[str]) -> str:
    return f"""
import sys, zipfile
from pathlib import Path
if not Path("/workspace/runner").exists():
    zipfile.ZipFile("/workspace/tests.zip").extractall("/workspace")
sys.path.insert(0, "/workspace/runner")
import inside
inside.run({name!r}, {module!r}, {more!r})
"""


class Place(Protocol):
    """Where tests run."""

    def begin(self, content: bytes) -> None:
        """With the archive of a package."""

    def run(self, code: str) -> tuple[str, str]:
        """What it printed, and what went wrong if it did not end well."""

    def close(self) -> None: ...


class Engine:
    def __init__(self, folder: Path) -> None:
        self.server = Server(folder / "data", CONFIG).start()
        self.server.client.http.timeout = LIMIT_S + 60

    def begin(self, content: bytes) -> None:
        self.sandbox = self.server.client.sandbox()
        self.sandbox.client.http.put(
            f"{self.sandbox.path}/files/content", params={"path": "/workspace/tests.zip"}, content=content
        ).raise_for_status()

    def run(self, code: str) -> tuple[str, str]:
        context = self.sandbox.context("python")
        run = context.run(code, timeoutMs=LIMIT_S * 1000)
        context.delete()
        return run.stdout, "" if run.status == "ok" else f"{run.status}: {run.traceback[-1000:]}"

    def close(self) -> None:
        self.server.close()


class Node:
    def __init__(self, folder: Path, guest: Path) -> None:
        self.folder = folder
        (folder / "engine.wasm").symlink_to(guest.resolve() / "engine.wasm")
        subprocess.run(["cp", "-a", str(guest / "rootfs"), str(folder / "root")], check=True)

    def begin(self, content: bytes) -> None:
        workspace = self.folder / "root" / "workspace"
        subprocess.run(["rm", "-rf", str(workspace)], check=True)
        (self.folder / "root" / "tmp").mkdir(exist_ok=True)
        (self.folder / "root" / "dev").mkdir(exist_ok=True)
        (self.folder / "root" / "dev" / "null").touch()
        workspace.mkdir()
        zipfile.ZipFile(io.BytesIO(content)).extractall(workspace)

    def run(self, code: str) -> tuple[str, str]:
        cells = self.folder / "cells.json"
        cells.write_text(json.dumps([code]))
        flags = ["--no-warnings", "--stack-size=60000", "--wasm-lazy-compilation", "--no-turbo-fast-api-calls"]
        answer = subprocess.run(
            ["bash", "-c", 'ulimit -s unlimited; exec node "$@"', "bash", *flags, str(RUN_MJS), str(self.folder), str(cells)],
            capture_output=True,
            text=True,
            check=False,
        )
        cell = json.loads((answer.stdout.splitlines() or ["{}"])[-1])
        events = cell.get("events", [])
        printed = "".join(data for kind, data in events if kind == "stdout")
        errors = [data for kind, data in events if kind in ("error", "exit")]
        ended = cell.get("cell") and cell.get("status") == 0
        return printed, "" if ended and not errors else f"{cell.get('status')} {errors} {answer.stderr[-1000:]}"[:2000]

    def close(self) -> None: ...


def run_module(place: Place, name: str, module: str, more: list[str]) -> Result:
    printed, wrong = place.run(code_of(name, module, more))
    if wrong:
        return {"counts": {"failed": 1}, "failures": [["", wrong]]}
    return dict(json.loads(printed.splitlines()[-1]))


def chosen(suites: dict[str, Any], names: list[str]) -> dict[str, list[str]]:
    """The modules that are named, by package."""
    found: dict[str, list[str]] = {}
    for name in names:
        package, _, module = name.partition("/")
        found.setdefault(package, []).extend([module] if module else suites[package]["modules"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--node", type=Path)
    parser.add_argument("--pytest", action="append", default=[], help="an argument for pytest")
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_intermixed_args()
    suites = tomllib.loads((HERE / "own.toml").read_text())
    results: Path = arguments.results
    results.mkdir(exist_ok=True)
    download(results)
    with TemporaryDirectory(dir=results) as directory:
        place: Place = Node(Path(directory), arguments.node) if arguments.node else Engine(Path(directory))
        try:
            for name, modules in chosen(suites, arguments.name or list(suites)).items():
                path = results / f"{name}.json"
                done: dict[str, Result] = json.loads(path.read_text()) if path.exists() else {}
                place.begin(archive(name, suites[name], results))
                for module in modules:
                    if module in done and not arguments.name:
                        continue
                    done[module] = result = run_module(
                        place, name, module, [*suites[name].get("pytest", []), *arguments.pytest]
                    )
                    path.write_text(json.dumps(done, indent=1))
                    print(name, module, json.dumps(result["counts"]), flush=True)
                    for failure in result["failures"]:
                        print("   ", *failure, flush=True)
        finally:
            place.close()
    if arguments.page:
        write_page(suites, results)


if __name__ == "__main__":
    main()
