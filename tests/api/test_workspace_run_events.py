# SPDX-License-Identifier: Apache-2.0
"""Events of workspace runs: streams, pages and limits."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import NewServer
from quick.client import Client
from quick.server import CONFIG
from quick.workspace_runs import (
    RUNS,
    create,
    events,
    finish,
    follow,
    get,
    output,
    pack,
    put,
    refused,
    start,
)


def test_the_stream_follows_to_the_end(client: Client) -> None:
    run = start(
        client,
        "python a.py",
        {"a.py": "import time\nfor n in range(3):\n    print('ä\\u2028', n, flush=True)\n    time.sleep(0.2)\n"},
    )
    found = follow(client, run["id"])
    assert found[-1]["type"] == "terminal"
    assert found[-1]["workspaceRun"] == get(client, run["id"])
    assert found == events(client, run["id"])
    assert "".join(e["data"] for e in found if e["type"] == "stdout") == "".join(
        f"ä\u2028 {n}\n" for n in range(3)
    )
    # Taken up anywhere, it goes on from there and ends as well.
    for after in (0, 3, found[-2]["seq"]):
        assert follow(client, run["id"], after) == [e for e in found if e["seq"] > after]
    for after in (found[-1]["seq"], 10_000):
        (last,) = follow(client, run["id"], after)
        assert (last["type"], last["seq"]) == ("terminal", found[-1]["seq"])


def test_a_stream_can_wait_for_the_start(client: Client) -> None:
    run = create(client, "python -c 'print(1)'")
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(follow, client, run["id"])
        put(client, run["id"], pack({"a": ""}))
        client.post(f"{RUNS}/{run['id']}/start")
        assert following.result(60)[-1]["workspaceRun"]["status"] == "succeeded"


def test_output_comes_while_it_is_made(client: Client) -> None:
    run = start(client, "python a.py", {"a.py": "import time\nprint('now', flush=True)\ntime.sleep(60)\n"})
    with client.http.stream("GET", f"{RUNS}/{run['id']}/events?stream=true") as response:
        for line in response.iter_lines():
            if line.startswith("data: ") and json.loads(line[6:])["type"] == "stdout":
                break
    client.post(f"{RUNS}/{run['id']}/cancel")


@pytest.mark.nightly
def test_heartbeats_have_the_last_real_number(client: Client) -> None:
    run = create(client, "python -c 'print(1)'")
    with client.http.stream("GET", f"{RUNS}/{run['id']}/events?stream=true") as response:
        for line in response.iter_lines():
            if line.startswith("data: ") and json.loads(line[6:])["type"] == "heartbeat":
                assert json.loads(line[6:])["seq"] == 1
                break
    client.post(f"{RUNS}/{run['id']}/cancel")


def test_output_is_bounded(new_server: NewServer) -> None:
    client = new_server(CONFIG + "[workspace_runs]\noutput_bytes = 10000\n").client
    run = finish(client, "python -c \"print('ä' * 20000)\"", {"a": ""})
    assert run["status"] == "succeeded"
    assert output(client, run["id"]) == "ä" * 5000
    (cut,) = [e for e in events(client, run["id"]) if e["type"] == "stderr"]
    assert cut["truncated"] is True and "10000 bytes" in cut["data"]


def test_pages_of_events(client: Client) -> None:
    run = finish(client, "python -c 'print(1)'", {"a": ""})
    everything = events(client, run["id"])
    assert events(client, run["id"], limit=1) == everything
    assert events(client, run["id"], after=2) == everything[2:]
    for query in ("limit=0", "limit=501", "afterSeq=-1", "afterSeq=x", "stream=yes", "cursor=x"):
        response = client.http.get(f"{RUNS}/{run['id']}/events?{query}")
        assert response.status_code == 400
    assert refused(lambda: client.get(f"{RUNS}/wsr_none/events")) == (404, "not_found")
