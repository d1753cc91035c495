# SPDX-License-Identifier: Apache-2.0
"""An engine made step by step, as docs/engines.md tells those who bring a language: Lua's is the example."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from quick.cli import OK, Cli
from quick.engines import needs
from quick.server import BUILD, ENGINES, WORKER

ROOT = Path(__file__).resolve().parents[2]
LUA = ROOT / "guest" / "lua"
CACHE = Path(os.environ.get("DORMOUSE_CACHE", Path.home() / ".cache" / "dormouse"))


def guest() -> Path:
    """Where scripts/engines keeps what guest/lua/build makes of this checkout."""
    script = f". {ROOT}/scripts/lib/common.sh && hash_of guest/lua scripts/lib/debian_trixie.sh"
    key = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    return CACHE / "guests" / f"lua-{key}"


GUEST = guest()


def step(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


@needs("lua")
@pytest.mark.skipif(
    not (GUEST / ".complete").exists() or shutil.which("clang-19") is None,
    reason="the Lua guest is not built here: scripts/engines lua",
)
def test_the_documented_steps_make_an_engine(tmp_path: Path) -> None:
    code, module, package = tmp_path / "c", tmp_path / "engine.so", tmp_path / "package"
    engines = tmp_path / "engines"
    installed = json.loads((ENGINES / "lua-5.4" / "current" / "engine.json").read_text())

    step(BUILD / "dormouse-aot", GUEST / "engine.wasm", "--output", code, "--adapter", LUA / "adapter.c")
    step("bash", ROOT / "scripts/lib/compile_engine.sh", code, module)
    warm_up = [word for cell in sorted((LUA / "warm-up/lua").iterdir()) for word in ("--warm-up", cell)]
    boot = [WORKER, "engines", "boot", "--module", module, "--memory", code / "memory.img"]
    boot += ["--rootfs", GUEST / "rootfs", "--name", "lua-5.4", "--language", "lua"]
    step(*boot, "--version", installed["version"], "--output", package, *warm_up)

    engines.mkdir()
    cli = Cli(tmp_path / "data", DORMOUSE_ENGINES=str(engines))
    ended = cli("engines", "add", str(package))
    assert ended.code == OK, ended.err
    assert cli("run", "--language", "lua", "-c", "6 * 7").out == "42\n"
    assert json.loads((package / "engine.json").read_text())["buildId"] == installed["buildId"]
