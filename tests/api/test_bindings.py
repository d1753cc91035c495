# SPDX-License-Identifier: Apache-2.0
"""Bindings in the configuration: several names and limits for one engine."""

import subprocess
from pathlib import Path

import pytest

from conftest import NewServer
from quick.client import ApiError, Client, Json, Run
from quick.server import CONFIG, DORMOUSE, ENGINES

BINDINGS = (
    CONFIG
    + """
[bindings.PYTHON]
engine = "python-3.13"

[bindings.SMALL]
engine = "python-3.13"
default = false
memory_bytes = 100663296
max_memory_bytes = 134217728
fuel_us = 300000
max_fuel_us = 400000
default_timeout_ms = 700
max_timeout_ms = 60000
code_bytes = 2048

[bindings.ONCE]
engine = "python-3.13"
default = false
contexts = false
"""
)


def bindings_of(client: Client) -> dict[str, Json]:
    return {binding["name"]: binding for binding in client.get("/v1/bindings")["data"]}


def test_bindings_share_an_engine_with_limits_of_their_own(new_server: NewServer) -> None:
    client = new_server(BINDINGS).client
    bindings = bindings_of(client)
    assert set(bindings) == {"PYTHON", "SMALL", "ONCE"}
    assert len({binding["buildId"] for binding in bindings.values()}) == 1
    assert [name for name, binding in bindings.items() if binding["isDefault"]] == ["PYTHON"]
    assert bindings["SMALL"]["limits"] == {
        "memoryBytes": 96 << 20,
        "maxMemoryBytes": 128 << 20,
        "fuel": 300_000,
        "maxFuel": 400_000,
        "defaultTimeoutMs": 700,
        "maxTimeoutMs": 60_000,
        "codeBytes": 2048,
    }
    assert not bindings["ONCE"]["contexts"] and bindings["SMALL"]["contexts"]

    sandbox = client.sandbox()
    small = sandbox.context(language="python", binding="SMALL")
    assert small.get()["binding"] == "SMALL"
    run = small.run("import time\ntime.sleep(60)", binding="SMALL")
    assert (run.status, run.state) == ("timeout", "kept")
    run = small.run("while True: pass", timeoutMs=60_000)
    assert run.status == "fuel_exhausted" and run.raw["usage"]["fuelLimit"] == 300_000
    assert small.run("x = bytearray(110 << 20)").error_name == "MemoryError"
    assert small.run("x = bytearray(60 << 20)", memoryBytes=128 << 20).status == "ok"
    assert sandbox.run("7", language="python").raw["binding"] == "PYTHON"
    for fields, field in (
        ({"timeoutMs": 60_001}, "timeoutMs"),
        ({"fuel": 400_001}, "fuel"),
        ({"memoryBytes": (128 << 20) + 1}, "memoryBytes"),
    ):
        with pytest.raises(ApiError) as refused:
            small.run("1", **fields)
        assert (refused.value.status, refused.value.details["field"]) == (400, field)
    with pytest.raises(ApiError) as refused:
        small.run("#" * 2049)
    assert (refused.value.status, refused.value.code) == (413, "code_source_too_large")


def test_a_binding_without_contexts_has_stateless_runs_only(new_server: NewServer) -> None:
    client = new_server(BINDINGS).client
    sandbox = client.sandbox()
    with pytest.raises(ApiError) as refused:
        client.post(f"{sandbox.path}/code/contexts", {"binding": "ONCE"})
    assert (refused.value.status, refused.value.code) == (403, "feature_not_enabled")
    assert sandbox.run("x = 1\nopen('f', 'w').write('1')", binding="ONCE").status == "ok"
    assert sandbox.run("x", binding="ONCE").error_name == "NameError"
    assert sandbox.run("open('f').read()", binding="ONCE").result == "'1'"
    assert Run(client.post("/v1/runs", {"code": "7", "binding": "ONCE"})["run"]).result == "7"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('engine = "python-9"', "the engine python-9 is not installed"),
        ('engine = "python-3.13"\nmemory_bytes = 2097152', "memory_bytes is 2097152, the engine needs"),
        ('engine = "python-3.13"\nmax_memory_bytes = 2097152', "max_memory_bytes is less than memory_bytes"),
        ('engine = "python-3.13"\nmax_timeout_ms = 700000', "max_timeout_ms is more than limits.max_timeout_ms"),
        ('engine = "python-3.13"\ndefault_timeout_ms = 9\nmax_timeout_ms = 8', "is more than max_timeout_ms"),
        ('engine = "python-3.13"\nfuel_us = 9\nmax_fuel_us = 8', "max_fuel_us is less than fuel_us"),
        ('engine = "python-3.13"\npreload = ""', "preload is empty"),
        ('engine = "python-3.13"\npreload_file = "none.py"', "cannot be read"),
    ],
)
def test_wrong_bindings_are_named(tmp_path: Path, table: str, complaint: str) -> None:
    config = tmp_path / "dormouse.toml"
    config.write_text(f"[bindings.ODD]\n{table}\n")
    command = [DORMOUSE, "serve", "--data", tmp_path / "data", "--engines", ENGINES, "--config", config]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode != 0
    assert "ODD" in ended.stderr and complaint in ended.stderr
