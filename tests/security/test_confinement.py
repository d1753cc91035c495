# SPDX-License-Identifier: Apache-2.0
"""What a worker may do, as the kernel tells it."""

import os
import stat
from pathlib import Path

import pytest

from quick.client import Client, Context
from quick.processes import status_of, wait_until, workers_of, zygotes_of
from quick.server import ENGINES, Server

ROOT = os.geteuid() == 0


@pytest.fixture
def worker(server: Server, python: Context) -> int:
    """A worker that holds a context, and one that waits as a spare: any will do, all are confined alike."""
    before = set(workers_of(server.pid))
    python.run("x = open('f', 'w+'); x.write('1'); x.flush(); print(1)").ok()
    wait_until(lambda: bool(workers_of(server.pid)), "there are workers")
    after = workers_of(server.pid)
    # The run took a spare: it was there before, or has been made since.
    return next((pid for pid in after if pid in before), after[0])


def confined(server: Server) -> list[int]:
    """The workers that have finished their preparation."""
    return [pid for pid in workers_of(server.pid) if status_of(pid).get("Seccomp") == "2"]


def test_every_worker_is_filtered_and_without_privileges(server: Server, worker: int) -> None:
    wait_until(
        lambda: set(confined(server)) == set(workers_of(server.pid)), "all workers are confined"
    )
    for pid in confined(server):
        status = status_of(pid)
        if not status:
            continue
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
        for name in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
            assert int(status[name], 16) == 0, name
        if ROOT:
            assert "0" not in status["Uid"].split() and "0" not in status["Gid"].split()
            assert status["Groups"].split() == [] or "0" not in status["Groups"].split()


def test_it_shares_no_network_with_the_host(worker: int) -> None:
    if not ROOT:
        pytest.skip("other users may have no namespaces")
    for name in ("net", "ipc", "uts", "mnt"):
        assert os.readlink(f"/proc/{worker}/ns/{name}") != os.readlink(f"/proc/self/ns/{name}"), (
            name
        )
    interfaces = Path(f"/proc/{worker}/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in interfaces] in (["lo"], [])


def test_its_descriptors_are_its_channel_and_its_engine(server: Server, worker: int) -> None:
    sockets = 0
    for entry in os.listdir(f"/proc/{worker}/fd"):
        try:
            target = os.readlink(f"/proc/{worker}/fd/{entry}")
            info = Path(f"/proc/{worker}/fdinfo/{entry}").read_text()
        except FileNotFoundError:
            continue
        assert str(server.data) not in target, target
        if target.startswith("socket:"):
            sockets += 1
            inode = target.removeprefix("socket:[").removesuffix("]")
            assert (
                inode not in Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
            )
            continue
        if (
            target.startswith("anon_inode:")
            or target == "/dev/null"
            or "pagemap" in target
            or target.startswith("/memfd:")
        ):
            continue
        # Files of the engine, for reading only.
        assert Path(target).resolve().is_relative_to(ENGINES.resolve()) or target.endswith(
            "boot.img"
        ), target
        flags = next(
            int(line.split()[1], 8) for line in info.splitlines() if line.startswith("flags:")
        )
        assert flags & os.O_ACCMODE == os.O_RDONLY, target
    assert sockets == 1


def test_it_has_no_environment_and_no_arguments_of_the_server(server: Server, worker: int) -> None:
    environment = Path(f"/proc/{worker}/environ").read_bytes() if ROOT else b""
    assert server.key.encode() not in environment
    arguments = Path(f"/proc/{worker}/cmdline").read_bytes()
    assert server.key.encode() not in arguments


def test_its_limits_are_set(worker: int) -> None:
    limits = {
        line[:26].strip(): line[26:47].strip()
        for line in Path(f"/proc/{worker}/limits").read_text().splitlines()
    }
    assert limits["Max core file size"] == "0"
    assert int(limits["Max open files"]) <= 256


def test_no_other_user_can_look_into_it(worker: int) -> None:
    """An undumpable process belongs to root, whatever user it runs as."""
    assert os.stat(f"/proc/{worker}/mem").st_uid == 0 or not ROOT


def test_data_and_keys_are_private(server: Server) -> None:
    for path in [server.data, *server.data.rglob("*")]:
        if path.is_socket():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        parents_closed = any(
            stat.S_IMODE(parent.stat().st_mode) & 0o077 == 0 for parent in [server.data]
        )
        assert mode & 0o077 == 0 or parents_closed, (path, oct(mode))


def test_the_zygote_holds_nothing_of_the_server(server: Server) -> None:
    for zygote in zygotes_of(server.pid):
        for entry in os.listdir(f"/proc/{zygote}/fd"):
            try:
                target = os.readlink(f"/proc/{zygote}/fd/{entry}")
            except FileNotFoundError:
                continue
            assert str(server.data) not in target or target.endswith(".log"), target
        assert Path(f"/proc/{zygote}/environ").read_bytes().find(server.key.encode()) == -1


def test_the_guest_sees_no_host(client: Client, python: Context, javascript: Context) -> None:
    """Files of the host are not there, and neither is its environment."""
    os.environ["DORMOUSE_TEST_SECRET"] = "s3cret"
    for path in (
        "/etc/passwd",
        "/etc/hostname",
        "/proc/self/status",
        "/proc/1/environ",
        "/root",
        "/home",
        "/var",
        "/sys",
        "/bin/sh",
    ):
        assert python.value(f"import os; os.path.exists({path!r})") == "False", path
        assert javascript.value(f"require('fs').existsSync({path!r})") == "false", path
    assert set((python.value("' '.join(sorted(os.listdir('/')))") or "").strip("'").split()) <= {
        "dev",
        "tmp",
        "workspace",
        "usr",
        "lib",
    }
    environment = python.value("dict(os.environ)") or ""
    assert "s3cret" not in environment and client.key not in environment
    assert client.key not in (javascript.value("JSON.stringify(process.env)") or "")


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "import socket; socket.create_connection(('1.1.1.1', 80), 1)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1')",
        "import os; os.kill(1, 9)",
        "import ctypes; ctypes.CDLL(None)",
        "import os; os.chroot('/')",
        "import os; os.mount",
        "import os; os.setuid(0)",
        "import os; os.mknod('x')",
    ],
)
def test_system_interfaces_are_not_there(python: Context, code: str) -> None:
    assert python.run(code).status == "error"
    assert python.value("1 + 1") == "2"


def test_a_guest_that_breaks_its_own_memory_breaks_only_its_run(python: Context) -> None:
    """Wild reads and writes stay inside the linear memory: at worst the run crashes."""
    neighbour = python.sandbox.context("python")
    neighbour.run("x = 'safe'").ok()
    python.run("keep = 1").ok()
    code = "import types\nf = (lambda: 0).__code__\ng = f.replace(co_code=bytes([116, 255] * 200 + [83, 0]), co_consts=())\nexec(g)"
    run = python.run(code, timeoutMs=5000)
    assert run.status in ("ok", "error", "crashed", "timeout", "oom"), run.raw
    assert python.value("keep") == "1"
    assert neighbour.value("x") == "'safe'"
