# SPDX-License-Identifier: Apache-2.0
"""Engine packages: adding builds, keeping contexts on theirs, removing what nothing needs."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from quick.cli import OK, REFUSED, USAGE, Cli, Ended
from quick.client import Client, Context, Json, Run
from quick.processes import wait_until
from quick.server import CONFIG, ENGINES, WORKER, Server

PYTHON = (ENGINES / "python-3.13" / "current").resolve()


class Machine:
    """A server and a command with an engines directory of their own."""

    def __init__(self, root: Path) -> None:
        self.engines = root / "engines"
        self.engines.mkdir(parents=True)
        self.server = Server(root / "data", CONFIG, engines=self.engines)
        self.cli = Cli(root / "data", DORMOUSE_ENGINES=str(self.engines))

    @property
    def client(self) -> Client:
        return self.server.client

    def builds(self) -> dict[str, Json]:
        return {engine["buildId"]: engine for engine in self.client.get("/v1/engines")["data"]}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.server.close()


@pytest.fixture(scope="session")
def second_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same interpreter with another boot image: one that has run some code."""
    root = tmp_path_factory.mktemp("second")
    code = root / "code"
    code.write_text("from_the_second_build = True")
    package = root / "package"
    command = [WORKER, "preload-engine", "--base", PYTHON, "--code", code, "--key", "x"]
    command += ["--memory-bytes", str(512 << 20), "--output", package]
    assert os.spawnv(os.P_WAIT, WORKER, [str(word) for word in command]) == 0
    manifest = json.loads((package / "engine.json").read_text())
    del manifest["preload"]
    (package / "engine.json").write_text(json.dumps(manifest))
    return package


def build_of(package: Path) -> str:
    return str(json.loads((package / "engine.json").read_text())["buildId"])


def added(ended: Ended) -> Ended:
    assert ended.code == OK, ended.err
    return ended


def run_in(machine: Machine, context: Context, code: str) -> Run:
    """Of a context that was made before the server was started again."""
    body = {"code": code, "contextId": context.id}
    return Run(machine.client.post(f"{context.sandbox.path}/code/runs", body)["run"])


def test_a_package_is_installed_and_offered(machine: Machine) -> None:
    ended = added(machine.cli("engines", "add", str(PYTHON)))
    assert "python-3.13" in ended.out and "is installed" in ended.out
    directory = machine.engines / "python-3.13"
    assert os.readlink(directory / "current") == build_of(PYTHON)[:16]
    assert {path.name for path in (directory / "current").iterdir()} == {
        "engine.json",
        "engine.so",
        "boot.img",
        "rootfs.img",
    }
    assert machine.cli("run", "-c", "6 * 7").out == "42\n"
    again = added(machine.cli("engines", "add", "--json", str(PYTHON)))
    assert again.json["wasInstalled"] is True and again.json["buildId"] == build_of(PYTHON)
    assert not list(machine.engines.glob(".add-*"))


def test_contexts_stay_on_their_build(machine: Machine, second_build: Path) -> None:
    """An engine upgrade under a running server, and what becomes of old state."""
    first_id, second_id = build_of(PYTHON), build_of(second_build)
    added(machine.cli("engines", "add", str(PYTHON)))
    machine.server.start()
    sandbox = machine.client.sandbox()
    old = sandbox.context("python")
    old.run("kept = 41").ok()
    dormant = sandbox.context("python")
    dormant.run("kept = 1").ok()
    dormant.evict()

    told = added(machine.cli("engines", "add", str(second_build)))
    assert machine.server.url in told.out
    builds = machine.builds()
    assert {build_id for build_id, build in builds.items() if build["current"]} == {second_id}
    assert builds[first_id]["contexts"] == 2 and builds[first_id]["bindings"] == []
    assert machine.client.get("/v1/bindings")["data"][0]["buildId"] == second_id
    new = sandbox.context("python")
    assert new.value("from_the_second_build") == "True"
    for context in (old, dormant):
        assert context.run("kept = kept + 1\nkept").ok().result in ("42", "2")
        context.evict()
        run = context.run("('from_the_second_build' in globals(), kept)").ok()
        assert run.result in ("(False, 42)", "(False, 2)") and not run.context["stateLost"]
        assert context.get()["snapshot"]["engineBuild"] == first_id
    fork = old.fork()
    assert fork.value("kept") == "42" and fork.get()["snapshot"]["engineBuild"] == first_id

    # What contexts need is not pruned, over a restart as well.
    assert machine.cli("engines", "prune").out == "nothing to remove\n"
    machine.server.restart()
    assert run_in(machine, old, "kept").result == "42"
    for context in (dormant, fork):
        machine.client.call("DELETE", context.path)
    assert machine.cli("engines", "prune").out == "nothing to remove\n"

    # Removed by hand: the state is gone, and says so.
    shutil.rmtree(machine.engines / "python-3.13" / first_id[:16])
    machine.server.stop()
    machine.server.start()
    assert set(machine.builds()) == {second_id}
    assert machine.client.get(old.path)["context"]["snapshot"] is None
    lost = run_in(machine, old, "'kept' in globals()")
    assert lost.result == "False" and lost.context["stateLost"] is True
    again = run_in(machine, old, "from_the_second_build")
    assert again.result == "True" and again.context["stateLost"] is False
    assert machine.client.get(old.path)["context"]["snapshot"]["engineBuild"] == second_id


