# SPDX-License-Identifier: Apache-2.0
"""Processes are killed at random moments; what was acknowledged stands, and nothing is half done.

DORMOUSE_CRASH_RUNS sets the number of runs for each victim, DORMOUSE_CRASH_SEED the moments."""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from conftest import NewServer
from quick.client import ApiError, Context, Run, Sandbox, describe
from quick.processes import (
    group_of,
    is_running,
    members_of_group,
    wait_until,
    workers_of,
    zygotes_of,
)
from quick.server import Server

RUNS = int(os.environ.get("DORMOUSE_CRASH_RUNS", "60"))
SEED = int(os.environ.get("DORMOUSE_CRASH_SEED", "20241130"))

# One number in memory, in a workspace file, in an open file and in /tmp: they must never disagree.
SET_UP = """
import os
n = 0
held = open("held", "w+")
ballast = bytearray(400_000)
def write():
    held.seek(0); held.write(str(n)); held.truncate(); held.flush()
    for name in ("/workspace/n", "/tmp/n"):
        with open(name, "w") as f: f.write(str(n))
write()
"""
STEP = "n += 1; ballast[:] = bytes([n & 255]) * len(ballast); write(); n"
READ = "held.seek(0); n, int(held.read()), int(open('/workspace/n').read()), int(open('/tmp/n').read()), set(ballast) == {n & 255}"


