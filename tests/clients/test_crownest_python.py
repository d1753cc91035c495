# SPDX-License-Identifier: Apache-2.0
"""The Python client that CrowNest published (PyPI: crownest), unmodified, against this server: every method it has,
in both flavours. Only `base_url` differs from its documentation."""

import asyncio
import uuid
from typing import Any

import pytest
from crownest import AsyncCrowNest, CrowNest, CrowNestApiError

from clients.either import Call, refused
from quick.server import Server


def test_context_managers(server: Server) -> None:
    with CrowNest(api_key=server.key, base_url=f"{server.url}/") as client:
        assert client.projects.list()

    async def use() -> list[Any]:
        async with AsyncCrowNest(api_key=server.key, base_url=server.url) as client:
            return await client.projects.list()

    assert asyncio.run(use())


def test_usage(client: Any, call: Call, sandbox: Any) -> None:
    call(sandbox.code.run("1"))
    usage = call(client.usage())
    assert {"period", "pricingVersion", "computeUnitSeconds", "credits", "quotas"} <= set(usage)
    assert {"start", "end", "resetAt"} <= set(usage["period"])
    assert usage["computeUnitSeconds"]["used"] >= 0 and isinstance(usage["quotas"], dict)


def test_projects(client: Any, call: Call) -> None:
    name = f"project {uuid.uuid4()}"
    made = call(client.projects.create(name=name))
    assert made["id"].startswith("prj_") and made["name"] == name
    assert {"id", "orgId", "name", "createdAt"} <= set(made)
    assert made["id"] in [project["id"] for project in call(client.projects.list())]
    sandbox = call(client.sandboxes.create(project_id=made["id"]))
    assert sandbox["projectId"] == made["id"]
    call(sandbox.kill())


def test_api_keys(client: Any, call: Call, server: Server) -> None:
    made = server.client.post("/v1/api-keys", {"name": "for a test", "scopes": ["sandbox:read"]})
    key_id = made["apiKey"]["id"]
    key = call(client.api_keys.get(key_id))
    assert key["name"] == "for a test" and key["scopes"] == ["sandbox:read"]
    assert {"id", "orgId", "name", "prefix", "last4", "createdByUserId", "createdAt"} <= set(key)
    assert made["secret"].startswith(key["prefix"]) and made["secret"].endswith(key["last4"])
    assert key_id in [one["id"] for one in call(client.api_keys.list())]
    assert call(client.api_keys.revoke(key_id))["revokedAt"]
    assert call(client.api_keys.get(key_id))["revokedAt"]


def test_the_life_of_a_sandbox(client: Any, call: Call) -> None:
    tag = str(uuid.uuid4())
    sandbox = call(
        client.sandboxes.create(
            metadata={"tag": tag}, template="python-node", ttl_ms=600_000, idempotency_key=tag
        )
    )
    assert sandbox.id.startswith("sbx_") and sandbox["status"] == "ready"
    assert sandbox["templateSlug"] == "python-node" and sandbox["metadata"] == {"tag": tag}
    required = "id orgId projectId status templateId templateSlug templateVersion templateVersionId ttlMs expiresAt metadata"
    assert set(required.split()) <= set(sandbox.to_dict())
    again = call(
        client.sandboxes.create(
            metadata={"tag": tag}, template="python-node", ttl_ms=600_000, idempotency_key=tag
        )
    )
    assert again.id == sandbox.id
    assert [one["id"] for one in call(client.sandboxes.list(metadata={"tag": tag}))] == [sandbox.id]
    assert call(client.sandboxes.get(sandbox.id)).id == sandbox.id
    assert call(sandbox.extend(ttl_ms=1_200_000))["ttlMs"] == 1_200_000
    assert call(client.sandboxes.extend(sandbox.id, ttl_ms=900_000))["ttlMs"] == 900_000
    killed = call(sandbox.kill())
    assert killed["status"] == "destroyed" and killed["destroyedReason"] == "user_killed"
    assert call(client.sandboxes.kill(sandbox.id))["status"] == "destroyed"
    assert call(client.sandboxes.list(metadata={"tag": tag})) == []
    assert call(client.sandboxes.get(sandbox.id))["status"] == "destroyed"


@pytest.mark.parametrize("language", ["python", "javascript", "typescript"])
def test_code(client: Any, call: Call, sandbox: Any, language: str) -> None:
    context = call(sandbox.code.create_context(language=language))
    assert context["id"].startswith("cctx_") and context["language"] == language
    assert context["cwd"] == "/workspace" and context["sandboxId"] == sandbox.id
    assert call(sandbox.code.get_context(context["id"]))["id"] == context["id"]
    assert [one["id"] for one in call(client.code.list_contexts(sandbox.id))] == [context["id"]]
    keyword = "" if language == "python" else "let "
    printing = "print" if language == "python" else "console.log"
    first = call(
        sandbox.code.run(f"{keyword}x = 20", context_id=context["id"], language=language)
    )
    assert first["executionCount"] == 1 and first["outputs"] == []
    run = call(
        client.code.run(
            sandbox.id, f"{printing}(x); x + 1", context_id=context["id"], language=language
        )
    )
    assert run["stdout"] == "20\n" and run["stderr"] == "" and run["contextId"] == context["id"]
    assert run["outputs"][0]["format"] == "text" and run["outputs"][0]["value"] == "21"
    events = call(
        sandbox.code.run_stream(f"{printing}(x)", context_id=context["id"], language=language)
    )
    assert [event["type"] for event in events] == ["stdout", "complete"]
    assert events[0]["data"] == "20\n" and events[1]["data"]["executionCount"] == 3
    assert call(sandbox.code.delete_context(context["id"]))["id"] == context["id"]
    error = refused(call, lambda: client.code.get_context(sandbox.id, context["id"]))
    assert (error.status, error.code) == (404, "not_found")


