# SPDX-License-Identifier: Apache-2.0
"""Workspace runs: upload an archive, run a command in it, collect files."""

import hashlib
import json
import time

from conftest import NewServer
from quick.client import Client, Json, Sandbox
from quick.processes import wait_until
from quick.server import CONFIG, Server
from quick.workspace_runs import (
    RUNS,
    create,
    events,
    finish,
    get,
    output,
    pack,
    put,
    refused,
    send,
    start,
    transfer,
    wait_for_end,
)


def test_a_run_from_the_archive_to_the_evidence(client: Client) -> None:
    run = create(
        client,
        "TOKEN=geheim python tools/main.py 'a b' 2",
        artifacts=[{"path": "out/report.txt", "name": "report"}, {"path": "none.txt"}],
        metadata={"suite": "one"},
        sourceMetadata={"repository": "äöü", "depth": [1, {"x": None}]},
        timeoutMs=50_000,
    )
    assert run["id"].startswith("wsr_") and run["status"] == "awaiting_archive"
    assert (run["keepSandbox"], run["cleanupStatus"]) == (False, "pending")
    assert run["sourceMetadata"] == {"repository": "äöü", "depth": [1, {"x": None}]}
    assert run["envKeys"] == ["TOKEN"] and "geheim" not in json.dumps(run["envKeys"])
    assert run["evidenceAvailable"] is False and "archive" not in run

    archive = pack(
        {
            "tools/main.py": "import os, sys, helper\n"
            "print(__name__, sys.argv, os.getcwd(), os.environ['TOKEN'], helper.x)\n"
            "print('warn', file=sys.stderr)\n"
            "os.mkdir('out')\nopen('out/report.txt', 'w').write('done')\n",
            "tools/helper.py": "x = 7\n",
        }
    )
    answer = put(client, run["id"], archive)
    digest = hashlib.sha256(archive).hexdigest()
    assert answer["archive"]["sha256"] == digest
    assert answer["archive"]["sizeBytes"] == len(archive)
    assert answer["workspaceRun"]["status"] == "archive_uploaded"

    started = client.post(f"{RUNS}/{run['id']}/start")["workspaceRun"]
    assert started["status"] not in ("awaiting_archive", "archive_uploaded")
    ended = wait_for_end(client, run["id"])
    assert (ended["status"], ended["exitCode"]) == ("succeeded", 0), events(client, run["id"])
    assert ended["cleanupStatus"] == "succeeded" and ended["orchestrationSucceeded"] is True
    assert "failureReason" not in ended and "failureClass" not in ended
    assert ended["durationMs"] >= 0 and ended["finishedAt"] >= ended["startedAt"]
    assert (
        output(client, run["id"])
        == "__main__ ['tools/main.py', 'a b', '2'] /workspace geheim 7\n"
    )
    assert output(client, run["id"], "stderr") == "warn\n"

    # The sandbox is gone, what was collected is not.
    assert client.get(f"/v1/sandboxes/{ended['sandboxId']}")["sandbox"]["status"] == "destroyed"
    (artifact_id,) = ended["artifactIds"]
    artifact = client.get(f"/v1/artifacts/{artifact_id}")["artifact"]
    assert artifact["name"] == "report"
    assert client.http.get(f"/v1/artifacts/{artifact_id}/download").content == b"done"
    (failure,) = ended["artifactErrors"]
    assert (failure["path"], failure["code"]) == ("none.txt", "file_not_found")

    kinds = [event["type"] for event in events(client, run["id"])]
    assert kinds[-1] == "terminal" and kinds.count("terminal") == 1
    statuses = [e["status"] for e in events(client, run["id"]) if e["type"] == "status"]
    assert statuses == [
        "awaiting_archive",
        "archive_uploaded",
        "starting",
        "extracting",
        "running",
        "collecting",
        "succeeded",
    ]
    seqs = [event["seq"] for event in events(client, run["id"])]
    assert seqs == list(range(1, len(seqs) + 1))
    assert all(event["createdAt"].endswith("Z") for event in events(client, run["id"]))

    evidence = client.get(f"{RUNS}/{run['id']}/evidence")["evidence"]
    assert evidence["workspaceRunId"] == run["id"]
    for field in ("status", "command", "exitCode", "artifactIds", "archive", "envKeys", "cleanupStatus"):
        assert evidence[field] == ended[field]


