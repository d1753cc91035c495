# SPDX-License-Identifier: Apache-2.0
"""What could not be saved or written: the command says so, says where, and does not end with success."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from quick.cli import FAILED, NOT_SAVED, OK, REFUSED, Cli
from quick.server import Server

BIG = "x = 2; import os; big = os.urandom(8_000_000); open('f', 'w').write('2')"


class Disk:
    """A file system of its own with 24 MiB, which the tests fill."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.filler = root / "filler"

    def fill(self, room: int = 0) -> None:
        with open(self.filler, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 12))
            except OSError:
                pass
        if room:
            os.truncate(self.filler, self.filler.stat().st_size - room)

    def free(self) -> None:
        self.filler.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    root = tmp_path / "disk"
    root.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(root)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system here")
    try:
        yield Disk(root)
    finally:
        subprocess.run(["umount", "-l", str(root)], check=True)


def test_a_run_whose_state_is_lost_is_no_success(disk: Disk) -> None:
    cli = Cli(disk.root / "data")
    assert cli("run", "-s", "box", "-c", "x = 1; open('f', 'w').write('1')").code == OK
    disk.fill(room=4 << 20)
    ended = cli("run", "-s", "box", "-c", f"{BIG}; print('ran')")
    assert (ended.code, ended.out) == (NOT_SAVED, "ran\n")
    assert "could not be saved: " in ended.err and "No space left on device" in ended.err
    assert "they are lost" in ended.err
    assert f"mounted at {disk.root}, which has " in ended.err and "of 24.0 MiB left" in ended.err
    # The exit status that the code asked for says more.
    assert cli("run", "-s", "box", "-c", f"{BIG}; raise SystemExit(9)").code == 9
    assert cli("run", "-s", "box", "-c", f"{BIG}; 1/0").code == FAILED
    ended = cli("--json", "run", "-s", "box", "-c", BIG)
    assert ended.code == NOT_SAVED and ended.json["run"]["context"]["stale"] is True
    disk.free()
    # Before it runs, the next one hears that earlier ones are missing.
    ended = cli("run", "-s", "box", "-c", "x, open('f').read()")
    assert ended.out == "(1, '1')\n"


def test_earlier_runs_that_are_lost_are_no_success_either(disk: Disk) -> None:
    cli = Cli(disk.root / "data")
    assert cli("run", "-s", "box", "-c", "x = 1").code == OK
    disk.fill(room=4 << 20)
    assert cli("run", "-s", "box", "-c", BIG).code == NOT_SAVED
    disk.free()
    ended = cli("run", "-s", "box", "-c", "x")
    assert (ended.code, ended.out) == (NOT_SAVED, "1\n")
    assert "earlier runs of the context are gone" in ended.err
    assert cli("run", "-s", "box", "-c", "x").code == OK


def test_a_disk_that_is_full_from_the_start(disk: Disk) -> None:
    cli = Cli(disk.root / "data")
    assert cli("run", "-s", "box", "-c", "x = 1").code == OK
    disk.fill()
    for command in (
        ("run", "-s", "box", "-c", "x = 2"),
        ("sandboxes", "create", "another"),
        ("files", "write", "f", __file__),
    ):
        ended = cli(*command)
        assert ended.code == REFUSED, (command, ended)
        assert "nothing of this was saved" in ended.err and "No space left" in ended.err
        assert f"the data directory is {disk.root / 'data'}" in ended.err
        assert f"mounted at {disk.root}, which has 0 B of 24.0 MiB left" in ended.err
    disk.free()
    assert cli("run", "-s", "box", "-c", "x").out == "1\n"


def test_a_data_directory_that_cannot_be_made(disk: Disk) -> None:
    disk.fill()
    ended = Cli(disk.root / "data")("run", "-s", "box", "-c", "1")
    assert ended.code == REFUSED and "No space left" in ended.err
    assert f"mounted at {disk.root}, which has 0 B" in ended.err


def test_a_session_says_what_it_loses(disk: Disk) -> None:
    cli = Cli(disk.root / "data")
    assert cli("run", "-s", "box", "-c", "x = 1").code == OK
    disk.fill(room=4 << 20)
    ended = cli("repl", stdin=f"{BIG}\nx\n")
    assert ended.code == NOT_SAVED
    assert "unless a later run of this session can save them" in ended.err
    assert ended.err.endswith("what could not be saved is lost now\n")
    # It is no loss when a later run saves it all.
    fill = "for i in range(0, 8 << 20, 4096): big[i:i+4096] = {}(4096)\n\n"
    script = "x = 3; import os; big = bytearray(8 << 20)\n" + fill.format("os.urandom") + fill.format("bytes")
    ended = cli("repl", stdin=script + "x\n")
    assert (ended.code, ended.out[-2:]) == (OK, "3\n"), ended
    assert "unless a later run" in ended.err
    assert "is lost now" not in ended.err


def test_a_server_holds_what_it_could_not_save(disk: Disk) -> None:
    server = Server(disk.root / "data").start()
    try:
        cli = Cli(server.data)
        assert cli("run", "-s", "box", "-c", "x = 1").code == OK
        disk.fill(room=4 << 20)
        ended = cli("run", "-s", "box", "-c", BIG)
        assert ended.code == NOT_SAVED
        assert "the server holds them, and saves them with the next run if it can" in ended.err
        disk.free()
        ended = cli("run", "-s", "box", "-c", "x")
        assert (ended.code, ended.out, ended.err) == (OK, "2\n", "")
    finally:
        server.close()


def test_a_workspace_run_that_cannot_be_saved_fails(disk: Disk, tmp_path: Path) -> None:
    cli = Cli(disk.root / "data")
    assert cli("run", "-s", "box", "-c", "1").code == OK
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("import os\nbig = os.urandom(8_000_000)\nopen('out', 'w').write('1')\n")
    disk.fill(room=4 << 20)
    ended = cli("workspace-runs", "run", str(project), "-a", "out", "--", "python", "a.py")
    assert ended.code == REFUSED, ended
    assert "what the program did could not be saved: " in ended.err and "No space left" in ended.err
    disk.free()
    assert cli("workspace-runs", "run", str(project), "-a", "out", "--", "python", "a.py").code == OK


def test_results_that_cannot_be_written(cli: Cli, box: str, tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        for arguments in (
            ("run", "-s", box, "-c", "40 + 2"),
            ("--json", "run", "-s", box, "-c", "40 + 2"),
            ("sandboxes", "list"),
        ):
            ended = subprocess.run(
                cli.command(*arguments),
                stdout=full,
                stderr=subprocess.PIPE,
                env=cli.environment,
                check=False,
                timeout=120,
            )
            assert ended.returncode == REFUSED, arguments
            assert b"writing standard output: No space left on device" in ended.stderr
    (tmp_path / "a").write_text("content")
    assert cli("files", "-s", box, "put", "a", str(tmp_path / "a")).code == OK
    refused = cli("files", "-s", box, "read", "a", "-o", "/dev/full")
    assert refused.code == REFUSED and "writing /dev/full: No space left" in refused.err
    # Whoever closes the pipe has read enough.
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        ended = subprocess.run(
            cli.command("sandboxes", "list"), stdout=closed, env=cli.environment, check=False
        )
    assert ended.returncode == OK
