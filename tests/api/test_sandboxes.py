# SPDX-License-Identifier: Apache-2.0
"""Sandboxes: their life, their list, their description."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from quick.client import ApiError, Client, Sandbox

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_a_sandbox_has_every_documented_field(client: Client) -> None:
    answer = client.post("/v1/sandboxes", {"metadata": {"team": "blue", "naïve": "ключ"}})
    sandbox = answer["sandbox"]
    assert re.fullmatch(r"sbx_[A-Za-z0-9][A-Za-z0-9_-]*", sandbox["id"])
    assert sandbox["orgId"].startswith("org_") and sandbox["projectId"].startswith("prj_")
    assert sandbox["status"] in ("ready", "idle")
    assert sandbox["metadata"] == {"team": "blue", "naïve": "ключ"}
    for name in ("templateId", "templateSlug", "templateVersion", "templateVersionId"):
        assert isinstance(sandbox[name], str) and sandbox[name]
    assert isinstance(sandbox["ttlMs"], int)
    for name in ("createdAt", "expiresAt"):
        assert TIMESTAMP.fullmatch(sandbox[name])
    assert "destroyedAt" not in sandbox
    assert Sandbox(client, sandbox["id"]).get()["id"] == sandbox["id"]


def test_creating_needs_no_body(client: Client) -> None:
    response = client.http.post("/v1/sandboxes")
    assert response.status_code == 201
    assert response.json()["sandbox"]["metadata"] == {}


def test_deleting_is_repeatable_and_leaves_a_record(client: Client) -> None:
    sandbox = client.sandbox()
    context = sandbox.context()
    first = sandbox.delete()
    assert first["status"] == "destroyed" and first["destroyedReason"] == "user_killed"
    assert TIMESTAMP.fullmatch(first["destroyedAt"])
    assert sandbox.delete() == first
    assert sandbox.get()["status"] == "destroyed"
    for call in (
        lambda: sandbox.run("1", language="python"),
        lambda: context.run("1"),
        lambda: sandbox.context(),
        lambda: sandbox.files(),
        lambda: sandbox.write("a", "b"),
    ):
        with pytest.raises(ApiError) as caught:
            call()
        assert (caught.value.status, caught.value.code) == (410, "sandbox_destroyed")


def test_the_list_shows_live_ones_newest_first_and_walks_pages(client: Client) -> None:
    mark = client.sandbox().id
    made = [client.sandbox(metadata={"mark": mark, "n": str(n)}).id for n in range(5)]
    seen: list[str] = []
    query: dict[str, Any] = {"metadata.mark": mark, "limit": 2}
    while True:
        page = client.get("/v1/sandboxes", **query)
        seen += [item["id"] for item in page["data"]]
        assert page["hasMore"] == ("nextCursor" in page)
        if not page["hasMore"]:
            break
        query["cursor"] = page["nextCursor"]
    assert seen == made[::-1]
    both = client.get("/v1/sandboxes", **{"metadata.mark": mark, "metadata.n": "3"})
    assert [item["id"] for item in both["data"]] == [made[3]]
    Sandbox(client, made[0]).delete()
    assert len(client.get("/v1/sandboxes", **{"metadata.mark": mark})["data"]) == 4
    everything = client.get("/v1/sandboxes", **{"metadata.mark": mark, "include": "historical"})
    assert len(everything["data"]) == 5


@pytest.mark.parametrize("limit", ["0", "501", "-1", "x", ""])
def test_a_page_size_out_of_range_is_refused(client: Client, limit: str) -> None:
    with pytest.raises(ApiError) as caught:
        client.get("/v1/sandboxes", limit=limit)
    assert caught.value.code == "invalid_request"


@pytest.mark.parametrize("cursor", ["x", "🦔", "A" * 5000, "../..", "0", "-1"])
def test_a_forged_cursor_is_refused_or_empty_but_never_a_failure(
    client: Client, cursor: str
) -> None:
    response = client.http.get("/v1/sandboxes", params={"cursor": cursor})
    assert response.status_code in (200, 400)


@pytest.mark.parametrize("path", ["ttl", "extend"])
def test_the_ttl_counts_from_now(client: Client, sandbox: Sandbox, path: str) -> None:
    response = client.http.post(f"{sandbox.path}/{path}", json={"ttlMs": 3_600_000})
    assert response.status_code == 200
    changed = response.json()["sandbox"]
    assert changed["ttlMs"] == 3_600_000
    ends = datetime.fromisoformat(changed["expiresAt"].replace("Z", "+00:00"))
    assert 3500 < (ends - datetime.now(UTC)).total_seconds() <= 3601
    assert ("deprecation" in response.headers) == (path == "extend")


@pytest.mark.parametrize("ttl", [0, -1, 1.5, "60000", None, 1e300, True])
def test_a_ttl_that_is_none_is_refused(client: Client, sandbox: Sandbox, ttl: Any) -> None:
    with pytest.raises(ApiError) as caught:
        client.post(f"{sandbox.path}/ttl", {"ttlMs": ttl})
    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    assert caught.value.details["field"] == "ttlMs"


def test_an_expired_sandbox_is_gone(client: Client) -> None:
    from quick.processes import wait_until

    sandbox = client.sandbox(ttlMs=1)
    wait_until(lambda: sandbox.get()["status"] == "destroyed", "the sandbox expires")
    assert sandbox.get()["destroyedReason"] == "ttl_expired"
    with pytest.raises(ApiError) as caught:
        sandbox.run("1", language="python")
    assert caught.value.code == "sandbox_destroyed"
    with pytest.raises(ApiError) as revived:
        client.post(f"{sandbox.path}/ttl", {"ttlMs": 1000})
    assert revived.value.code == "sandbox_destroyed"


@pytest.mark.parametrize(
    "metadata",
    [
        {"": "empty key"},
        {"k" * 65: "long key"},
        {"k": "v" * 513},
        {f"k{n}": "v" for n in range(17)},
        {f"k{n}": "v" * 500 for n in range(9)},
        {"k": 1},
        {"k": None},
        ["k"],
        "k",
    ],
)
def test_metadata_over_its_limits_is_refused(client: Client, metadata: Any) -> None:
    with pytest.raises(ApiError) as caught:
        client.post("/v1/sandboxes", {"metadata": metadata})
    assert caught.value.status == 400


def test_info_describes_contexts_snapshots_and_files(sandbox: Sandbox) -> None:
    info = sandbox.info()
    assert info["sandbox"]["id"] == sandbox.id
    assert info["contexts"] == [] and info["workspace"]["files"] == 0
    python, javascript = sandbox.context("python", name="main"), sandbox.context("javascript")
    assert all(context["snapshot"] is None for context in sandbox.info()["contexts"])
    python.run("open('a.bin', 'wb').write(bytes(1000))").ok()
    info = sandbox.info()
    by_id = {context["id"]: context for context in info["contexts"]}
    assert set(by_id) == {python.id, javascript.id}
    described = by_id[python.id]
    assert described["name"] == "main" and described["language"] == "python"
    assert described["executions"] == 1 and described["resident"] is True
    snapshot = described["snapshot"]
    assert snapshot["stale"] is False and snapshot["pages"] > 0
    assert snapshot["bytes"] == snapshot["pages"] * 4096
    assert 0 < snapshot["storedBytes"] < snapshot["bytes"]
    assert len(snapshot["engineBuild"]) >= 16 and TIMESTAMP.fullmatch(snapshot["takenAt"])
    assert by_id[javascript.id]["snapshot"] is None
    assert info["workspace"] == {"files": 1, "bytes": 1000}


def test_a_sandbox_that_is_not_there(client: Client) -> None:
    for sandbox_id in ("sbx_nothere", "sbx_", "nope", "%2e%2e", "sbx_" + "a" * 3000):
        response = client.http.get(f"/v1/sandboxes/{sandbox_id}")
        assert response.status_code == 404, sandbox_id
        assert response.json()["error"]["code"] == "not_found"