def test_code_errors_are_results(client: Any, call: Call, sandbox: Any) -> None:
    run = call(sandbox.code.run("print('before')\n1 / 0"))
    assert run["stdout"] == "before\n" and run["error"]["name"] == "ZeroDivisionError"
    assert any("1 / 0" in line for line in run["error"]["traceback"])
    events = call(client.code.run_stream(sandbox.id, "raise ValueError('no')"))
    assert [event["type"] for event in events] == ["error", "complete"]
    assert events[1]["data"]["error"]["message"] == "no"
    slow = call(sandbox.code.run("while True: pass", timeout_ms=300))
    assert slow["error"]["name"] == "TimeoutError" and "300 ms" in slow["error"]["message"]
    error = refused(call, lambda: sandbox.code.run("1", language="cobol"))
    assert (error.status, error.code) == (400, "unsupported_code_language")
    error = refused(call, lambda: sandbox.code.run("1", cwd="/etc"))
    assert (error.status, error.code) == (400, "path_outside_workspace")


def test_a_stream_cut_at_no_character(call: Call, sandbox: Any) -> None:
    text = "naïve \u2028 \u0085 \U0001f9ed\r\n"
    events = call(sandbox.code.run_stream(f"print({text!r} * 3, end='')"))
    assert "".join(event["data"] for event in events[:-1]) == text * 3
    assert events[-1]["data"]["stdout"] == text * 3


def test_a_repeated_key_runs_once(call: Call, sandbox: Any) -> None:
    key = str(uuid.uuid4())
    code = "n = globals().get('n', 0) + 1; n"
    first = call(sandbox.code.run(code, idempotency_key=key))
    again = call(sandbox.code.run(code, idempotency_key=key))
    assert first == again and first["outputs"][0]["value"] == "1"
    stream_key = str(uuid.uuid4())
    events = call(sandbox.code.run_stream(code, idempotency_key=stream_key))
    replayed = call(sandbox.code.run_stream(code, idempotency_key=stream_key))
    assert [event["type"] for event in replayed] == ["complete"] and replayed[-1] == events[-1]
    error = refused(call, lambda: sandbox.code.run("2", idempotency_key=key))
    assert (error.status, error.code) == (409, "idempotency_key_reused")


def test_rich_outputs_become_artifacts(client: Any, call: Call, sandbox: Any) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    code = f"display({{'image/svg+xml': {svg!r}}}, raw=True)"
    inline = call(sandbox.code.run(code))["outputs"]
    assert [(o["kind"], o["reason"]) for o in inline if o["format"] == "svg"] == [
        ("rejected", "requires_artifact_promotion")
    ]
    promoted = call(client.code.run(sandbox.id, code, artifact_policy="promote"))["outputs"]
    output = next(o for o in promoted if o["format"] == "svg")
    assert output["kind"] == "artifact" and output["contentType"] == "image/svg+xml"
    assert call(client.artifacts.download(output["artifactId"])) == svg.encode()


def test_files(client: Any, call: Call, sandbox: Any) -> None:
    sid = sandbox.id
    written = call(client.files.write(sid, "a b/ü.txt", "text\n", create_parents=True))
    assert written["path"] == "/workspace/a b/ü.txt" and written["type"] == "file"
    assert call(client.files.read(sid, "/workspace/a b/ü.txt")) == "text\n"
    assert call(client.files.stat(sid, "a b/ü.txt"))["sizeBytes"] == 5
    assert [entry["name"] for entry in call(client.files.list(sid))] == ["a b"]
    blob = bytes(range(256)) * 4
    call(client.files.write_bytes(sid, "blob", blob))
    assert call(client.files.read_bytes(sid, "blob")) == blob
    assert call(client.files.mkdir(sid, "d/e", parents=True))["type"] == "directory"
    assert call(client.files.move(sid, "blob", "d/e/blob"))["path"] == "/workspace/d/e/blob"
    url = call(client.files.download_url(sid, "d/e/blob"))
    assert url["method"] == "GET" and url["authMode"] == "api_key" and url["url"]
    call(client.files.delete(sid, "d/e/blob"))
    call(sandbox.files.write("b", "1"))
    error = refused(call, lambda: sandbox.files.write("b", "2", overwrite=False))
    assert (error.status, error.code) == (409, "file_already_exists")
    call(sandbox.files.write_bytes("c", b"\xff\xfe"))
    assert call(sandbox.files.read_bytes("c")) == b"\xff\xfe"
    error = refused(call, lambda: sandbox.files.read("c"))
    assert (error.status, error.code) == (400, "invalid_file_encoding")
    call(sandbox.files.mkdir("f"))
    call(sandbox.files.move("b", "f/b"))
    assert call(sandbox.files.stat("f/b"))["type"] == "file"
    assert call(sandbox.files.download_url("f/b"))["url"]
    assert "f" in [entry["name"] for entry in call(sandbox.files.list())]
    error = refused(call, lambda: sandbox.files.delete("f"))
    assert (error.status, error.code) == (409, "directory_not_empty")
    error = refused(call, lambda: sandbox.files.read("../../etc/passwd"))
    assert (error.status, error.code) == (400, "path_outside_workspace")
    error = refused(call, lambda: sandbox.files.write("big", "x" * 262_145))
    assert (error.status, error.code) == (413, "file_too_large")