def test_a_sandbox_of_ones_own(client: Client, sandbox: Sandbox) -> None:
    sandbox.write("kept.txt", "before")
    run = finish(
        client,
        "python a.py",
        {"a.py": "print(open('kept.txt').read()); open('made.txt', 'w').write('x')"},
        sandboxId=sandbox.id,
    )
    assert (run["status"], run["sandboxId"]) == ("succeeded", sandbox.id)
    assert run["cleanupStatus"] == "not_requested"
    assert output(client, run["id"]) == "before\n"
    assert sandbox.read("made.txt") == "x"
    # The interpreters of the run are gone.
    assert client.get(f"{sandbox.path}/code/contexts")["data"] == []


def test_two_runs_in_one_sandbox_conflict(client: Client, sandbox: Sandbox) -> None:
    slow = start(client, "python -c 'import time; time.sleep(60)'", {"a": ""}, sandboxId=sandbox.id)
    wait_until(lambda: get(client, slow["id"])["status"] == "running", "the first runs")
    second = finish(client, "python -c 'print(1)'", {"a": ""}, sandboxId=sandbox.id)
    assert (second["status"], second["failureReason"]) == ("failed", "sandbox_conflict")
    assert client.post(f"{RUNS}/{slow['id']}/cancel")["workspaceRun"]["status"] == "canceled"
    assert finish(client, "python -c 'print(1)'", {"a": ""}, sandboxId=sandbox.id)["status"] == "succeeded"


def test_a_sandbox_that_went_away(client: Client) -> None:
    sandbox = client.sandbox()
    run = create(client, "python -c 'print(1)'", sandboxId=sandbox.id)
    put(client, run["id"], pack({"a": ""}))
    sandbox.delete()
    client.post(f"{RUNS}/{run['id']}/start")
    assert wait_for_end(client, run["id"])["failureReason"] == "sandbox_unavailable"


def test_a_sandbox_is_kept_on_request(client: Client) -> None:
    run = finish(client, "python -c \"open('x', 'w').write('1')\"", {"a": ""}, keepSandbox=True)
    assert run["cleanupStatus"] == "not_requested"
    kept = Sandbox(client, run["sandboxId"])
    assert kept.read("x") == "1"
    kept.delete()


def test_the_time_limit_is_for_the_whole(client: Client) -> None:
    run = finish(
        client,
        "python -c 'import time; time.sleep(0.5); print(1, flush=True)' && python -c 'while True: pass'",
        {"a": ""},
        timeoutMs=4000,
        artifacts=[{"path": "a"}],
    )
    assert (run["status"], run["failureReason"]) == ("failed", "timeout")
    assert run["failureClass"] == "user_command" and "exitCode" not in run
    assert output(client, run["id"]) == "1\n"
    assert len(run["artifactIds"]) == 1 and run["cleanupStatus"] == "succeeded"


def test_cancel_in_each_state(client: Client) -> None:
    run = create(client, "python -c 'print(1)'")
    cancel = f"{RUNS}/{run['id']}/cancel"
    canceled = client.post(cancel)["workspaceRun"]
    assert (canceled["status"], canceled["failureClass"]) == ("canceled", "canceled")
    assert client.post(cancel)["workspaceRun"] == canceled
    assert refused(lambda: client.post(f"{RUNS}/{run['id']}/start")) == (409, "conflict")
    assert refused(lambda: put(client, run["id"], pack({"a": ""}))) == (409, "conflict")
    assert events(client, run["id"])[-1]["workspaceRun"]["status"] == "canceled"

    run = create(client, "python -c 'print(1)'")
    put(client, run["id"], pack({"a": ""}))
    assert client.post(f"{RUNS}/{run['id']}/cancel")["workspaceRun"]["status"] == "canceled"

    run = start(client, "python -c \"print('on', flush=True)\nwhile True: pass\"", {"a": ""})
    wait_until(lambda: "on" in output(client, run["id"]), "the command runs")
    canceled = client.post(f"{RUNS}/{run['id']}/cancel")["workspaceRun"]
    assert (canceled["status"], canceled["cleanupStatus"]) == ("canceled", "succeeded")
    assert client.get(f"/v1/sandboxes/{canceled['sandboxId']}")["sandbox"]["status"] == "destroyed"

    run = finish(client, "python -c 'print(1)'", {"a": ""})
    assert client.post(f"{RUNS}/{run['id']}/cancel")["workspaceRun"]["status"] == "succeeded"


