# SPDX-License-Identifier: Apache-2.0
"""Projects, API keys, scopes, rate limits and usage."""

import re
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from conftest import NewServer
from quick.client import ApiError, Client, Json, Sandbox
from quick.processes import wait_until
from quick.server import Server

ALL_FIELDS = {"id", "orgId", "name", "prefix", "last4", "scopes", "createdByUserId", "createdAt"}


class Keys:
    """Makes keys of one server, and clients that use them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.clients: list[Client] = []

    def make(self, *scopes: str, projects: list[str] | None = None) -> tuple[Json, Client]:
        body: Json = {"name": "test", "scopes": list(scopes)}
        if projects:
            body["projectIds"] = projects
        made = self.server.client.post("/v1/api-keys", body)
        self.clients.append(Client(self.server.url, made["secret"]))
        return made["apiKey"], self.clients[-1]

    def project(self, name: str = "other") -> str:
        return str(self.server.client.post("/v1/projects", {"name": name})["project"]["id"])


@pytest.fixture
def keys(server: Server) -> Iterator[Keys]:
    keys = Keys(server)
    yield keys
    for client in keys.clients:
        client.close()


def refusal(client: Client, method: str, path: str, body: Any = None) -> ApiError:
    with pytest.raises(ApiError) as caught:
        client.call(method, path, body)
    return caught.value


def test_projects_are_made_and_listed(client: Client) -> None:
    project = client.post("/v1/projects", {"name": "Team ключ"})["project"]
    assert set(project) == {"id", "orgId", "name", "createdAt"}
    assert re.fullmatch(r"prj_[A-Za-z0-9][A-Za-z0-9_-]*", project["id"])
    assert project["name"] == "Team ключ"
    page = client.get("/v1/projects", limit=1)
    assert page["hasMore"] is True and len(page["data"]) == 1
    rest = client.get("/v1/projects", limit=500, cursor=page["nextCursor"])
    assert project["id"] in [one["id"] for one in page["data"] + rest["data"]]
    sandbox = client.post("/v1/sandboxes", {"projectId": project["id"]})["sandbox"]
    assert (sandbox["projectId"], sandbox["orgId"]) == (project["id"], project["orgId"])
    listed = client.get("/v1/sandboxes", projectId=project["id"])["data"]
    assert [one["id"] for one in listed] == [sandbox["id"]]


@pytest.mark.parametrize("name", ["", "x" * 129, "a\nb", None, 5])
def test_a_project_needs_a_proper_name(client: Client, name: Any) -> None:
    error = refusal(client, "POST", "/v1/projects", {"name": name})
    assert (error.status, error.code, error.details["field"]) == (400, "invalid_request", "name")


def test_a_project_that_is_not_there(client: Client) -> None:
    error = refusal(client, "POST", "/v1/sandboxes", {"projectId": "prj_none"})
    assert (error.status, error.code, error.details["field"]) == (404, "not_found", "projectId")


def test_a_key_is_shown_once(client: Client) -> None:
    made = client.post("/v1/api-keys", {"name": "ci", "scopes": ["file:read", "code:run"]})
    key, secret = made["apiKey"], made["secret"]
    assert set(key) == ALL_FIELDS | {"createdByKeyId"}
    assert re.fullmatch(r"key_[A-Za-z0-9][A-Za-z0-9_-]*", key["id"])
    assert secret.startswith(key["prefix"] + "_") and secret.endswith(key["last4"])
    assert key["scopes"] == ["code:run", "file:read"]
    shown = client.get(f"/v1/api-keys/{key['id']}")["apiKey"]
    assert shown == key and secret not in str(client.get("/v1/api-keys"))


def test_the_first_key_may_do_everything(server: Server) -> None:
    listed = server.client.get("/v1/api-keys", limit=500)["data"]
    admin = listed[-1]
    assert admin["name"] == "admin" and server.key.startswith(admin["prefix"])
    assert {"api_key:create", "code:run", "project:create"} <= set(admin["scopes"])
    assert "lastUsedAt" in admin


def test_each_route_wants_its_scope(keys: Keys, sandbox: Sandbox) -> None:
    document = httpx.get(f"{sandbox.client.url}/openapi.json", trust_env=False).json()
    scopes = keys.server.client.get("/v1/api-keys", limit=500)["data"][-1]["scopes"]
    clients = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            scope = operation.get("x-dormouse-scope")
            if scope is None:
                continue
            if scope not in clients:
                _, clients[scope] = keys.make(*[one for one in scopes if one != scope])
            target = re.sub(r"\{\w+\}", "none", path.replace("{sandboxId}", sandbox.id))
            response = clients[scope].http.request(method.upper(), target, json={})
            assert response.status_code == 403, (method, path)
            error = response.json()["error"]
            assert (error["code"], error["details"]["scope"]) == ("forbidden", scope)
    assert len(clients) >= 12


def test_one_scope_is_enough_for_what_it_names(keys: Keys, sandbox: Sandbox) -> None:
    _, runner = keys.make("code:run")
    assert Sandbox(runner, sandbox.id).run("1 + 1", language="python").ok().result == "2"
    assert refusal(runner, "GET", "/v1/sandboxes").code == "forbidden"
    assert runner.get("/v1/projects")["data"]
    assert runner.get("/v1/capabilities")


def test_a_restricted_key_sees_its_projects_only(keys: Keys, client: Client) -> None:
    mine, other = keys.project("mine"), keys.project("other")
    scopes = keys.server.client.get("/v1/api-keys", limit=500)["data"][-1]["scopes"]
    key, restricted = keys.make(*scopes, projects=[mine])
    assert key["projectIds"] == [mine]
    hidden = client.post("/v1/sandboxes", {"projectId": other})["sandbox"]["id"]
    hidden_box = Sandbox(client, hidden)
    hidden_box.write("secret", "x")
    own = restricted.post("/v1/sandboxes", {})["sandbox"]
    assert own["projectId"] == mine
    assert refusal(restricted, "POST", "/v1/sandboxes", {"projectId": other}).status == 404
    assert [one["id"] for one in restricted.get("/v1/sandboxes")["data"]] == [own["id"]]
    assert [one["id"] for one in restricted.get("/v1/projects")["data"]] == [mine]
    document = httpx.get(f"{client.url}/openapi.json", trust_env=False).json()
    for path, item in document["paths"].items():
        if "{sandboxId}" not in path:
            continue
        for method in item:
            target = re.sub(r"\{\w+\}", "none", path.replace("{sandboxId}", hidden))
            response = restricted.http.request(method.upper(), target, json={})
            assert response.status_code == 404, (method, path)
            assert response.json()["error"]["code"] == "not_found"
    assert hidden_box.read("secret") == "x" and hidden_box.get()["status"] != "destroyed"
    assert refusal(restricted, "POST", "/v1/projects", {"name": "x"}).code == "forbidden"
    assert [one["id"] for one in restricted.get("/v1/api-keys")["data"]] == [key["id"]]
    admin = client.get("/v1/api-keys", limit=500)["data"][-1]["id"]
    assert refusal(restricted, "DELETE", f"/v1/api-keys/{admin}").status == 404


def test_nobody_gives_away_more_than_they_have(keys: Keys) -> None:
    mine = keys.project("mine")
    _, maker = keys.make("api_key:create", "code:run", projects=[mine])
    body = {"name": "x", "scopes": ["code:run"], "projectIds": [mine]}
    assert maker.post("/v1/api-keys", body)["apiKey"]["projectIds"] == [mine]
    more = refusal(maker, "POST", "/v1/api-keys", {**body, "scopes": ["file:read"]})
    assert (more.code, more.details["scope"]) == ("forbidden", "file:read")
    everywhere = {"name": "x", "scopes": ["code:run"]}
    assert refusal(maker, "POST", "/v1/api-keys", everywhere).status == 403
    elsewhere = {**body, "projectIds": [keys.project("elsewhere")]}
    assert refusal(maker, "POST", "/v1/api-keys", elsewhere).status == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scopes": ["code:run"]}, "name"),
        ({"name": "", "scopes": ["code:run"]}, "name"),
        ({"name": "x"}, "scopes"),
        ({"name": "x", "scopes": []}, "scopes"),
        ({"name": "x", "scopes": ["code:runs"]}, "scopes"),
        ({"name": "x", "scopes": "code:run"}, "scopes"),
        ({"name": "x", "scopes": ["code:run"], "projectIds": []}, "projectIds"),
        ({"name": "x", "scopes": ["code:run"], "role": "owner"}, "role"),
    ],
)
def test_a_key_that_is_none_is_refused(client: Client, body: Json, field: str) -> None:
    error = refusal(client, "POST", "/v1/api-keys", body)
    assert (error.status, error.code, error.details["field"]) == (400, "invalid_request", field)


def test_a_key_may_revoke_itself_and_is_useless_then(keys: Keys, client: Client) -> None:
    key, own = keys.make("api_key:revoke", "api_key:read")
    revoked = own.call("DELETE", f"/v1/api-keys/{key['id']}")["apiKey"]
    assert revoked["id"] == key["id"] and revoked["revokedAt"]
    assert refusal(own, "GET", "/v1/api-keys").status == 401
    again = client.call("DELETE", f"/v1/api-keys/{key['id']}")["apiKey"]
    assert again["revokedAt"] == revoked["revokedAt"]
    assert refusal(client, "DELETE", "/v1/api-keys/key_none").status == 404


def test_the_last_key_that_makes_keys_stays(new_server: NewServer) -> None:
    server = new_server()
    admin = server.client.get("/v1/api-keys")["data"][0]
    error = refusal(server.client, "DELETE", f"/v1/api-keys/{admin['id']}")
    assert (error.status, error.code) == (409, "conflict")
    body = {"name": "second", "scopes": ["api_key:create", "api_key:revoke"]}
    made = server.client.post("/v1/api-keys", body)
    assert server.client.call("DELETE", f"/v1/api-keys/{admin['id']}")["apiKey"]["revokedAt"]
    second = Client(server.url, made["secret"])
    assert refusal(second, "DELETE", f"/v1/api-keys/{made['apiKey']['id']}").code == "conflict"
    second.close()


def test_keys_and_their_last_use_survive_a_crash(new_server: NewServer) -> None:
    server = new_server()
    made = server.client.post("/v1/api-keys", {"name": "x", "scopes": ["usage:read"]})
    gone = server.client.post("/v1/api-keys", {"name": "y", "scopes": ["usage:read"]})
    server.client.call("DELETE", f"/v1/api-keys/{gone['apiKey']['id']}")
    server.restart()
    used = Client(server.url, made["secret"])
    assert used.get("/v1/usage")["period"]
    used.close()
    dead = Client(server.url, gone["secret"])
    assert refusal(dead, "GET", "/v1/usage").status == 401
    dead.close()
    server.stop()
    server.start()
    shown = server.client.get(f"/v1/api-keys/{made['apiKey']['id']}")["apiKey"]
    assert "lastUsedAt" in shown


def test_requests_over_the_rate_wait(new_server: NewServer) -> None:
    server = new_server("[limits]\nrequests_per_minute = 60\n")
    made = server.client.post("/v1/api-keys", {"name": "x", "scopes": ["usage:read"]})
    limited = Client(server.url, made["secret"])
    remaining = []
    while True:
        response = limited.http.get("/v1/usage")
        assert response.headers["x-ratelimit-limit"] == "60"
        assert int(response.headers["x-ratelimit-reset"]) <= 60
        if response.status_code == 429:
            break
        assert response.status_code == 200
        remaining.append(int(response.headers["x-ratelimit-remaining"]))
        assert len(remaining) < 200
    assert remaining[0] == 59 and remaining[-1] == 0
    error = response.json()["error"]
    assert (error["code"], error["retryable"]) == ("rate_limited", True)
    assert 0 < error["retryAfterMs"] <= 1000
    assert error["details"]["retryAfterMs"] == error["retryAfterMs"]
    assert response.headers["retry-after"] == "1"
    # Another key has its own.
    assert server.client.http.get("/v1/nothing").status_code == 404
    limited.close()


def test_every_answer_below_v1_tells_the_rate(client: Client, sandbox: Sandbox) -> None:
    for method, path in (
        ("GET", "/v1/sandboxes"),
        ("GET", "/v1/nothing"),
        ("PUT", "/v1/sandboxes"),
        ("GET", f"{sandbox.path}/files/read?path=none"),
    ):
        response = client.http.request(method, path)
        assert int(response.headers["x-ratelimit-limit"]) == 6000
        assert 0 <= int(response.headers["x-ratelimit-remaining"]) < 6000
    assert "x-ratelimit-limit" not in client.http.get("/healthz").headers


def test_usage_counts_what_was_done(new_server: NewServer) -> None:
    server = new_server()
    project = server.client.post("/v1/projects", {"name": "counted"})["project"]["id"]
    box = server.client.sandbox(projectId=project)
    for _ in range(3):
        box.run("import time; time.sleep(0.1)", language="python").ok()
    box.write("a", "12345")
    server.restart()
    usage = server.client.get("/v1/usage")
    events = {event["metric"]: event for event in usage["events"] if event["projectId"] == project}
    assert events["code_run_invocations"]["amount"] == 3
    assert events["sandbox_creates"]["amount"] == 1
    assert events["file_bytes_written"]["amount"] == 5
    seconds = events["compute_unit_seconds"]["amount"]
    assert 0.3 <= seconds < 60
    assert usage["computeUnitSeconds"]["used"] >= seconds
    rate = usage["computeUnitSecondsPerCredit"]
    assert usage["credits"]["used"] == pytest.approx(usage["computeUnitSeconds"]["used"] / rate)
    start, end = (datetime.fromisoformat(usage["period"][name]) for name in ("start", "end"))
    assert start <= datetime.now(UTC) < end and start.day == 1
    default = server.client.get("/v1/projects")["data"][-1]["id"]
    body = {"name": "x", "scopes": ["usage:read"], "projectIds": [default]}
    made = server.client.post("/v1/api-keys", body)
    other = Client(server.url, made["secret"])
    assert all(event["projectId"] != project for event in other.get("/v1/usage")["events"])
    other.close()


def test_usage_names_the_quotas(client: Client, server: Server) -> None:
    quotas = client.get("/v1/usage")["quotas"]
    limits = client.get("/v1/capabilities")["capabilities"]["limits"]
    assert quotas["contexts_per_sandbox"] == {"limit": limits["contextsPerSandbox"]}
    assert quotas["workspace_bytes_per_sandbox"] == {"limit": limits["workspaceBytes"]}
    assert quotas["requests_per_minute"] == {"limit": 6000}
    # No limit, no quota.
    assert "active_sandboxes" not in quotas
    keys = quotas["api_keys"]
    assert keys["current"] >= 1 and keys["remaining"] == keys["limit"] - keys["current"]
    default = client.get("/v1/projects")["data"][-1]["id"]
    body = {"name": "x", "scopes": ["usage:read"], "projectIds": [default]}
    restricted = Client(server.url, client.post("/v1/api-keys", body)["secret"])
    assert set(restricted.get("/v1/usage")["quotas"]["api_keys"]) == {"limit"}
    restricted.close()


def test_the_quota_of_sandboxes(new_server: NewServer) -> None:
    server = new_server("[limits]\nactive_sandboxes = 3\n")
    client = server.client
    boxes = [client.sandbox() for _ in range(3)]
    for _ in range(2):
        error = refusal(client, "POST", "/v1/sandboxes", {})
        assert (error.status, error.code) == (429, "quota_exceeded")
        assert error.details["limit"] == 3 and not error.retryable
        quota = client.get("/v1/usage")["quotas"]["active_sandboxes"]
        assert quota == {"limit": 3, "current": 3, "remaining": 0}
        server.restart()
        client = server.client
    boxes[0].client = client
    boxes[0].delete()
    boxes[0].delete()
    assert client.get("/v1/usage")["quotas"]["active_sandboxes"]["remaining"] == 1
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: client.http.post("/v1/sandboxes", json={}), range(8)))
    assert sorted(response.status_code for response in made) == [201] + [429] * 7


def test_old_usage_is_forgotten(new_server: NewServer) -> None:
    server = new_server()
    server.client.sandbox()
    server.stop()
    today = int(time.time()) // 86_400

    def days() -> set[int]:
        with closing(sqlite3.connect(server.data / "dormouse.db")) as database:
            return {today - day for (day,) in database.execute("SELECT day FROM usage")}

    with closing(sqlite3.connect(server.data / "dormouse.db")) as database, database:
        rows = [(today - age, "prj_x", "code_run_invocations", 1) for age in (1, 390, 402, 9999)]
        database.executemany("INSERT INTO usage VALUES(?, ?, ?, ?)", rows)
    server.start()
    wait_until(lambda: not days() & {402, 9999}, "old days are forgotten")
    assert {1, 390} <= days()


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"": "v"}, "invalid_metadata_key"),
        ({"ж" * 65: "v"}, "invalid_metadata_key"),
        ({"k": "v" * 513}, "invalid_metadata_value"),
        ({f"k{n}": "v" for n in range(17)}, "metadata_too_many_keys"),
        ({f"k{n}": "v" * 500 for n in range(9)}, "metadata_too_large"),
    ],
)
def test_metadata_limits_have_codes(client: Client, metadata: Json, code: str) -> None:
    error = refusal(client, "POST", "/v1/sandboxes", {"metadata": metadata})
    assert (error.status, error.code, error.details["field"]) == (400, code, "metadata")


def test_metadata_at_their_limits_are_taken(client: Client) -> None:
    metadata = {"ж" * 64: "ж" * 512}
    made = client.post("/v1/sandboxes", {"metadata": metadata})["sandbox"]
    assert made["metadata"] == metadata
