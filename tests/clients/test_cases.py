# SPDX-License-Identifier: Apache-2.0
"""Faults of `cases/` that a client can meet, through the published Python client."""

import asyncio
import threading
from typing import Any

import pytest

from cases.test_case_56_odd_names import NAMES
from cases.test_case_57_binary_content import CONTENTS
from clients.either import Call, Either, refused
from quick.server import Server

SLOW = "import time\nfor i in range(10): print(i, flush=True); time.sleep(0.1)\nx = 'done'"


def test_case_11_a_stream_that_is_left(either: Either, sandbox: Any) -> None:
    context = either.call(sandbox.code.create_context())
    stream = sandbox.code.run_stream(SLOW, context_id=context["id"])
    if hasattr(stream, "aclose"):

        async def read_one() -> Any:
            event = await anext(stream)
            await stream.aclose()
            return event

        event = either.loop.run_until_complete(read_one())
    else:
        event = next(stream)
        stream.close()
    assert event == {"type": "stdout", "data": "0\n"}
    after = either.call(sandbox.code.run("x", context_id=context["id"]))
    assert after["outputs"][0]["value"] == "'done'" and after["executionCount"] == 2


def test_case_11_a_call_that_is_given_up(server: Server) -> None:
    from crownest import AsyncCrowNest

    async def give_up() -> None:
        async with AsyncCrowNest(api_key=server.key, base_url=server.url) as client:
            sandbox = await client.sandboxes.create()
            context = await sandbox.code.create_context()
            call = asyncio.create_task(sandbox.code.run(SLOW, context_id=context["id"]))
            path = f"/v1/sandboxes/{sandbox.id}/code/contexts/{context['id']}"
            while not server.client.get(path)["context"]["running"]:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            after = await sandbox.code.run("x", context_id=context["id"])
            assert after["outputs"][0]["value"] == "'done'" and after["executionCount"] == 2
            await sandbox.kill()

    asyncio.run(give_up())


@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_case_12_a_failure_before_other_runs(server: Server, flavour: str) -> None:
    owner = Either("sync", server.url, server.key)
    sandbox = owner.client.sandboxes.create()
    context = sandbox.code.create_context()["id"]
    codes = ["import time; time.sleep(0.5)", "1 / 0", "y = 5"]
    runs: dict[str, Any] = {}

    def run(code: str) -> None:
        each = Either(flavour, server.url, server.key)
        begun = each.client.code.run(sandbox.id, code, context_id=context)
        runs[code] = each.call(begun)
        each.close()

    threads = [threading.Thread(target=run, args=[code]) for code in codes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(runs[code]["executionCount"] for code in codes) == [1, 2, 3]
    assert runs["1 / 0"]["error"]["name"] == "ZeroDivisionError"
    assert [code for code in codes if "error" in runs[code]] == ["1 / 0"]
    assert sandbox.code.run("y", context_id=context)["outputs"][0]["value"] == "5"
    sandbox.kill()
    owner.close()


def test_case_20_characters_written_byte_by_byte(call: Call, sandbox: Any) -> None:
    code = "import sys, time\nfor b in '🦔é€'.encode():\n    n = sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(0.02)"
    events = call(sandbox.code.run_stream(code))
    text = "".join(event["data"] for event in events if event["type"] == "stdout")
    assert text == "🦔é€" == events[-1]["data"]["stdout"]
    assert call(sandbox.code.run(code))["stdout"] == "🦔é€"


def test_case_20_much_text_and_every_line_end(call: Call, sandbox: Any) -> None:
    piece = "aé€🦔\ra\r\nb\n\rc\n\ndata: d\nevent: e\n: f\u2028\u2029\u0085"
    code = f"import sys; n = sys.stdout.write({piece!r} * 10_000)"
    events = call(sandbox.code.run_stream(code))
    text = "".join(event["data"] for event in events if event["type"] == "stdout")
    assert text == piece * 10_000 == events[-1]["data"]["stdout"]


def test_case_56_odd_names(client: Any, call: Call, sandbox: Any) -> None:
    for name in NAMES:
        written = call(client.files.write(sandbox.id, name, name))
        assert (written["name"], written["path"]) == (name, f"/workspace/{name}")
        assert call(client.files.read(sandbox.id, name)) == name
        assert call(client.files.stat(sandbox.id, f"/workspace/{name}"))["name"] == name
    listed = [entry["name"] for entry in call(client.files.list(sandbox.id))]
    assert sorted(listed) == sorted(NAMES)
    seen = call(sandbox.code.run("import os; print(sorted(os.listdir()))"))
    assert seen["stdout"] == f"{sorted(NAMES)!r}\n"
    for name in NAMES:
        call(client.files.move(sandbox.id, name, "other"))
        call(client.files.delete(sandbox.id, "other"))
    assert call(client.files.list(sandbox.id)) == []
    for name in ("x" * 256, "a\x00b", ""):
        error = refused(call, lambda name=name: client.files.write(sandbox.id, name, "x"))
        assert (error.status, error.code) == (400, "invalid_request")


def test_case_57_binary_contents(client: Any, call: Call, sandbox: Any) -> None:
    for name, content in CONTENTS.items():
        call(client.files.write_bytes(sandbox.id, name, content))
        assert call(client.files.read_bytes(sandbox.id, name)) == content
        assert call(client.files.stat(sandbox.id, name))["sizeBytes"] == len(content)
        made = call(sandbox.artifacts.create(path=name))
        assert call(client.artifacts.download(made["id"])) == content
    code = "import hashlib, os; print([hashlib.sha256(open(n, 'rb').read()).hexdigest() for n in sorted(os.listdir())])"
    from hashlib import sha256

    digests = [sha256(CONTENTS[name]).hexdigest() for name in sorted(CONTENTS)]
    assert call(sandbox.code.run(code))["stdout"] == f"{digests!r}\n"


def test_case_59_refusals(client: Any, call: Call, sandbox: Any) -> None:
    other = call(client.sandboxes.create())
    foreign = call(other.code.create_context())["id"]
    javascript = call(sandbox.code.create_context(language="javascript"))["id"]
    for fields, status, code in (
        ({"language": "Python"}, 400, "unsupported_code_language"),
        ({"language": "js"}, 400, "unsupported_code_language"),
        ({"context_id": "cctx_none"}, 404, "not_found"),
        ({"context_id": foreign}, 404, "not_found"),
        ({"context_id": javascript, "language": "python"}, 400, "invalid_request"),
        ({"timeout_ms": 0}, 400, "invalid_request"),
        ({"cwd": "/etc"}, 400, "path_outside_workspace"),
    ):
        for method in (sandbox.code.run, sandbox.code.run_stream):
            error = refused(call, lambda m=method, f=fields: m("1", **f))
            assert (error.status, error.code) == (status, code), (fields, error)
            assert len(str(error)) > 5
    error = refused(call, lambda: sandbox.code.run("x" * 10_000_000))
    assert (error.status, error.code) == (413, "code_source_too_large")
    for wrong in (None, 5, ["1"]):
        error = refused(call, lambda wrong=wrong: sandbox.code.run(wrong))
        assert (error.status, error.code) == (400, "invalid_request")
    call(other.kill())
