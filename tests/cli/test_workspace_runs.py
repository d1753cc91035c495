# SPDX-License-Identifier: Apache-2.0
"""`dormouse workspace-runs`, through a server and without one."""

import json
import tarfile
from pathlib import Path

import pytest

from quick.cli import FAILED, OK, REFUSED, USAGE, Cli


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "lib").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("x")
    (folder / "lib" / "helper.py").write_text("y = 7\n")
    (folder / "main.py").write_text(
        "import os, sys\nfrom lib import helper\n"
        "print(sys.argv[1:], helper.y, sorted(os.listdir()))\nprint('warn', file=sys.stderr)\n"
        "open('out.txt', 'w').write('made')\nsys.exit(int(sys.argv[-1]))\n"
    )
    (folder / "link").symlink_to("main.py")
    return folder


def test_a_directory_is_packed_run_and_followed(cli: Cli, project: Path) -> None:
    ended = cli(
        "workspace-runs", "run", str(project), "-a", "out.txt", "-a", "none",
        "--", "python", "main.py", "--flag", "b c", "it's", "4",
    )  # fmt: skip
    assert ended.code == 4
    assert ended.out == (
        "['--flag', 'b c', \"it's\", '4'] 7 ['lib', 'link', 'main.py']\n"
    )
    assert "warn\n" in ended.err and "[artifact art_" in ended.err
    assert "[not collected: none: " in ended.err


def test_one_word_is_a_line(cli: Cli, project: Path) -> None:
    line = "cd lib && python -c 'import helper; print(helper.y)' && node -e 'console.log(1)'"
    ended = cli("workspace-runs", "run", str(project), "--", line)
    assert (ended.code, ended.out, ended.err) == (OK, "7\n1\n", "")


def test_an_archive_is_taken_as_it_is(cli: Cli, project: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(project / "lib" / "helper.py", "helper.py")
    command = ["python", "-c", "import os; print(os.listdir())"]
    ended = cli("workspace-runs", "run", str(archive), "--", *command)
    assert (ended.code, ended.out) == (OK, "['helper.py']\n")
    archive.write_bytes(b"nothing")
    ended = cli("workspace-runs", "run", str(archive), "--", *command)
    assert ended.code == FAILED and "(archive_invalid)" in ended.err


def test_json_lists_and_single_runs(cli: Cli, project: Path) -> None:
    ended = cli("--json", "workspace-runs", "run", str(project), "--timeout", "1s", "--", "python", "-c", "while True: pass")
    run = json.loads(ended.out)["workspaceRun"]
    assert ended.code == FAILED
    assert (run["status"], run["failureReason"]) == ("failed", "timeout")
    listed = json.loads(cli("--json", "workspace-runs", "list").out)["data"]
    assert run["id"] in [one["id"] for one in listed]
    assert run["id"] in cli("workspace-runs", "list").out
    assert json.loads(cli("--json", "workspace-runs", "get", run["id"]).out)["workspaceRun"] == run
    assert "failed" in cli("workspace-runs", "cancel", run["id"]).out


def test_refusals(cli: Cli, project: Path) -> None:
    ended = cli("workspace-runs", "run", str(project), "--", "ls")
    assert ended.code == REFUSED and "there is no program `ls`" in ended.err
    assert cli("workspace-runs", "get", "wsr_none").code == REFUSED
    assert cli("workspace-runs", "run", str(project / "none"), "--", "python", "a").code == REFUSED
    assert cli("workspace-runs", "run", str(project)).code == USAGE
