# SPDX-License-Identifier: Apache-2.0
"""Routes about the server itself, and who may call what."""

import re
from typing import Any

import httpx
import pytest

from quick.client import Client, Sandbox
from quick.server import Server


def test_health_needs_no_key(client: Client) -> None:
    response = httpx.get(f"{client.url}/healthz", trust_env=False)
    assert response.status_code == 200 and response.json()["status"] == "ok"
    assert re.fullmatch(r"\d+\.\d+\.\d+", response.json()["version"])


def test_bindings(client: Client) -> None:
    bindings = {binding["name"]: binding for binding in client.get("/v1/bindings")["data"]}
    assert set(bindings) >= {"PYTHON", "JAVASCRIPT", "TYPESCRIPT"}
    for name, binding in bindings.items():
        # Of several engines of a language one is what its name means.
        assert binding["isDefault"] == (binding["language"] == name.lower()) and binding["contexts"] is True
        assert binding["engine"] and binding["version"] and len(binding["buildId"]) >= 16
        limits = binding["limits"]
        assert set(limits) == {
            "memoryBytes",
            "maxMemoryBytes",
            "fuel",
            "maxFuel",
            "defaultTimeoutMs",
            "maxTimeoutMs",
            "codeBytes",
        }
        assert not binding["preloaded"]
        assert 0 < limits["memoryBytes"] <= limits["maxMemoryBytes"]
        assert limits["maxTimeoutMs"] == 600_000


def test_the_reported_version_is_the_interpreters(sandbox: Sandbox) -> None:
    bindings = {binding["name"]: binding for binding in sandbox.client.get("/v1/bindings")["data"]}
    run = sandbox.run("import platform; platform.python_version()", language="python").ok()
    assert run.result == repr(bindings["PYTHON"]["version"])


def test_engines(client: Client, sandbox: Sandbox) -> None:
    sandbox.run("1", language="python").ok()
    engines = client.get("/v1/engines")["data"]
    python = next(engine for engine in engines if engine["current"] and "PYTHON" in engine["bindings"])
    assert python["language"] == "python" and python["contexts"] >= 1
    secret = client.post("/v1/api-keys", {"name": "k", "scopes": ["code:run"], "projectIds": [sandbox.get()["projectId"]]})[
        "secret"
    ]
    assert all("contexts" not in engine for engine in Client(client.url, secret).get("/v1/engines")["data"])


def test_capabilities(client: Client) -> None:
    capabilities = client.get("/v1/capabilities")["capabilities"]
    assert capabilities["server"] == "dormouse" and capabilities["durability"] == "process"
    assert set(capabilities["features"]) >= {
        "streaming",
        "fork",
        "rollback",
        "interrupt",
        "evict",
        "stdin",
        "env",
    }
    assert capabilities["bindings"] == client.get("/v1/bindings")["data"]
    limits = capabilities["limits"]
    assert limits["contextsPerSandbox"] == 8 and limits["maxTimeoutMs"] == 600_000
    assert all(isinstance(value, int) for value in limits.values())


def test_metrics_are_prometheus_text_and_count(client: Client, sandbox: Sandbox) -> None:
    before = metric(client, 'dormouse_runs_total{status="ok"}')
    sandbox.run("1", language="python").ok()
    assert metric(client, 'dormouse_runs_total{status="ok"}') == before + 1
    assert metric(client, "dormouse_contexts") >= 1
    for line in client.http.get("/metrics").text.splitlines():
        assert line.startswith("# ") or re.fullmatch(r"[a-z_]+(\{[^}]*\})? [-+.e0-9Inf]+", line), (
            line
        )


def metric(client: Client, name: str) -> float:
    response = client.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    lines = [line for line in response.text.splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].split(" ")[1]) if lines else 0.0


