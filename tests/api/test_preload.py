# SPDX-License-Identifier: Apache-2.0
"""Bindings that preload code: the image of their contexts has run it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import NewServer
from quick.client import Run
from quick.server import CONFIG, DORMOUSE, ENGINES, Server

HELPERS = r"""
import sys, types
import decimal
import random
helpers = types.ModuleType("helpers")
exec("def double(x):\n    return 2 * x\n", helpers.__dict__)
sys.modules["helpers"] = helpers
table = {n: n * n for n in range(1000)}
open("/tmp/made", "w").close()
"""


def config_of(preload: str, language: str = "python", engine: str = "python-3.13") -> str:
    name = language.upper()
    return (
        CONFIG
        + f'[bindings.{name}]\nengine = "{engine}"\n'
        + f'[bindings.{name}_PLUS]\nengine = "{engine}"\ndefault = false\npreload = {json.dumps(preload)}\n'
    )


def images_of(server: Server) -> set[str]:
    return {path.parent.name for path in (server.data / "preloads").glob("*/engine.json")}


def test_contexts_begin_with_what_was_preloaded(new_server: NewServer) -> None:
    server = new_server(config_of(HELPERS))
    client = server.client
    bindings = {binding["name"]: binding for binding in client.get("/v1/bindings")["data"]}
    plain, plus = bindings["PYTHON"], bindings["PYTHON_PLUS"]
    assert plus["preloaded"] and not plain["preloaded"]
    assert plus["engine"] == plain["engine"] and plus["buildId"] != plain["buildId"]
    sandbox = client.sandbox()
    context = sandbox.context(binding="PYTHON_PLUS", language="python")
    code = "import helpers, os\n(helpers.double(21), table[30], os.listdir('/tmp'), 'decimal' in globals())"
    first = context.run(code).ok()
    assert first.result == "(42, 900, [], True)"
    assert first.raw["executionCount"] == 1
    context.run("table.clear(); mine = 1").ok()
    context.evict()
    assert context.value("(len(table), mine, helpers.double(1))") == "(0, 1, 2)"
    assert context.get()["snapshot"]["engineBuild"] == plus["buildId"]
    # A context of its own, and one without.
    assert sandbox.context(binding="PYTHON_PLUS").value("len(table)") == "1000"
    assert sandbox.run("table", language="python").error_name == "NameError"
    once = client.post("/v1/runs", {"code": "table[3]", "binding": "PYTHON_PLUS"})["run"]
    assert Run(once).result == "9"
    # Nothing that was drawn at the preload repeats.
    draws = {sandbox.context(binding="PYTHON_PLUS").value("random.random()") for _ in range(3)}
    assert len(draws) == 3


def test_an_image_is_made_once(new_server: NewServer) -> None:
    server = new_server(config_of("answer = 42"))
    images = images_of(server)
    assert len(images) == 1 and server.log.count("making its image of") == 1
    context = server.client.sandbox().context(binding="PYTHON_PLUS")
    assert context.value("answer") == "42"
    server.restart()
    assert server.log.count("making its image of") == 1 and images_of(server) == images
    # Other code is another image; the context stays with its own.
    server.stop()
    server.config = config_of("answer = 43")
    server.start()
    assert images_of(server) > images
    path = context.path
    run = server.client.post(f"{context.sandbox.path}/code/runs", {"code": "answer", "contextId": context.id})["run"]
    assert Run(run).result == "42" and not run["context"]["stateLost"]
    assert server.client.get(path)["context"]["snapshot"]
    fresh = server.client.sandbox().context(binding="PYTHON_PLUS")
    assert fresh.value("answer") == "43"


def test_javascript_can_preload_too(new_server: NewServer) -> None:
    server = new_server(config_of("const half = x => x / 2", "javascript", "javascript"))
    context = server.client.sandbox().context(language="javascript", binding="JAVASCRIPT_PLUS")
    assert context.value("half(84)") == "42"
    context.evict()
    assert context.value("half(4)") == "2"


def test_a_file_holds_the_code(new_server: NewServer, tmp_path: Path) -> None:
    (tmp_path / "boot.py").write_text("answer = 42\n")
    server = new_server(
        CONFIG + '[bindings.PLUS]\nengine = "python-3.13"\npreload_file = "boot.py"\n'
    )
    once = server.client.post("/v1/runs", {"code": "answer", "language": "python"})["run"]
    assert Run(once).result == "42"


@pytest.mark.parametrize(
    ("code", "complaints"),
    [
        ("x = 1\nraise ValueError('not today')", ["ValueError: not today", "line 2"]),
        ("import nothing_of_this_name", ["ModuleNotFoundError"]),
        ("import sys; sys.exit(3)", ["the code ended the interpreter"]),
        ("f = open('/workspace/f', 'w')", ["leaves a file open: /workspace/f"]),
        ("x = bytearray(1 << 30)", ["MemoryError"]),
    ],
)
def test_code_that_fails_stops_the_start(tmp_path: Path, code: str, complaints: list[str]) -> None:
    config = tmp_path / "dormouse.toml"
    config.write_text(config_of(code))
    command: list[Any] = [DORMOUSE, "serve", "--data", tmp_path / "data", "--engines", ENGINES]
    command += ["--listen", "127.0.0.1:0", "--config", config]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode != 0
    for complaint in ["binding PYTHON_PLUS: its preload failed", *complaints]:
        assert complaint in ended.stderr
    assert not list((tmp_path / "data").glob("preloads/*"))
