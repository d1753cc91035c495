# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document against the server: Schemathesis sends what the document allows and what it does not.

Of its checks these are left out: `positive_data_acceptance`, as a schema cannot say all rules; `use_after_free`, as
the records of what was destroyed stay readable; and `ensure_resource_availability`, which takes a file that is not there
for the sandbox that was just made.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import NewServer
from quick.server import Server

# Test cases of each operation in each phase. Before a release more are tried.
EXAMPLES = int(os.environ.get("DORMOUSE_SCHEMATHESIS_EXAMPLES", "10"))
SEED = int(os.environ.get("DORMOUSE_SCHEMATHESIS_SEED", "1"))

SERVER = "[limits]\nrequests_per_minute = 0\nstop_grace_ms = 2000\n"

SETTINGS = """
seed = {seed}
workers = 1
continue-on-failure = true
request-timeout = 60
[auth.openapi.key]
bearer = "{key}"
[generation]
max-examples = {examples}
database = "none"
[checks]
positive_data_acceptance = {{ enabled = false }}
use_after_free = {{ enabled = false }}
ensure_resource_availability = {{ enabled = false }}
# The defaults, and the refusals that say more exactly what is wrong.
negative_data_rejection = {{ expected-statuses = [400, 401, 403, 404, 405, 409, 410, 413, 415, 416, 429] }}
[phases.stateful.generation]
max-examples = {examples}
"""

# Values that lead past the first check, by the parameter that takes them.
WORDS: dict[str, list[Any]] = {
    "body.code": ["1 + 1", "print('ü')", "1 / 0", "import os; os.listdir()", "let x = 1; x"],
    "body.language": ["python", "javascript", "typescript"],
    "body.binding": ["PYTHON", "JAVASCRIPT"],
    "body.contextName": ["one", "two"],
    "body.path": ["f", "/workspace/f", "d", "d/g", "none", "../f"],
    "body.from": ["f", "d/g"],
    "body.to": ["h", "d"],
    "body.cwd": ["/workspace", "d"],
    "body.encoding": ["utf8", "base64"],
    "body.template": ["base", "python", "node"],
    "body.templateVersionId": ["tplv_base_1", "tplv_node_1"],
    "body.scopes[*]": ["code:run", "file:read", "usage:read"],
    "body.generation": [0, 1, 2],
    "body.command": ["python -c 1", "cd d && node -e 1", "ls"],
    "query.path": ["f", "/workspace/f", "d", "d/g", "none", ""],
    "query.encoding": ["utf8", "base64"],
    "query.limit": [1, 2, 500],
}
# Runs must end soon.
ALWAYS: dict[str, list[Any]] = {"body.timeoutMs": [100, 1000], "body.ttlMs": [3_600_000]}


def things(server: Server) -> dict[str, list[str]]:
    """Something of each kind to name in paths, by parameter."""
    client = server.client
    sandbox = client.sandbox()
    sandbox.write("f", "content")
    sandbox.write("d/g", "more", createParents=True)
    context = sandbox.context("python", name="one")
    run = context.run("1 + 1").ok()
    artifact = client.post(f"{sandbox.path}/artifacts", {"path": "f"})["artifact"]
    workspace_run = client.post("/v1/workspace-runs", {"command": "python -c 1"})["workspaceRun"]
    client.post(f"/v1/workspace-runs/{workspace_run['id']}/cancel")
    waiting = client.post("/v1/workspace-runs", {"command": "python -c 1"})["workspaceRun"]
    transfer = client.post(
        f"/v1/workspace-runs/{waiting['id']}/archive-transfer", {"sha256": "0" * 64, "sizeBytes": 5}
    )["transfer"]
    key = client.post("/v1/api-keys", {"name": "x", "scopes": ["usage:read"]})["apiKey"]
    return {
        "sandboxId": [sandbox.id],
        "contextId": [context.id],
        "runId": [run.raw["runId"]],
        "artifactId": [artifact["id"]],
        "workspaceRunId": [workspace_run["id"], waiting["id"]],
        "uploadId": [transfer["id"]],
        "apiKeyId": [key["id"]],
        "projectId": [sandbox.get()["projectId"]],
    }


def settings(server: Server) -> str:
    known, doomed = things(server), things(server)
    lines = [SETTINGS.format(seed=SEED, examples=EXAMPLES, key=server.key)]
    bindings: dict[str, list[str]] = {"": [], "doomed": []}

    def bind(group: str, parameter: str, values: list[Any], probability: float) -> None:
        name = f"words{len(lines)}"
        lines.append(f"[dictionaries.{name}]\nvalues = {json.dumps(values)}")
        binding = f'{{ dictionary = "{name}", probability = {probability} }}'
        bindings[group].append(f'"{parameter}" = {binding}')

    for parameter, values in known.items():
        bind("", f"path.{parameter}", values, 0.8)
        bind("", f"body.{parameter}", values, 0.5)
    for parameter, values in WORDS.items():
        bind("", parameter, values, 0.6)
    for parameter, values in ALWAYS.items():
        bind("", parameter, values, 1.0)
    for parameter, values in doomed.items():
        bind("doomed", f"path.{parameter}", values, 0.5)
    lines += ["[parameters]", *bindings[""]]
    # What ends things gets those that nothing else needs.
    lines += ["[[operations]]", 'include-method = "DELETE"']
    lines += ['exclude-operation-id = "deleteSandbox"', "[operations.parameters]"]
    lines += bindings["doomed"]
    for operation in ("deleteSandbox", "setTtl", "extendTtl"):
        lines += ["[[operations]]", f'include-operation-id = "{operation}"']
        lines += ["[operations.parameters]", f'"path.sandboxId" = "{doomed["sandboxId"][0]}"']
    # Whoever listens to a run that was not started waits for it.
    lines += ["[[operations]]", 'include-operation-id = "listWorkspaceRunEvents"']
    lines += ["[operations.parameters]", '"query.stream" = "false"']
    return "\n".join(lines) + "\n"


@pytest.mark.timeout(3600)
def test_the_document_and_the_server_agree(new_server: NewServer, tmp_path: Path) -> None:
    server = new_server(SERVER)
    (tmp_path / "schemathesis.toml").write_text(settings(server))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "schemathesis.toml"]
    command += ["run", f"{server.url}/openapi.json", "--no-color", "--report", "json"]
    command += ["--report-json-path", "report.json"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=3000, check=False
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    # The key that was used is still good: otherwise all these answers were 401.
    assert server.client.get("/v1/projects")["data"]
    assert server.client.sandbox().run("1 + 1", language="python").ok().result == "2"
    assert "unexpected condition" not in server.log