def test_a_build_that_vanishes_under_a_server(machine: Machine, second_build: Path) -> None:
    added(machine.cli("engines", "add", str(PYTHON)))
    machine.server.start()
    sandbox = machine.client.sandbox()
    context = sandbox.context("python")
    context.run("kept = 1").ok()
    added(machine.cli("engines", "add", str(second_build)))
    shutil.rmtree(machine.engines / "python-3.13" / build_of(PYTHON)[:16])
    os.kill(machine.server.pid, 1)
    wait_until(lambda: len(machine.builds()) == 1, "the server notices")
    # The interpreter in memory goes on as long as it is there.
    assert context.value("kept") == "1"
    assert context.get()["snapshot"] is None
    context.evict()
    run = context.run("'kept' in globals()").ok()
    assert run.result == "False" and run.context["stateLost"] is True


def test_what_nothing_needs_is_pruned(machine: Machine, second_build: Path) -> None:
    first_id, second_id = build_of(PYTHON), build_of(second_build)
    added(machine.cli("engines", "add", str(PYTHON)))
    machine.server.start()
    context = machine.client.sandbox().context("python")
    context.run("kept = 1").ok()
    added(machine.cli("engines", "add", str(second_build)))
    assert machine.cli("engines", "prune").out == "nothing to remove\n"
    context.delete()
    assert f"would remove python-3.13 {first_id[:16]}" in machine.cli("engines", "prune", "--dry-run").out
    assert set(machine.builds()) == {first_id, second_id}
    pruned = machine.cli("engines", "prune")
    assert f"removed python-3.13 {first_id[:16]}" in pruned.out and "freed" in pruned.out
    assert not (machine.engines / "python-3.13" / first_id[:16]).exists()
    wait_until(lambda: set(machine.builds()) == {second_id}, "the server forgets the build")
    sandbox = machine.client.sandbox()
    assert sandbox.run("7", language="python").result == "7"
    sandbox.delete()
    machine.server.stop()
    # Without a server, too.
    added(machine.cli("engines", "add", str(PYTHON)))
    assert [build["buildId"] for build in machine.cli("engines", "prune", "--json").json["removed"]] == [second_id]
    assert machine.cli("run", "-c", "1").out == "1\n"


def test_a_server_goes_on_when_a_build_cannot_be_loaded(machine: Machine) -> None:
    added(machine.cli("engines", "add", str(PYTHON)))
    machine.server.start()
    context = machine.client.sandbox().context("python")
    context.run("kept = 1").ok()
    broken = machine.engines / "python-3.13" / "broken"
    # First a description that cannot be read, then code that cannot be loaded.
    for number, complaint in ((1, "engine.json"), (2, "engine.so")):
        if number == 1:
            broken.mkdir()
            (broken / "engine.json").write_text("{")
        else:
            shutil.copytree(PYTHON, broken, dirs_exist_ok=True)
            break_json(broken, buildId="0" * 64)
            (broken / "engine.so").write_bytes(b"nothing")
        os.kill(machine.server.pid, 1)
        stays = "the engines stay as they were"
        wait_until(lambda: machine.server.log.count(stays) == number, "the server says so")
        assert complaint in machine.server.log.rsplit(stays, 1)[1]
        assert set(machine.builds()) == {build_of(PYTHON)}
        assert context.value("kept") == "1"
        assert machine.client.sandbox().run("7", language="python").result == "7"


def test_preloaded_images_follow_the_engine(machine: Machine, second_build: Path) -> None:
    """A new build gets the preloaded code, old contexts keep their image, and what nothing needs is pruned."""
    added(machine.cli("engines", "add", str(PYTHON)))
    machine.server.config = CONFIG + '[bindings.PYTHON]\nengine = "python-3.13"\npreload = "answer = 42"\n'
    machine.server.start()
    old = machine.client.sandbox().context("python")
    assert old.value("answer") == "42"
    (old_image,) = (build["buildId"] for build in machine.builds().values() if build["preloaded"])
    added(machine.cli("engines", "add", str(second_build)))
    new = machine.client.sandbox().context("python")
    assert new.value("(answer, from_the_second_build)") == "(42, True)"
    old.evict()
    assert old.value("(answer, 'from_the_second_build' in globals())") == "(42, False)"
    # The image has all it needs of the build that it was made of.
    assert build_of(PYTHON)[:16] in machine.cli("engines", "prune").out
    wait_until(lambda: build_of(PYTHON) not in machine.builds(), "the server forgets the build")
    machine.server.restart()
    assert run_in(machine, old, "answer").result == "42"
    machine.client.call("DELETE", old.path)
    assert old_image[:16] in machine.cli("engines", "prune").out
    wait_until(lambda: old_image not in machine.builds(), "the server forgets the image")
    assert len(list((machine.server.data / "preloads").glob("*/engine.json"))) == 1
    assert run_in(machine, new, "answer").result == "42"