def test_artifacts(client: Any, call: Call, sandbox: Any) -> None:
    call(sandbox.files.write("report.txt", "figures"))
    made = call(sandbox.artifacts.create(path="report.txt"))
    required = "id orgId projectId sandboxId name objectKey sizeBytes createdAt"
    assert set(required.split()) <= set(made) and made["name"] == "report.txt"
    other = call(client.artifacts.create(sandbox.id, path="report.txt", name="renamed"))
    assert other["name"] == "renamed"
    call(sandbox.kill())
    listed = [call(client.artifacts.list(sandbox.id)), call(sandbox.artifacts.list())]
    assert [sorted(one["id"] for one in page) for page in listed] == [
        sorted([made["id"], other["id"]])
    ] * 2
    assert call(client.artifacts.get(made["id"]))["sizeBytes"] == 7
    assert call(client.artifacts.download(made["id"])) == b"figures"
    url = call(client.artifacts.download_url(made["id"]))
    assert url["method"] == "GET" and url["authMode"] == "api_key" and "url" in url
    assert call(client.artifacts.delete(made["id"]))["deletedAt"]
    refused(call, lambda: client.artifacts.download(made["id"]))
    assert call(client.artifacts.get(made["id"]))["deletedAt"]


def test_commands_say_that_they_are_not_enabled(client: Any, call: Call, sandbox: Any) -> None:
    ran: list[str] = []
    for begin in (
        lambda: client.commands.run(sandbox.id, "ls"),
        lambda: sandbox.commands.run("ls", env={"A": "b"}, timeout_ms=1000),
        lambda: client.commands.run(sandbox.id, "ls", on_stdout=ran.append),
        lambda: client.commands.run(
            sandbox.id, "ls", collect=[{"path": "x"}], collect_on="always", on_stdout=ran.append
        ),
        lambda: client.commands.start(sandbox.id, "ls"),
        lambda: sandbox.commands.start("ls", on_stdout=ran.append),
        lambda: client.commands.get("cmd_1"),
        lambda: client.commands.cancel("cmd_1", mode="force"),
        lambda: sandbox.commands.cancel("cmd_1"),
        lambda: client.commands.logs("cmd_1", after_seq=0, limit=10),
        lambda: client.commands.stream_logs("cmd_1", reconnect=False),
    ):
        error = refused(call, begin)
        assert (error.status, error.code) == (403, "feature_not_enabled"), error
        assert "command" in str(error)
    assert ran == []


def test_previews_say_that_they_are_not_enabled(client: Any, call: Call, sandbox: Any) -> None:
    for begin in (
        lambda: client.previews.create(sandbox.id, port=8080),
        lambda: sandbox.previews.create(port=8080, auth_mode="token"),
        lambda: client.previews.list(sandbox.id),
        lambda: sandbox.previews.list(),
        lambda: client.previews.get("prv_1"),
        lambda: client.previews.revoke("prv_1"),
    ):
        error = refused(call, begin)
        assert (error.status, error.code) == (403, "feature_not_enabled"), error
        assert "preview" in str(error)


def test_errors_carry_code_and_details(client: Any, call: Call, server: Server) -> None:
    error = refused(call, lambda: client.sandboxes.get("sbx_none"))
    assert (error.status, error.code) == (404, "not_found") and str(error)
    error = refused(call, lambda: client.sandboxes.create(ttl_ms=-1))
    assert (error.status, error.code) == (400, "invalid_request")
    assert error.details["field"] == "ttlMs"
    stranger = CrowNest(api_key="cn_live_0123456789_wrong", base_url=server.url)
    with stranger, pytest.raises(CrowNestApiError) as caught:
        stranger.sandboxes.list()
    assert caught.value.status == 401
    sandbox = call(client.sandboxes.create())
    call(sandbox.kill())
    error = refused(call, lambda: sandbox.code.run("1"))
    assert (error.status, error.code) == (410, "sandbox_destroyed")
