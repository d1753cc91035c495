# SPDX-License-Identifier: Apache-2.0
"""A server process of its own for tests."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from quick.client import Client
from quick.processes import descendants_of, is_running, wait_until

BUILD = Path(os.environ.get("DORMOUSE_BUILD", Path(__file__).resolve().parents[2] / "build"))
DORMOUSE = BUILD / "dormouse"
# What runs guests: another build, where DORMOUSE has a sanitizer.
WORKER = Path(os.environ.get("DORMOUSE_WORKER_EXECUTABLE", DORMOUSE))
ENGINES = Path(os.environ.get("DORMOUSE_ENGINES", BUILD / "engines"))

STOP_PATIENCE_S = 30.0

# What a server may take while it handles data that has no bound. Sanitizers keep freed memory for a while.
MEMORY_KIB = 1_200_000 if os.environ.get("DORMOUSE_SANITIZED") else 400_000

# A machine that runs tests may keep a guest waiting for longer than the usual grace.
CONFIG = "[limits]\nstop_grace_ms = 2000\n"


class Server:
    """`dormouse serve` on a data directory. One server at a time; it may be started again."""

    def __init__(
        self, data: Path, config: str = CONFIG, prefix: Sequence[str] = (), engines: Path = ENGINES
    ) -> None:
        """`prefix` is a command that runs the server's command."""
        self.data = data
        self.engines = engines
        self.config = config
        self.prefix = prefix
        self.process: subprocess.Popen[bytes] | None = None
        self.client: Client
        self.url = ""
        self.key = ""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def log(self) -> str:
        return (self.data.parent / f"{self.data.name}.log").read_text(errors="replace")

    def start(self) -> "Server":
        assert self.process is None
        command = [*self.prefix, str(DORMOUSE), "serve", "--data", str(self.data), "--engines", str(self.engines)]
        command += ["--listen", "127.0.0.1:0"]
        if self.config:
            file = self.data.parent / f"{self.data.name}.toml"
            file.write_text(self.config)
            command += ["--config", str(file)]
        with open(self.data.parent / f"{self.data.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(self._is_up, "the server starts")
        self.key = (self.data / "admin.key").read_text().splitlines()[0]
        self.client = Client(self.url, self.key)
        return self

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the server ended: {self.log[-4000:]}"
        try:
            record = json.loads((self.data / "server.json").read_text())
        except FileNotFoundError:
            return False
        # A record of a killed predecessor may still be there.
        self.url = record["url"]
        return bool(record["pid"] == self.process.pid)

    def stop(self) -> int:
        """SIGTERM; returns the exit status."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, as a power cut for the process would do."""
        self._end(signal.SIGKILL)

    def forget(self) -> None:
        """Called when the process is known to have ended by itself."""
        assert self.process is not None and self.process.poll() is not None
        self.process = None
        self.client.close()

    def restart(self) -> None:
        self.kill()
        self.start()

    def _end(self, number: signal.Signals) -> int:
        assert self.process is not None
        below = descendants_of(self.process.pid)
        self.process.send_signal(number)
        try:
            status = self.process.wait(STOP_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(STOP_PATIENCE_S)
            raise
        finally:
            self.process = None
            self.client.close()
        wait_until(lambda: not any(map(is_running, below)), "the server's processes end with it")
        return status

    def close(self) -> None:
        """Ends the server if it still runs."""
        if self.process is not None:
            self.stop()