def test_a_build_can_be_added_beside_the_current_one(machine: Machine, second_build: Path) -> None:
    added(machine.cli("engines", "add", str(PYTHON)))
    added(machine.cli("engines", "add", "--keep-current", str(second_build)))
    machine.server.start()
    assert {build_id for build_id, build in machine.builds().items() if build["current"]} == {build_of(PYTHON)}
    table = machine.cli("engines", "list").out
    assert build_of(PYTHON)[:16] in table and build_of(second_build)[:16] in table


def break_json(package: Path, **fields: object) -> None:
    manifest = json.loads((package / "engine.json").read_text())
    (package / "engine.json").write_text(json.dumps({**manifest, **fields}))


def flip(file: Path) -> None:
    with open(file, "r+b") as opened:
        opened.seek(file.stat().st_size // 2)
        byte = opened.read(1)
        opened.seek(-1, 1)
        opened.write(bytes([byte[0] ^ 1]))


def link_away(file: Path) -> None:
    aside = file.with_name("aside")
    file.rename(aside)
    file.symlink_to(aside)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda package: flip(package / "boot.img"), "the files have the build id"),
        (lambda package: flip(package / "rootfs.img"), "the files have the build id"),
        (lambda package: (package / "engine.so").unlink(), "engine.so"),
        (lambda package: (package / "engine.json").write_text("{}"), "engine.json"),
        (lambda package: (package / "engine.json").write_text("x" * (5 << 20)), "larger than 4 MiB"),
        (lambda package: link_away(package / "engine.so"), "engine.so"),
        (lambda package: break_json(package, name="../evil"), "name must be"),
        (lambda package: break_json(package, name="a/b"), "name must be"),
        (lambda package: break_json(package, name=".hidden"), "name must be"),
        (lambda package: break_json(package, language=""), "language must be"),
        (lambda package: break_json(package, memoryPages=0), "impossible memory"),
        (lambda package: break_json(package, memoryPages=70000, maxMemoryPages=70000), "impossible memory"),
        (lambda package: break_json(package, globals=[]), "globals"),
        (lambda package: break_json(package, interrupts=[[4294967295, 4, 0, 1]]), "interrupt"),
        (lambda package: break_json(package, hotPages=[[1, 4294967295]]), "hot pages"),
        (lambda package: break_json(package, preload="x"), "preload"),
        (lambda package: break_json(package, buildId="../../../../etc/passwd"), "buildId"),
        (lambda package: os.truncate(package / "boot.img", 65536 * 3 + 1), "64 KiB"),
    ],
)
def test_damaged_packages_are_refused(machine: Machine, tmp_path: Path, damage: object, complaint: str) -> None:
    package = tmp_path / "package"
    shutil.copytree(PYTHON, package)
    assert callable(damage)
    damage(package)
    ended = machine.cli("engines", "add", str(package))
    assert ended.code == REFUSED and complaint in ended.err
    assert [path for path in machine.engines.iterdir() if path.name != ".lock"] == []


def test_code_for_another_abi_is_refused(machine: Machine, tmp_path: Path) -> None:
    """A shared object that is no engine: its build id is right, so only a trial tells."""
    package = tmp_path / "package"
    shutil.copytree(PYTHON, package)
    (package / "engine.so").write_bytes(b"\x7fELF not really")
    ended = machine.cli("engines", "add", str(package))
    wanted = ended.err.split("have the build id ")[1].split(",")[0]
    break_json(package, buildId=wanted)
    ended = machine.cli("engines", "add", str(package))
    assert ended.code == REFUSED and "does not run" in ended.err
    assert not (machine.engines / "python-3.13").exists()


def test_wrong_usage(machine: Machine) -> None:
    assert machine.cli("engines", "add").code == USAGE
    assert machine.cli("engines", "add", "/nonexistent").code == REFUSED
    assert machine.cli("--url", "http://127.0.0.1:1", "engines", "add", str(PYTHON)).code == USAGE
    assert machine.cli("--url", "http://127.0.0.1:1", "engines", "prune").code == USAGE
    added(machine.cli("engines", "add", str(PYTHON)))
    machine.server.start()
    elsewhere = Cli(machine.server.data, DORMOUSE_ENGINES=str(ENGINES))
    for command in (("engines", "prune"), ("engines", "add", str(PYTHON))):
        ended = elsewhere(*command)
        assert ended.code == REFUSED and "--engines" in ended.err
