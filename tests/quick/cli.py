# SPDX-License-Identifier: Apache-2.0
"""Runs the dormouse command."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quick.server import DORMOUSE, ENGINES

WORKERS = "DORMOUSE_WORKER_EXECUTABLE"
# 2 means wrong usage, 3 that the server refused or failed, 4 that the code's success was not saved.
OK, FAILED, USAGE, REFUSED, NOT_SAVED = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli:
    """The command on one data directory: through its server if one runs, else embedded."""

    def __init__(self, data: Path | None, **environment: str) -> None:
        self.data = data
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "DORMOUSE_ENGINES": str(ENGINES),
            # What scripts/sanitize sets for workers and the sanitizers.
            **{n: v for n, v in os.environ.items() if n.endswith("SAN_OPTIONS") or n == WORKERS},
            **environment,
        }

    def command(self, *arguments: str) -> list[str]:
        data = [] if self.data is None else ["--data", str(self.data)]
        return [str(DORMOUSE), *data, *arguments]

    def __call__(self, *arguments: str, stdin: str | bytes = b"") -> Ended:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        ended = subprocess.run(
            self.command(*arguments),
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
            env=self.environment,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
