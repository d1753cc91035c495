# SPDX-License-Identifier: Apache-2.0
"""The same cells under the machine's own Python, to compare with."""

import json
import subprocess
import sys
from pathlib import Path


def native(steps: list[str], directory: Path) -> list[str]:
    """What each step prints; one namespace for all, in an empty directory."""
    driver = (
        "import sys, io, json, contextlib\nscope = {'__name__': '__main__'}\nprinted = []\n"
        "for step in json.loads(sys.argv[1]):\n    with contextlib.redirect_stdout(io.StringIO()) as out: exec(step, scope)\n"
        "    printed.append(out.getvalue())\nprint(json.dumps(printed))"
    )
    command = [sys.executable, "-c", driver, json.dumps(steps)]
    ended = subprocess.run(command, cwd=directory, capture_output=True, timeout=60, check=True)
    answer: list[str] = json.loads(ended.stdout)
    return answer