def test_runs_wait_for_their_turn(new_server: NewServer) -> None:
    client = new_server(CONFIG + "[workspace_runs]\nat_once = 1\n").client
    first = start(client, "python -c 'import time; time.sleep(60)'", {"a": ""})
    second = start(client, "python -c 'print(2)'", {"a": ""})
    third = start(client, "python -c 'print(3)'", {"a": ""})
    wait_until(lambda: get(client, first["id"])["status"] == "running", "the first runs")
    assert get(client, second["id"])["status"] == get(client, third["id"])["status"] == "starting"
    assert client.post(f"{RUNS}/{second['id']}/cancel")["workspaceRun"]["status"] == "canceled"
    assert get(client, third["id"])["status"] == "starting"
    client.post(f"{RUNS}/{first['id']}/cancel")
    assert wait_for_end(client, third["id"])["status"] == "succeeded"
    assert output(client, second["id"]) == ""


def test_a_server_that_dies_leaves_no_run_behind(new_server: NewServer) -> None:
    server = new_server()
    client = server.client
    run = start(client, "python -c \"print('on', flush=True)\nwhile True: pass\"", {"a": ""})
    other = client.sandbox()
    mine = start(client, "python -c 'import time; time.sleep(60)'", {"a": ""}, sandboxId=other.id)
    waiting = create(client, "python -c 'print(5)'")
    put(client, waiting["id"], pack({"a": ""}))
    wait_until(lambda: "on" in output(client, run["id"]), "the command runs")
    wait_until(lambda: get(client, mine["id"])["status"] == "running", "the other runs")
    server.restart()
    client = server.client
    for run_id in (run["id"], mine["id"]):
        ended = wait_for_end(client, run_id)
        assert (ended["status"], ended["failureReason"]) == ("failed", "internal_error")
        assert ended["failureClass"] == "platform" and ended["orchestrationSucceeded"] is False
        found = events(client, run_id)
        assert found[-1]["type"] == "terminal"
        assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert "on" in output(client, run["id"])
    destroyed = get(client, run["id"])
    assert destroyed["cleanupStatus"] == "succeeded"
    assert client.get(f"/v1/sandboxes/{destroyed['sandboxId']}")["sandbox"]["status"] == "destroyed"
    assert client.get(f"/v1/sandboxes/{other.id}/code/contexts")["data"] == []
    # What waited for its start can still be started.
    client.post(f"{RUNS}/{waiting['id']}/start")
    assert wait_for_end(client, waiting["id"])["status"] == "succeeded"


def test_a_server_that_stops_ends_runs_at_its_next_start(new_server: NewServer) -> None:
    server = new_server(CONFIG + "shutdown_grace_ms = 100\n")
    run = start(server.client, "python -c 'while True: pass'", {"a": ""})
    wait_until(lambda: get(server.client, run["id"])["status"] == "running", "the command runs")
    assert server.stop() == 0
    server.start()
    assert wait_for_end(server.client, run["id"])["failureReason"] == "internal_error"


