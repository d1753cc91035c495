# SPDX-License-Identifier: Apache-2.0
"""What /proc says about a server's processes."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Polls until the condition holds; an AssertionError that says what did not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


def status_of(pid: int) -> dict[str, str]:
    """The fields of /proc/PID/status; empty for a process that is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {
        name: value.strip()
        for name, _, value in (line.partition(":") for line in text.splitlines())
    }


def is_running(pid: int) -> bool:
    """Whether the process exists and has not ended (a zombie has)."""
    return status_of(pid).get("State", "Z")[0] not in "ZX"


def children_of(pid: int) -> list[int]:
    """Running processes whose parent is `pid`."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            status = status_of(int(entry))
            if status.get("PPid") == str(pid) and status.get("State", "Z")[0] != "Z":
                found.append(int(entry))
    return sorted(found)


def descendants_of(pid: int) -> list[int]:
    """All running processes below `pid`."""
    found: list[int] = []
    for child in children_of(pid):
        found += [child, *descendants_of(child)]
    return found


def command_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def zygotes_of(server_pid: int) -> list[int]:
    """The processes from which the server's workers are forked."""
    return [pid for pid in children_of(server_pid) if command_of(pid)[1:2] == ["zygote"]]


def workers_of(server_pid: int) -> list[int]:
    """The confined processes, spare ones included."""
    return [worker for zygote in zygotes_of(server_pid) for worker in children_of(zygote)]


def sockets_of(pid: int) -> int:
    """How many sockets a process holds open."""
    count = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            count += os.readlink(entry.path).startswith("socket:")
        except FileNotFoundError:
            pass
    return count


def group_of(pid: int) -> int:
    """The process group, 0 for a process that is gone."""
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def members_of_group(group: int) -> list[int]:
    """Running processes of a group."""
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return [pid for pid in pids if group > 0 and group_of(pid) == group and is_running(pid)]
