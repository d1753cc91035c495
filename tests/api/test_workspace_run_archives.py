# SPDX-License-Identifier: Apache-2.0
"""Archives of workspace runs: how they are uploaded, and what is in them."""

import tarfile

import pytest

from conftest import NewServer
from quick.client import Client
from quick.processes import wait_until
from quick.server import CONFIG
from quick.workspace_runs import (
    RUNS,
    create,
    events,
    finalize,
    finish,
    get,
    output,
    pack,
    put,
    refused,
    send,
    special,
    transfer,
    wait_for_end,
)


def test_uploads_are_checked(client: Client) -> None:
    run = create(client, "python a.py")
    archive = pack({"a.py": "print(1)"})
    assert refused(lambda: put(client, run["id"], archive, x_crownest_archive_sha256="0" * 64)) == (
        400,
        "upload_checksum_mismatch",
    )
    assert refused(lambda: put(client, run["id"], b"")) == (400, "invalid_request")
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