def test_lists_are_filtered_and_paged(new_server: NewServer) -> None:
    client = new_server().client
    ids = [create(client, "python a.py", metadata={"n": str(n % 2)})["id"] for n in range(5)]
    client.post(f"{RUNS}/{ids[0]}/cancel")

    def listed(**query: str | int) -> list[str]:
        found: list[str] = []
        while True:
            page = client.get(RUNS, **query)
            found += [run["id"] for run in page["data"]]
            if not page["hasMore"]:
                assert "nextCursor" not in page
                return found
            query["cursor"] = page["nextCursor"]

    assert sorted(listed(limit=2)) == sorted(ids)
    assert listed(status="canceled") == [ids[0]]
    assert set(listed(**{"metadata.n": "1"})) == {ids[1], ids[3]}
    assert listed(projectId="prj_none") == []
    assert refused(lambda: listed(status="gone"))[1] == "invalid_request"
    assert refused(lambda: client.get(f"{RUNS}/wsr_none")) == (404, "not_found")


def test_idempotency_keys(client: Client) -> None:
    headers = {"idempotency-key": f"key-{time.time_ns()}"}
    body = {"command": "python -c 'print(1)'"}
    first = client.http.post(RUNS, json=body, headers=headers)
    assert first.status_code == 201
    again = client.http.post(RUNS, json=body, headers=headers)
    assert again.json() == first.json() and again.headers["idempotency-replayed"] == "true"
    other = client.http.post(RUNS, json={"command": "python b.py"}, headers=headers)
    assert other.json()["error"]["code"] == "idempotency_key_reused"


def test_old_runs_are_forgotten(new_server: NewServer) -> None:
    server = new_server(CONFIG + "[workspace_runs]\nkept_ms = 1\n")
    run = finish(server.client, "python -c 'print(1)'", {"a": ""})

    def is_gone() -> bool:
        return server.client.http.get(f"{RUNS}/{run['id']}").status_code == 404

    wait_until(is_gone, "the run is forgotten", seconds=60)


def key(server: Server, *scopes: str, projects: list[str] | None = None) -> Client:
    body: Json = {"name": "test", "scopes": list(scopes)}
    if projects:
        body["projectIds"] = projects
    return Client(server.url, server.client.post("/v1/api-keys", body)["secret"])


def test_keys_need_scopes_and_projects(server: Server, client: Client) -> None:
    project = client.post("/v1/projects", {"name": "runs"})["project"]["id"]
    run = create(client, "python a.py")
    reader = key(server, "workspace_run:read")
    assert get(reader, run["id"])["id"] == run["id"]
    for call in (
        lambda: create(reader, "python a.py"),
        lambda: reader.post(f"{RUNS}/{run['id']}/start"),
        lambda: reader.post(f"{RUNS}/{run['id']}/cancel"),
        lambda: put(reader, run["id"], pack({"a": ""})),
    ):
        assert refused(call) == (403, "forbidden")
    scopes = ("workspace_run:create", "workspace_run:read", "workspace_run:cancel")
    other = key(server, *scopes, projects=[project])
    made = create(other, "python a.py")
    assert made["projectId"] == project
    assert [one["id"] for one in other.get(RUNS)["data"]] == [made["id"]]
    for call in (
        lambda: get(other, run["id"]),
        lambda: other.get(f"{RUNS}/{run['id']}/events"),
        lambda: other.post(f"{RUNS}/{run['id']}/cancel"),
        lambda: put(other, run["id"], pack({"a": ""})),
        lambda: create(other, "python a.py", sandboxId=client.sandbox().id),
        lambda: create(other, "python a.py", projectId=run["projectId"]),
    ):
        assert refused(call) == (404, "not_found")
    archive = pack({"a": ""})
    theirs = transfer(client, run["id"], archive)
    assert send(other, theirs, archive).status_code == 404
    for one in (reader, other):
        one.close()


def test_repeated_creation_survives_a_restart(new_server: NewServer) -> None:
    server = new_server()
    headers = {"idempotency-key": "once"}
    first = server.client.http.post(RUNS, json={"command": "python a.py"}, headers=headers)
    server.restart()
    again = server.client.http.post(RUNS, json={"command": "python a.py"}, headers=headers)
    assert again.json() == first.json()
    assert len(server.client.get(RUNS)["data"]) == 1
