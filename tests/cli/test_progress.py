# SPDX-License-Identifier: Apache-2.0
"""Progress of long transfers: on a terminal only, and gone when they end."""

import os
import re
from pathlib import Path

import pytest

from quick.cli import OK, Cli
from quick.terminal import Seen, on_a_terminal

SIZE = 6 << 20
ERASED = "\r\x1b[K"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    file = tmp_path / "large.bin"
    file.write_bytes(os.urandom(SIZE))
    return file


def check_shown(seen: Seen, label: str) -> None:
    assert seen.code == OK, seen
    assert seen.screen.startswith("\r") and label in seen.screen
    assert "100%" in seen.screen and "6.0 MiB of 6.0 MiB" in seen.screen and "B/s" in seen.screen
    assert "[####" in seen.screen and seen.screen.endswith(ERASED)
    # One line, drawn again and again.
    assert "\n" not in seen.screen
    assert all(len(line) < 130 for line in seen.screen.split("\r"))


def test_transfers_of_files(cli: Cli, box: str, large: Path, tmp_path: Path) -> None:
    put = on_a_terminal(cli.command("files", "-s", box, "put", "large.bin", str(large)), cli.environment)
    check_shown(put, "uploading")
    out = tmp_path / "out"
    got = on_a_terminal(
        cli.command("files", "-s", box, "read", "large.bin", "-o", str(out)), cli.environment
    )
    check_shown(got, "downloading")
    assert out.read_bytes() == large.read_bytes()
    # Into a pipe as well.
    got = on_a_terminal(cli.command("files", "-s", box, "read", "large.bin"), cli.environment)
    check_shown(got, "downloading")
    assert got.out == large.read_bytes()


def test_downloads_of_artifacts(cli: Cli, box: str, large: Path, tmp_path: Path) -> None:
    cli("files", "-s", box, "put", "large.bin", str(large))
    artifact = cli("artifacts", "-s", box, "create", "large.bin").out.strip()
    out = tmp_path / "out"
    got = on_a_terminal(
        cli.command("artifacts", "download", artifact, "-o", str(out)), cli.environment
    )
    check_shown(got, "downloading")
    assert out.read_bytes() == large.read_bytes()


def test_uploads_of_workspace_runs(cli: Cli, large: Path) -> None:
    command = cli.command("workspace-runs", "run", str(large.parent), "--", "python", "-c", "print(7)")
    seen = on_a_terminal(command, cli.environment)
    assert (seen.code, seen.out) == (OK, b"7\n")
    assert re.search(r"packing  [0-9.]+ [KM]iB  [0-9.]+ [KMG]iB/s", seen.screen)
    assert "uploading  [####" in seen.screen and "100%" in seen.screen
    assert seen.screen.endswith(ERASED)


def test_input_of_unknown_length_has_no_percentage(cli: Cli, box: str, large: Path) -> None:
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        with os.fdopen(write_end, "wb") as sink:
            sink.write(large.read_bytes())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as source:
        seen = on_a_terminal(
            cli.command("files", "-s", box, "put", "large.bin"), cli.environment, stdin=source
        )
    os.waitpid(pid, 0)
    assert seen.code == OK and "%" not in seen.screen
    assert re.search(r"uploading  [0-9.]+ MiB  [0-9.]+ [KMG]iB/s", seen.screen)
    assert seen.screen.endswith(ERASED)


def test_colours_and_width_are_the_terminals(cli: Cli, box: str, large: Path) -> None:
    command = cli.command("files", "-s", box, "put", "large.bin", str(large))
    plain = on_a_terminal(command, {**cli.environment, "NO_COLOR": "1"}, columns=30)
    assert plain.code == OK and "uploading" in plain.screen
    assert "\x1b" not in plain.screen.replace("\x1b[K", "") and "[#" not in plain.screen
    assert all(len(line.replace("\x1b[K", "")) < 30 for line in plain.screen.split("\r"))
    assert on_a_terminal(command, {**cli.environment, "TERM": "dumb"}).screen == ""


def test_nothing_of_it_elsewhere(cli: Cli, box: str, large: Path, tmp_path: Path) -> None:
    put = ("files", "-s", box, "put", "large.bin", str(large))
    ended = cli(*put)
    assert (ended.code, ended.out, ended.err) == (OK, "", "")
    assert on_a_terminal(cli.command("--json", *put), cli.environment).screen == ""
    ended = cli("files", "-s", box, "read", "large.bin", "-o", str(tmp_path / "out"))
    assert (ended.code, ended.out, ended.err) == (OK, "", "")
    # What is short needs no progress, and content on the terminal would be torn by it.
    (tmp_path / "small").write_bytes(b"x" * 1000)
    small = cli.command("files", "-s", box, "put", "small", str(tmp_path / "small"))
    assert on_a_terminal(small, cli.environment).screen == ""
    (tmp_path / "text").write_text("line\n" * 300_000)
    cli("files", "-s", box, "put", "text", str(tmp_path / "text"))
    shown = on_a_terminal(
        cli.command("files", "-s", box, "read", "text"), cli.environment, output_too=True
    )
    assert shown.screen == "line\r\n" * 300_000
