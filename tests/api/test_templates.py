# SPDX-License-Identifier: Apache-2.0
"""Templates: presets of sandboxes."""

import pytest

from conftest import NewServer
from quick.client import ApiError, Client
from quick.processes import wait_until

CONFIG = """
[limits]
stop_grace_ms = 2000

[templates.short]
version = "2026-07-01"
default_language = "javascript"
default_ttl_ms = 60000
max_ttl_ms = 120000
contexts_per_sandbox = 1
default_timeout_ms = 1500
[templates.short.env]
GREETING = "hello"
OTHER = "preset"

[templates.idle]
idle_expiry_ms = 1500
"""


@pytest.mark.parametrize("slug", ["base", "python", "node", "python-node"])
def test_the_usual_templates_are_there(client: Client, slug: str) -> None:
    made = client.post("/v1/sandboxes", {"template": slug})["sandbox"]
    assert made["templateSlug"] == slug and made["templateVersion"] == "1"
    assert made["templateId"].startswith("tpl_")
    version = made["templateVersionId"]
    assert version.startswith("tplv_")
    again = client.post("/v1/sandboxes", {"templateVersionId": version})["sandbox"]
    assert again["templateSlug"] == slug


def test_templates_that_are_not_there(client: Client) -> None:
    for body, status, field in (
        ({"template": "perl"}, 404, "template"),
        ({"templateVersionId": "tplv_none"}, 404, "templateVersionId"),
        ({"template": "node", "templateVersionId": "tplv_python_1"}, 400, "templateVersionId"),
    ):
        with pytest.raises(ApiError) as caught:
            client.post("/v1/sandboxes", body)
        assert (caught.value.status, caught.value.details["field"]) == (status, field)


def test_a_template_may_name_the_language(client: Client) -> None:
    assert client.sandbox(template="python").run("1 + 1").ok().result == "2"
    assert client.sandbox(template="node").run("[1].map(x => x + 1)").ok().result == "[ 2 ]"
    with pytest.raises(ApiError) as caught:
        client.sandbox().run("1 + 1")
    assert (caught.value.code, caught.value.details["field"]) == ("invalid_request", "language")


def test_configured_templates(new_server: NewServer) -> None:
    server = new_server(CONFIG)
    box = server.client.sandbox(template="short")
    made = box.get()
    assert made["ttlMs"] == 60_000
    assert (made["templateVersion"], made["templateId"]) == ("2026-07-01", "tpl_short")
    run = box.run("while (true) {}")
    assert run.status == "timeout"
    with pytest.raises(ApiError) as caught:
        box.context("python")
    assert caught.value.code == "quota_exceeded"
    for call in (
        lambda: server.client.post(f"{box.path}/ttl", {"ttlMs": 120_001}),
        lambda: server.client.sandbox(template="short", ttlMs=120_001),
    ):
        with pytest.raises(ApiError) as too_long:
            call()
        assert (too_long.value.status, too_long.value.code) == (400, "sandbox_ttl_exceeded")
        assert too_long.value.details["limit"] == 120_000
    other = server.client.sandbox(template="short")
    context = other.context("python", env={"OTHER": "request"})
    value = context.value("import os; os.environ['GREETING'], os.environ['OTHER']")
    assert value == "('hello', 'request')"
    assert sorted(context.get()["envKeys"]) == ["GREETING", "OTHER"]


def test_unused_sandboxes_of_such_a_template_go(new_server: NewServer) -> None:
    server = new_server(CONFIG)
    idle, kept = server.client.sandbox(template="idle"), server.client.sandbox()
    busy = server.client.sandbox(template="idle")
    # A run that goes on keeps its sandbox.
    run = busy.run("import time; time.sleep(5); 'awake'", language="python").ok()
    assert run.result == "'awake'"
    wait_until(lambda: idle.get()["status"] == "destroyed", "the idle sandbox goes")
    assert idle.get()["destroyedReason"] == "idle_expired"
    assert kept.get()["status"] != "destroyed"
    live = [one["id"] for one in server.client.get("/v1/sandboxes")["data"]]
    every = [one["id"] for one in server.client.get("/v1/sandboxes", include="historical")["data"]]
    assert idle.id not in live and idle.id in every and kept.id in live
    with pytest.raises(ApiError) as caught:
        idle.run("1", language="python")
    assert (caught.value.status, caught.value.code) == (410, "sandbox_destroyed")