def kill_quietly(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_after(seconds: float, pids: list[int]) -> None:
    time.sleep(seconds)
    for pid in pids:
        kill_quietly(pid)


def one_of(pids: list[int], chance: random.Random) -> list[int]:
    return [chance.choice(pids)] if pids else []


VICTIMS: dict[str, Callable[[Server, random.Random], list[int]]] = {
    "server": lambda server, chance: [server.pid],
    "zygote": lambda server, chance: zygotes_of(server.pid),
    "worker": lambda server, chance: one_of(workers_of(server.pid), chance),
}


class Ledger:
    """What the client knows of the counter: the last value it was told, and how far it may have got."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.possible = 0

    def told(self, value: int) -> None:
        assert self.acknowledged <= value <= self.possible, (
            self.acknowledged,
            value,
            self.possible,
        )
        self.acknowledged = self.possible = value


class Client:
    """Runs the counter's cell on a server that may die at any moment."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.ledger = Ledger()
        self.context = server.client.sandbox().context("python")
        self.context.run(SET_UP).ok()

    def step(self) -> Run | None:
        """One run; None when no answer came."""
        # Runs without an answer before this one may have counted, too.
        self.ledger.possible += 1
        try:
            run = self.context.run(STEP)
        except (httpx.TransportError, ApiError):
            return None
        if run.status == "ok" and run.state == "kept":
            self.ledger.told(int(run.result or "-1"))
            assert run.result == str(self.ledger.possible), describe(run)
        else:
            assert (run.status, run.state) == ("crashed", "rolled_back"), describe(run)
            # The answer itself says that nothing of this run is left.
            self.ledger.possible -= 1
        return run

    def revive(self) -> None:
        """Starts the server again if it is dead."""
        process = self.server.process
        assert process is not None
        if process.poll() is not None:
            self.server.forget()
            self.server.start()
            self.context = Context(
                Sandbox(self.server.client, self.context.sandbox.id), self.context.id, "python"
            )

    def check(self) -> None:
        run = self.context.run(READ)
        if run.status == "crashed":
            # A worker outlives its zygote by a moment, and a run that it takes along says so.
            assert run.state == "rolled_back", describe(run)
            run = self.context.run(READ)
        values = (run.ok().result or "").strip("()").split(", ")
        assert len(set(values[:4])) == 1 and values[4] == "True", (values, self.ledger.acknowledged)
        self.ledger.told(int(values[0]))
        assert self.context.sandbox.read("n") == values[0] == self.context.sandbox.read("held")
        assert self.context.get()["running"] is False


def files_of(data: Path) -> list[str]:
    return sorted(str(path.relative_to(data)) for path in data.rglob("*") if path.is_file())


@pytest.mark.timeout(900)
@pytest.mark.parametrize("victim", VICTIMS)
def test_acknowledged_runs_survive(new_server: NewServer, victim: str) -> None:
    chance = random.Random(f"{SEED} {victim}")
    server = new_server()
    client = Client(server)
    groups: set[int] = set()
    unanswered = 0
    for number in range(RUNS):
        groups |= {group_of(pid) for pid in zygotes_of(server.pid)}
        delay = chance.choice([0, chance.uniform(0, 0.004), chance.uniform(0, 0.03)])
        victims = VICTIMS[victim](server, chance)
        killer = threading.Thread(target=kill_after, args=(delay, victims))
        if number % 3 != 2:
            killer.start()
        unanswered += client.step() is None
        if killer.ident is not None:
            killer.join()
        if victim == "server" and number % 3 != 2:
            wait_until(
                lambda: server.process is not None and server.process.poll() is not None,
                "the server is dead",
            )
        client.revive()
        if number % 2:
            client.check()
    client.check()
    if victim == "worker":
        assert unanswered == 0, "a dead worker is an outcome of its run, not of the call"
    # Whatever was being written is gone or in use: a fresh start finds nothing to tidy up.
    server.restart()
    client.context = Context(
        Sandbox(server.client, client.context.sandbox.id), client.context.id, "python"
    )
    client.check()
    assert files_of(server.data / "tmp") == []
    kept = server.client.get("/v1/capabilities")["capabilities"]["limits"]["generationsKept"]
    assert len(files_of(server.data)) < 40 + 4 * kept, files_of(server.data)
    groups |= {group_of(pid) for pid in zygotes_of(server.pid)}
    server.stop()
    wait_until(
        lambda: not any(members_of_group(group) for group in groups), "no process is left behind"
    )


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_other_languages_survive_a_kill_of_the_server(new_server: NewServer, language: str) -> None:
    chance = random.Random(f"{SEED} {language}")
    server = new_server()
    sandbox = server.client.sandbox()
    context = sandbox.context(language)
    context.run("const fs = require('fs'); let n = 0;").ok()
    acknowledged = 0
    for _ in range(max(RUNS // 6, 5)):
        timer = threading.Timer(chance.uniform(0, 0.02), kill_quietly, [server.pid])
        timer.start()
        try:
            run = context.run("n++; fs.writeFileSync('n', String(n)); n")
            if run.status == "ok":
                acknowledged = int(run.result or "-1")
        except (httpx.TransportError, ApiError):
            pass
        timer.join()
        assert server.process is not None
        server.process.wait(30)
        server.forget()
        server.start()
        context = Context(Sandbox(server.client, sandbox.id), context.id, language)
        n = int(context.value("n") or "-1")
        assert n in (acknowledged, acknowledged + 1)
        if n > 0:
            assert context.value("fs.readFileSync('n', 'utf8')") == f"'{n}'"
        acknowledged = n


def test_many_contexts_at_once(new_server: NewServer) -> None:
    """Runs of several contexts share commits; a kill must not tear one apart from the others."""
    chance = random.Random(f"{SEED} many")
    server = new_server()
    sandboxes = [server.client.sandbox() for _ in range(4)]
    contexts = [sandbox.context("python") for sandbox in sandboxes]
    for context in contexts:
        context.run(SET_UP).ok()
    acknowledged = [0] * len(contexts)
    for _ in range(max(RUNS // 10, 3)):
        stop = threading.Event()

        def work(index: int, context: Context, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                try:
                    run = context.run(STEP)
                except (httpx.TransportError, ApiError):
                    return
                if run.status == "ok":
                    acknowledged[index] = int(run.result or "-1")

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(contexts)]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.02, 0.3))
        kill_quietly(server.pid)
        stop.set()
        for thread in threads:
            thread.join(60)
        assert server.process is not None
        server.process.wait(30)
        server.forget()
        server.start()
        contexts = [Context(Sandbox(server.client, c.sandbox.id), c.id, "python") for c in contexts]
        for index, context in enumerate(contexts):
            values = (context.value(READ) or "").strip("()").split(", ")
            assert len(set(values[:4])) == 1 and values[4] == "True", values
            assert int(values[0]) in (acknowledged[index], acknowledged[index] + 1)
            acknowledged[index] = int(values[0])


def test_a_worker_that_dies_takes_no_other_along(new_server: NewServer) -> None:
    server = new_server()
    first, second = (
        server.client.sandbox().context("python"),
        server.client.sandbox().context("python"),
    )
    first.run("x = 1").ok()
    second.run("x = 2").ok()
    results: list[Run] = []
    thread = threading.Thread(target=lambda: results.append(first.run("x = 9\nwhile True: pass")))
    thread.start()
    wait_until(lambda: first.get()["running"], "the run starts")
    busy = max(workers_of(server.pid), key=cpu_ticks)
    wait_until(
        lambda: cpu_ticks(busy) > 10 or cpu_ticks(max(workers_of(server.pid), key=cpu_ticks)) > 10,
        "a worker is busy",
    )
    kill_quietly(max(workers_of(server.pid), key=cpu_ticks))
    thread.join(30)
    assert (results[0].status, results[0].state) == ("crashed", "rolled_back")
    assert results[0].error is not None
    assert first.value("x") == "1" and second.value("x") == "2"


def cpu_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return -1
    return int(fields[11]) + int(fields[12])


def test_sigterm_lets_a_short_run_end(new_server: NewServer) -> None:
    server = new_server()
    context = server.client.sandbox().context("python")
    context.run("import time; x = 1").ok()
    results: list[Run] = []
    thread = threading.Thread(
        target=lambda: results.append(context.run("time.sleep(0.7); x = 2; x"))
    )
    thread.start()
    wait_until(lambda: context.get()["running"], "the run starts")
    assert server.stop() == 0
    thread.join(30)
    assert results and results[0].ok().result == "2"
    server.start()
    assert (
        Context(Sandbox(server.client, context.sandbox.id), context.id, "python").value("x") == "2"
    )


def test_sigterm_interrupts_a_long_run(new_server: NewServer) -> None:
    server = new_server()
    context = server.client.sandbox().context("python")
    context.run("x = 1").ok()
    results: list[Run] = []
    thread = threading.Thread(target=lambda: results.append(context.run("x = 2\nwhile True: pass")))
    thread.start()
    wait_until(lambda: context.get()["running"], "the run starts")
    assert server.stop() == 0
    thread.join(30)
    assert results and results[0].status == "interrupted"
    server.start()
    again = Context(Sandbox(server.client, context.sandbox.id), context.id, "python")
    assert again.value("x") == ("2" if results[0].state == "kept" else "1")


def test_a_second_server_on_the_same_data_is_refused(new_server: NewServer) -> None:
    server = new_server()
    with pytest.raises(AssertionError, match="the server ended"):
        Server(server.data).start()
    assert server.client.http.get("/healthz").status_code == 200
    assert is_running(server.pid)
