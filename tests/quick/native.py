# SPDX-License-Identifier: Apache-2.0
"""The same cells under the machine's own Python, to compare with."""

import json
import subprocess
import sys
from pathlib import Path

# Runs before the steps on both sides: error numbers differ between systems, their names do not.
PRELUDE = "import errno\ndef name(error): return errno.errorcode[error.errno]"


def native(steps: list[str], directory: Path) -> list[str]:
    """What each step prints; one namespace for all, in an empty directory."""
    driver = (
        "import sys, io, json, contextlib\nscope = {'__name__': '__main__'}\nprinted = []\nexec(sys.argv[2], scope)\n"
        "for step in json.loads(sys.argv[1]):\n    with contextlib.redirect_stdout(io.StringIO()) as out: exec(step, scope)\n"
        "    printed.append(out.getvalue())\nprint(json.dumps(printed))"
    )
    command = [sys.executable, "-c", driver, json.dumps(steps), PRELUDE]
    ended = subprocess.run(command, cwd=directory, capture_output=True, timeout=60, check=True)
    answer: list[str] = json.loads(ended.stdout)
    return answer