def test_the_openapi_document_names_every_route(client: Client) -> None:
    response = httpx.get(f"{client.url}/openapi.json", trust_env=False)
    document = response.json()
    assert document["openapi"].startswith("3.")
    paths = document["paths"]
    for path, methods in {
        "/v1/sandboxes": {"get", "post"},
        "/v1/sandboxes/{sandboxId}/code/contexts": {"get", "post"},
        "/v1/sandboxes/{sandboxId}/code/contexts/{contextId}": {"get", "delete"},
        "/v1/sandboxes/{sandboxId}/code/runs": {"post"},
        "/v1/sandboxes/{sandboxId}/code/runs/stream": {"post"},
        "/v1/sandboxes/{sandboxId}/files": {"get", "put", "delete"},
    }.items():
        assert methods <= set(paths[path]), path


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer x",
        "Basic x",
        "dm_live_x",
        "Bearer dm_live_aaaaaaaaaa_bbbb",
        "Bearer " + "a" * 5000,
        "Bearer dm_live_",
    ],
)
def test_without_a_good_key_nothing_is_told(client: Client, authorization: str | None) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    for path in ("/v1/sandboxes", "/v1/bindings", "/v1/sandboxes/sbx_x", "/v1/nothing", "/v1"):
        response = httpx.get(client.url + path, headers=headers, trust_env=False)
        assert response.status_code == 401, path
        assert response.json()["error"]["code"] == "unauthorized"
        assert response.headers["www-authenticate"].startswith("Bearer")


def test_a_key_with_one_wrong_character_is_none(client: Client) -> None:
    key = client.key
    for position in (len(key) - 1, len(key) // 2, 10):
        wrong = key[:position] + ("a" if key[position] != "a" else "b") + key[position + 1 :]
        response = httpx.get(
            f"{client.url}/v1/sandboxes",
            headers={"authorization": f"Bearer {wrong}"},
            trust_env=False,
        )
        assert response.status_code == 401


def test_the_scheme_is_case_insensitive(client: Client) -> None:
    headers = {"Authorization": f"bearer {client.key}"}
    assert (
        httpx.get(f"{client.url}/v1/sandboxes", headers=headers, trust_env=False).status_code == 200
    )


def test_the_key_file_is_private(server: Server) -> None:
    assert (server.data / "admin.key").stat().st_mode & 0o077 == 0
    assert (server.data / "server.json").stat().st_mode & 0o077 == 0
    assert server.key not in server.log


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/nothing", 404),
        ("GET", "/v1/nothing", 404),
        ("POST", "/healthz", 405),
        ("PUT", "/v1/sandboxes", 405),
        ("GET", "/v1/sandboxes/", 404),
        ("GET", "//v1/sandboxes", 404),
        ("GET", "/v1/sandboxes/../sandboxes", 404),
        ("GET", "/v1/sandboxes/%2e%2e/files", 404),
    ],
)
def test_paths_and_methods_that_are_not_there(
    client: Client, method: str, path: str, status: int
) -> None:
    # Sent raw: clients tidy paths up.
    response = raw_request(client, method, path)
    assert response[0] == status


def raw_request(client: Client, method: str, path: str) -> tuple[int, str]:
    import http.client
    from urllib.parse import urlsplit

    address = urlsplit(client.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
    try:
        connection.request(method, path, headers={"authorization": f"Bearer {client.key}"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_no_answer_redirects(client: Client) -> None:
    for path in ("/v1/sandboxes/", "/v1", "/healthz/"):
        assert not client.http.get(path).is_redirect


def test_every_error_has_one_shape(client: Client, sandbox: Sandbox) -> None:
    responses: list[httpx.Response] = [
        client.http.get("/v1/sandboxes/none"),
        client.http.put("/v1/sandboxes"),
        client.http.post("/v1/sandboxes", content=b"{"),
        client.http.post("/v1/sandboxes", content=b"{}", headers={"content-type": "text/plain"}),
        client.http.get(f"{sandbox.path}/files/read", params={"path": "none"}),
        client.http.get(f"{sandbox.path}/files/download", params={"path": "none"}),
        httpx.get(f"{client.url}/v1/bindings", trust_env=False),
    ]
    for response in responses:
        body: dict[str, Any] = response.json()
        assert set(body) == {"error"}
        error = body["error"]
        assert set(error) - {"details"} == {"code", "message", "requestId", "retryable"}
        assert error["requestId"] == response.headers["x-request-id"]
        assert response.headers["content-type"].startswith("application/json")
