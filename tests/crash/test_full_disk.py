# SPDX-License-Identifier: Apache-2.0
"""A full disk: the run's answer says that its state was not saved, and the last saved state stands."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from quick.client import ApiError, Context, Sandbox
from quick.server import Server


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with 24 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=False
        ).returncode
        != 0
    ):
        pytest.skip("cannot mount a small file system here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_run_that_cannot_be_saved_says_so(small_disk: Path) -> None:
    server = Server(small_disk / "data").start()
    try:
        context = server.client.sandbox().context("python")
        context.run("import os; x = 1; open('f', 'w').write('1')").ok()
        filler = small_disk / "filler"
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
                    file.flush()
            except OSError:
                pass
        stale = False
        try:
            run = context.run("x = 2; big = os.urandom(8_000_000)")
            stale = run.context["stale"]
            assert stale or run.state == "rolled_back", run.raw
            if stale:
                assert run.context["staleReason"]
                snapshot = context.get()["snapshot"]
                assert snapshot["stale"] is True and snapshot["staleReason"]
        except ApiError as error:
            assert error.status in (500, 503, 507) and error.retryable
        assert server.client.http.get("/healthz").status_code == 200
        # Files that find no room cost the run its durability, not the state it made.
        before = context.run("x").result
        run = context.run("open('g', 'wb').write(os.urandom(3_000_000)); y = x")
        assert run.status == "ok" and run.state == "kept" and run.context["stale"], run.raw
        assert "No space left" in run.context["staleReason"]
        assert context.run("y").result == before
        os.unlink(filler)
        run = context.run("x").ok()
        assert run.result == ("2" if stale else "1") or run.result == "1"
        saved = run.result
        assert run.context["stale"] is False
        server.restart()
        again = Context(Sandbox(server.client, context.sandbox.id), context.id, "python")
        assert again.value("x, open('f').read()") == f"({saved}, '1')"
    finally:
        server.close()
