# SPDX-License-Identifier: Apache-2.0
"""Workspace runs: upload an archive, run a command in it, collect files."""

import hashlib
import io
import json
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from conftest import NewServer
from quick.client import ApiError, Client, Json, Sandbox
from quick.processes import wait_until
from quick.server import CONFIG, Server

RUNS = "/v1/workspace-runs"
ENDED = ("succeeded", "failed", "canceled")

Files = dict[str, str | bytes]


def pack(files: Files, more: Callable[[tarfile.TarFile], None] | None = None) -> bytes:
    """A .tar.gz of regular files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o644
            archive.addfile(info, io.BytesIO(data))
        if more is not None:
            more(archive)
    return buffer.getvalue()


def special(name: str, kind: bytes, target: str = "", size: int = 0) -> Callable[[tarfile.TarFile], None]:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type = kind
        info.linkname = target
        info.size = size
        archive.addfile(info, io.BytesIO(b"x" * size))

    return add


def create(client: Client, command: str, **fields: Any) -> Json:
    run: Json = client.post(RUNS, {"command": command, **fields})["workspaceRun"]
    return run


def put(client: Client, run_id: str, archive: bytes, **headers: str) -> Json:
    sent = {
        "content-type": "application/gzip",
        "x-crownest-archive-sha256": hashlib.sha256(archive).hexdigest(),
        "x-crownest-archive-size": str(len(archive)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    response = client.http.put(f"{RUNS}/{run_id}/archive", content=archive, headers=sent)
    if not response.is_success:
        raise ApiError(response)
    answer: Json = response.json()
    return answer


def get(client: Client, run_id: str) -> Json:
    run: Json = client.get(f"{RUNS}/{run_id}")["workspaceRun"]
    return run


def start(client: Client, command: str, files: Files | bytes, **fields: Any) -> Json:
    """A run on its way."""
    run = create(client, command, **fields)
    put(client, run["id"], files if isinstance(files, bytes) else pack(files))
    started: Json = client.post(f"{RUNS}/{run['id']}/start")["workspaceRun"]
    return started


def wait_for_end(client: Client, run_id: str) -> Json:
    wait_until(lambda: get(client, run_id)["status"] in ENDED, "the run ends", seconds=120)
    return get(client, run_id)


def events(client: Client, run_id: str, after: int = 0, limit: int = 500) -> list[Json]:
    """All events, page by page, as clients do."""
    found: list[Json] = []
    while True:
        page = client.get(f"{RUNS}/{run_id}/events", afterSeq=after, limit=limit)
        assert len(page["data"]) <= limit
        found += page["data"]
        if not page["data"]:
            assert "nextSeq" not in page and page["hasMore"] is False
            return found
        after = page["data"][-1]["seq"]
        assert page["nextSeq"] == after
        if not page["hasMore"]:
            return found


def output(client: Client, run_id: str, stream: str = "stdout") -> str:
    return "".join(e["data"] for e in events(client, run_id) if e["type"] == stream)


def finish(client: Client, command: str, files: Files | bytes, **fields: Any) -> Json:
    return wait_for_end(client, start(client, command, files, **fields)["id"])


def refused(call: Callable[[], Any]) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value.status, caught.value.code


# ── the whole way


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


def test_python_scripts_see_what_a_process_would_see(client: Client) -> None:
    run = finish(
        client,
        "cd app && PYTHONPATH=../lib python -m pkg.main x && python -c 'import sys; print(sys.argv, sys.path[0] == \"\")' y"
        " && python script.py && cd .. && python boom.py",
        {
            "app/pkg/__init__.py": "",
            "app/pkg/main.py": "import sys, shared\nprint(__name__, sys.argv[1:], sys.path[0], shared.y)\n",
            "lib/shared.py": "y = 9\n",
            "app/script.py": "import __main__, sys, atexit, os\natexit.register(lambda: print('bye'))\n"
            "def f(): pass\nassert __main__.f is f\nprint(__file__, sys.path[0], os.getcwd())\n",
            "boom.py": "def f():\n    raise ValueError('no')\nf()\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "__main__ ['x'] /workspace/app 9",
        "['-c', 'y'] True",
        "/workspace/app/script.py /workspace/app /workspace/app",
        "bye",
    ]
    trace = output(client, run["id"], "stderr")
    assert trace.startswith("Traceback (most recent call last):\n") and "cell" not in trace
    assert 'File "/workspace/boom.py", line 3, in <module>' in trace
    assert trace.endswith("ValueError: no\n")
    assert (run["status"], run["exitCode"]) == ("failed", 1)
    assert (run["failureReason"], run["failureClass"]) == ("command_exit", "user_command")
    assert run["orchestrationSucceeded"] is True


@pytest.mark.parametrize(
    ("code", "exit_code", "error"),
    [
        ("raise SystemExit(7)", 7, ""),
        ("import sys; sys.exit('nope')", 1, "nope\n"),
        ("exit()", 0, ""),
        ("x = (", 1, "SyntaxError"),
        ("import sys\nsys.excepthook = lambda *a: print('hook')\n1/0", 1, ""),
    ],
)
def test_exit_codes_of_python(client: Client, code: str, exit_code: int, error: str) -> None:
    run = finish(client, "python a.py", {"a.py": code})
    assert run["exitCode"] == exit_code
    assert error in output(client, run["id"], "stderr")
    assert run["status"] == ("succeeded" if exit_code == 0 else "failed")


def test_a_file_that_is_missing(client: Client) -> None:
    run = finish(client, "python none.py", {"a": ""})
    assert run["exitCode"] == 2
    assert "can't open file '/workspace/none.py'" in output(client, run["id"], "stderr")
    run = finish(client, "cd none && python a.py", {"a": ""})
    assert run["exitCode"] == 1
    assert output(client, run["id"], "stderr") == "sh: cd: none: No such file or directory\n"
    run = finish(client, "node none.js", {"a": ""})
    assert run["exitCode"] == 1 and "none.js" in output(client, run["id"], "stderr")


def test_javascript_and_typescript(client: Client) -> None:
    run = finish(
        client,
        "cd js && A=1 node main.js x && node module.mjs && tsx main.ts y && node -e 'console.log(process.argv.length)' z",
        {
            "js/main.js": "const h = require('./helper.js');\n"
            "console.log(process.argv, __filename, process.env.A, h.y);\n"
            "process.on('exit', (code) => console.log('exit', code));\n"
            "setTimeout(() => console.log('later'), 5);\n",
            "js/helper.js": "exports.y = 3;\n",
            "js/module.mjs": "import fs from 'node:fs';\nconst x = await Promise.resolve(2);\n"
            "console.log(import.meta.url, x, fs.existsSync('main.js'));\n",
            "js/main.ts": "import { w } from './lib';\nconst a: number = w;\nconsole.log(a, process.argv.slice(2));\n",
            "js/lib.ts": "export const w: number = 9;\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "[ '/usr/bin/node', '/workspace/js/main.js', 'x' ] /workspace/js/main.js 1 3",
        "later",
        "exit 0",
        "file:///workspace/js/module.mjs 2 true",
        "9 [ 'y' ]",
        "2",
    ], events(client, run["id"])
    assert run["exitCode"] == 0


@pytest.mark.parametrize(
    ("code", "exit_code", "error"),
    [
        ("process.exit(5)", 5, ""),
        ("process.exitCode = 4", 4, ""),
        ("throw new TypeError('bad')", 1, "TypeError: bad"),
        ("Promise.reject(new Error('late'))", 1, "Error: late"),
        ("process.on('exit', (c) => console.error('at exit', c)); throw new Error('x')", 1, "at exit 1"),
    ],
)
def test_exit_codes_of_javascript(client: Client, code: str, exit_code: int, error: str) -> None:
    run = finish(client, "node a.js", {"a.js": code})
    assert run["exitCode"] == exit_code
    text = output(client, run["id"], "stderr")
    assert error in text and "cell-" not in text


def test_scripts_know_that_they_are_the_program(client: Client) -> None:
    run = finish(
        client,
        "node a.js && node b.mjs && tsx c.ts",
        {
            "a.js": "const b = require('./lib.js');\nconsole.log(require.main === module, require.main.filename, b);\n",
            "lib.js": "module.exports = require.main === module;\n",
            "b.mjs": "import other from './lib.mjs';\nconsole.log(import.meta.main, other);\n",
            "lib.mjs": "export default import.meta.main;\n",
            "c.ts": "console.log(import.meta.main as boolean);\n",
        },
    )
    assert output(client, run["id"]) == "true /workspace/a.js false\ntrue false\ntrue\n", events(
        client, run["id"]
    )


def test_the_first_failure_ends_the_line(client: Client) -> None:
    run = finish(client, "python -c 'import sys; sys.exit(3)' && python -c 'print(1)'", {"a": ""})
    assert run["exitCode"] == 3 and output(client, run["id"]) == ""


# ── what is refused


@pytest.mark.parametrize(
    "command",
    ["ls", "bash a.sh", "python a.py | cat", "python a.py > x", "python $X", "python a.py; node b.js", "python"],
)
def test_what_needs_a_shell_is_refused(client: Client, command: str) -> None:
    with pytest.raises(ApiError) as caught:
        create(client, command)
    assert (caught.value.status, caught.value.code) == (400, "unsupported_runtime_option")
    assert "possible are" in caught.value.message and caught.value.details["field"] == "command"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"command": ""}, "invalid_request"),
        ({"command": "python 'a"}, "invalid_request"),
        ({"command": "cd /etc && python a.py"}, "path_outside_workspace"),
        ({"command": "CROWNEST_X=1 python a.py"}, "reserved_env_key"),
        ({"command": "python a.py", "timeoutMs": 600_001}, "invalid_request"),
        ({"command": "python a.py", "artifacts": [{"name": "x"}]}, "invalid_request"),
        ({"command": "python a.py", "env": {"A": "1"}}, "invalid_request"),
        ({"command": "python a.py", "sandboxId": "sbx_none"}, "not_found"),
        ({"command": "python a.py", "projectId": "prj_none"}, "not_found"),
    ],
)
def test_bad_requests(client: Client, fields: Json, code: str) -> None:
    assert refused(lambda: client.post(RUNS, fields))[1] == code


def test_uploads_are_checked(client: Client) -> None:
    run = create(client, "python a.py")
    archive = pack({"a.py": "print(1)"})
    assert refused(lambda: put(client, run["id"], archive, x_crownest_archive_sha256="0" * 64)) == (
        400,
        "upload_checksum_mismatch",
    )
    assert refused(lambda: put(client, run["id"], archive, x_crownest_archive_size="5")) == (
        400,
        "upload_size_mismatch",
    )
    assert refused(lambda: put(client, run["id"], archive, content_type="application/zip"))[0] == 415
    assert refused(lambda: put(client, run["id"], b"\0" * (8 * 1024 * 1024 + 1))) == (
        413,
        "archive_too_large",
    )
    assert refused(lambda: client.post(f"{RUNS}/{run['id']}/start")) == (409, "upload_incomplete")
    assert get(client, run["id"])["status"] == "awaiting_archive"
    put(client, run["id"], archive)
    # The same again is fine, another one is not.
    assert put(client, run["id"], archive)["workspaceRun"]["status"] == "archive_uploaded"
    assert refused(lambda: put(client, run["id"], pack({"b": "2"}))) == (409, "upload_conflict")
    client.post(f"{RUNS}/{run['id']}/start")
    wait_for_end(client, run["id"])
    assert refused(lambda: put(client, run["id"], archive)) == (409, "conflict")
    # Starting again answers with the run, and runs nothing.
    again = client.post(f"{RUNS}/{run['id']}/start")["workspaceRun"]
    assert again["status"] == "succeeded" and output(client, run["id"]) == "1\n"


def transfer(client: Client, run_id: str, archive: bytes) -> Json:
    body = {"sha256": hashlib.sha256(archive).hexdigest(), "sizeBytes": len(archive)}
    made: Json = client.post(f"{RUNS}/{run_id}/archive-transfer", body)["transfer"]
    return made


def send(client: Client, made: Json, archive: bytes) -> httpx.Response:
    return client.http.put(made["uploadUrl"], content=archive, headers=made["headers"])


def finalize(client: Client, run_id: str, upload_id: str, archive: bytes) -> Json:
    body = {
        "sha256": hashlib.sha256(archive).hexdigest(),
        "sizeBytes": len(archive),
        "uploadId": upload_id,
    }
    return client.post(f"{RUNS}/{run_id}/archive/finalize", body)


def test_a_staged_upload(client: Client) -> None:
    archive = pack({"a.py": "print(len(open('big', 'rb').read()))", "big": bytes(9 << 20)})
    run = create(client, "python a.py")
    made = transfer(client, run["id"], archive)
    assert made["id"].startswith("upl_") and made["status"] == "pending"
    assert (made["method"], made["checksumAlgorithm"]) == ("PUT", "sha256")
    assert made["workspaceRunId"] == run["id"] and made["maxSizeBytes"] > 8 << 20
    assert refused(lambda: finalize(client, run["id"], made["id"], archive)) == (
        409,
        "upload_incomplete",
    )
    assert refused(lambda: finalize(client, run["id"], "upl_none", archive)) == (
        404,
        "upload_not_found",
    )
    wrong = send(client, made, archive[:-1] + b"x")
    assert wrong.status_code == 400 and wrong.json()["error"]["code"] == "upload_checksum_mismatch"
    for wrong_size in (archive[:-1], archive + b"x"):
        answer = send(client, made, wrong_size)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "upload_size_mismatch"
    for _ in range(2):
        sent = send(client, made, archive)
        assert sent.status_code == 204 and sent.content == b""
    foreign = create(client, "python a.py")
    assert refused(lambda: finalize(client, foreign["id"], made["id"], archive))[1] == "upload_not_found"
    assert refused(lambda: finalize(client, run["id"], made["id"], b"other"))[1] == "upload_checksum_mismatch"
    answered = finalize(client, run["id"], made["id"], archive)
    assert answered["archive"]["sizeBytes"] == len(archive)
    assert answered["workspaceRun"]["status"] == "archive_uploaded"
    assert finalize(client, run["id"], made["id"], archive)["workspaceRun"]["id"] == run["id"]
    assert send(client, made, archive).json()["error"]["code"] == "upload_conflict"
    client.post(f"{RUNS}/{run['id']}/start")
    assert wait_for_end(client, run["id"])["status"] == "succeeded"
    assert output(client, run["id"]) == f"{9 << 20}\n"


def test_transfers_expire(new_server: NewServer) -> None:
    client = new_server(CONFIG + "[workspace_runs]\nupload_kept_ms = 5000\nstaged_archive_bytes = 5000\n").client
    run = create(client, "python a.py")
    archive = pack({"a.py": "print(1)"})
    made = transfer(client, run["id"], archive)
    assert send(client, made, archive).status_code == 204
    wait_until(lambda: send(client, made, archive).status_code != 204, "the transfer expires")
    assert send(client, made, archive).json()["error"]["code"] == "upload_expired"
    assert refused(lambda: finalize(client, run["id"], made["id"], archive)) == (410, "upload_expired")
    large = {"sha256": "0" * 64, "sizeBytes": 5001}
    assert refused(lambda: client.post(f"{RUNS}/{run['id']}/archive-transfer", large)) == (
        413,
        "archive_too_large",
    )


@pytest.mark.parametrize(
    "archive",
    [
        b"no archive at all",
        pack({"a.py": "print(1)"})[:60],
        b"\x1f\x8b" + b"\0" * 100,
        pack({"../a.py": "print(1)"}),
        pack({"/a.py": "print(1)"}),
        pack({"a/../../b": "x"}),
        pack({}, special("link", tarfile.SYMTYPE, "../../etc/passwd")),
        pack({}, special("link", tarfile.SYMTYPE, "/etc/passwd")),
        pack({}, special("link", tarfile.LNKTYPE, "/etc/passwd")),
        pack({}, special("link", tarfile.LNKTYPE, "none")),
        pack({}, special("device", tarfile.CHRTYPE)),
        pack({}, special("pipe", tarfile.FIFOTYPE)),
        pack({"x" * 300: ""}),
    ],
    # Archives hold times: as names of tests they would differ between processes.
    ids=range(13),
)
def test_archives_that_cannot_be_trusted(client: Client, archive: bytes) -> None:
    run = finish(client, "python -c 'print(1)'", archive)
    assert (run["status"], run["failureReason"]) == ("failed", "archive_invalid")
    assert run["failureClass"] == "user_input" and "exitCode" not in run
    assert run["cleanupStatus"] == "succeeded" and run["orchestrationSucceeded"] is False
    assert output(client, run["id"], "stderr").startswith("dormouse: ")
    assert output(client, run["id"]) == ""


def test_archives_that_grow(client: Client, new_server: NewServer) -> None:
    run = finish(client, "python -c 'print(1)'", pack({"zeros": bytes(100 << 20)}))
    assert run["failureReason"] == "archive_too_large"
    small = new_server(CONFIG + "workspace_bytes = 1048576\nworkspace_files = 10\n").client
    run = finish(small, "python -c 'print(1)'", pack({"a": bytes(2 << 20)}))
    assert run["failureReason"] == "archive_too_large"
    run = finish(small, "python -c 'print(1)'", pack({f"f{n}": "" for n in range(11)}))
    assert run["failureReason"] == "archive_too_large"
    assert finish(small, "python -c 'print(1)'", pack({"a": "1"}))["status"] == "succeeded"


def test_what_archives_may_hold(client: Client) -> None:
    def more(archive: tarfile.TarFile) -> None:
        special("./dir/", tarfile.DIRTYPE)(archive)
        special("dir/link", tarfile.SYMTYPE, "../a.txt")(archive)
        special("absolute", tarfile.SYMTYPE, "/workspace/dir")(archive)
        special("hard", tarfile.LNKTYPE, "./a.txt")(archive)

    code = "import os\nprint(open('dir/link').read(), os.listdir('absolute'), open('hard').read(), open('ä/🦔').read(), open('twice').read())"
    archive = pack({"./a.txt": "A", "main.py": code, "ä/🦔": "h", "twice": "1", "./twice": "2"}, more)
    run = finish(client, "python main.py", archive)
    assert output(client, run["id"]) == "A ['link'] A h 2\n", events(client, run["id"])


# ── sandboxes


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


# ── the end by force


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


# ── events


def follow(client: Client, run_id: str, after: int = 0) -> list[Json]:
    """The events of a stream, with a strict reading of its lines."""
    target = f"{RUNS}/{run_id}/events?stream=true&afterSeq={after}"
    with client.http.stream("GET", target) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        raw = response.read()
    assert b"\r" not in raw and max(raw, default=0) < 0x80
    found = []
    for block in raw.decode().split("\n\n")[:-1]:
        name, identity, data = block.split("\n")
        event: Json = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}" and identity == f"id: {event['seq']}"
        found.append(event)
    return found


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


# ── lists and repetition


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


# ── keys


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
