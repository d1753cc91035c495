# SPDX-License-Identifier: Apache-2.0
"""The JavaScript guest's own tests: its WebAssembly under node, without the server."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "guest/javascript/test"


@pytest.fixture(scope="module")
def guest() -> Path:
    """What scripts/engines built of the guest as it is now."""
    script = """. scripts/lib/common.sh
    echo "$DORMOUSE_CACHE/guests/javascript-$(hash_of guest/javascript scripts/lib/debian_trixie.sh)" """
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    directory = Path(done.stdout.strip())
    assert (directory / ".complete").exists(), f"{directory} is missing: run scripts/engines"
    return directory


@pytest.mark.parametrize("file", sorted(path.name for path in TESTS.glob("*.test.mjs")))
def test_under_node(guest: Path, file: str) -> None:
    done = subprocess.run(
        [TESTS / "run", file],
        env={**os.environ, "ENGINE_OUT": str(guest)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
