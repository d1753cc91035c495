# SPDX-License-Identifier: Apache-2.0
"""The command, through a server and without one: what it prints and how it ends."""

import json
from pathlib import Path

import pytest

from quick.cli import FAILED, NOT_SAVED, OK, REFUSED, USAGE, Cli


def test_state_lives_between_commands(cli: Cli, box: str) -> None:
    assert cli("run", "-s", box, "-c", "x = 41").out == ""
    ended = cli("run", "-s", box, "-c", "x + 1")
    assert (ended.code, ended.out, ended.err) == (OK, "42\n", "")
    assert cli("run", "-s", box, "-l", "javascript", "-c", "let y = [1]").code == OK
    assert cli("run", "-s", box, "-l", "javascript", "-c", "y.push(2); y").out == "[ 1, 2 ]\n"
    assert cli("run", "-s", box, "-l", "typescript", "-c", "const z: number = 3; z").out == "3\n"


def test_a_run_without_names_keeps_nothing(cli: Cli) -> None:
    before = cli("--json", "sandboxes", "list").json
    ended = cli("run", "-c", "x = 41\nopen('f', 'w').write('1')\nx + 1")
    assert (ended.code, ended.out, ended.err) == (OK, "42\n", "")
    ended = cli("run", "-c", "import os; print(os.listdir('.')); x")
    assert (ended.code, ended.out) == (FAILED, "[]\n") and "NameError" in ended.err
    assert cli("run", "-l", "javascript", "-c", "6 * 7").out == "42\n"
    assert cli("run", "-b", "TYPESCRIPT", "-c", "const z: number = 3; z").out == "3\n"
    assert cli("run", "--json", "-c", "1").json["run"]["state"] == "discarded"
    assert cli("run", "-c", "import sys; sys.exit(7)").code == 7
    assert cli("run", "--promote", "-c", "1").code == USAGE
    assert cli("--json", "sandboxes", "list").json == before


def test_output_and_errors_go_to_their_streams(cli: Cli, box: str) -> None:
    ended = cli(
        "run", "-s", box, "-c", "import sys; print('out'); print('err', file=sys.stderr); 5"
    )
    assert (ended.code, ended.out, ended.err) == (OK, "out\n5\n", "err\n")
    ended = cli("run", "-s", box, "-c", "print('before')\n1/0")
    assert (ended.code, ended.out) == (FAILED, "before\n")
    assert "ZeroDivisionError: division by zero" in ended.err and "line 2" in ended.err


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("1", OK),
        ("1/0", FAILED),
        ("x = = 1", FAILED),
        ("import sys; sys.exit()", OK),
        ("import sys; sys.exit(7)", 7),
        ("import sys; sys.exit(125)", 125),
        ("import sys; sys.exit(200)", FAILED),
        ("import os; os._exit(9)", 9),
    ],
)
def test_exit_codes(cli: Cli, box: str, code: str, expected: int) -> None:
    assert cli("run", "-s", box, "-c", code).code == expected


def test_an_exit_code_that_cannot_be_passed_on_is_told(cli: Cli, box: str) -> None:
    ended = cli("run", "-s", box, "-c", "import sys; sys.exit(300)")
    assert (ended.code, ended.err) == (FAILED, "[exit status 300]\n")


def test_a_stopped_run_without_names_speaks_of_no_state(cli: Cli) -> None:
    ended = cli("run", "--timeout", "300ms", "-c", "while True: pass")
    assert ended.code == FAILED and "[stopped at its deadline]" in ended.err
    assert "rolled back" not in ended.err


def test_local_files_that_cannot_be_read(cli: Cli, box: str, tmp_path: Path) -> None:
    for arguments in (["nothing.py"], ["-c", "1", "--stdin", "nothing.txt"]):
        ended = cli("run", "-s", box, *arguments)
        assert ended.code == REFUSED and "opening nothing" in ended.err
    ended = cli("files", "-s", box, "put", "copy", str(tmp_path))
    assert ended.code == REFUSED and f"{tmp_path} is a directory" in ended.err


def test_a_name_names_one_sandbox(cli: Cli, box: str) -> None:
    made = cli("sandboxes", "create", box)
    again = cli("sandboxes", "create", box)
    assert (made.code, again.code) == (OK, REFUSED) and made.out.strip() in again.err
    assert cli("sandboxes", "create", "sbx_1").code == REFUSED


def test_a_word_that_is_no_command(cli: Cli) -> None:
    for arguments in (["nothing"], ["sandboxes", "nothing"]):
        ended = cli(*arguments)
        assert ended.code == USAGE and 'no command "nothing"' in ended.err


def test_the_workspace_itself_has_a_time(cli: Cli, box: str) -> None:
    cli("files", "-s", box, "mkdir", "d")
    times = [cli("--json", "files", "-s", box, "stat", path).json["file"]["modifiedAt"] for path in (".", "d")]
    assert times[0] == times[1]


def test_a_time_limit(cli: Cli, box: str) -> None:
    ended = cli("run", "-s", box, "--timeout", "300ms", "-c", "while True: pass")
    assert ended.code == FAILED and "TimeoutError" in ended.err and "state kept" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nothing"],
        ["run"],
        ["run", "-c", "1", "file.py"],
        ["run", "-c", "1", "--timeout", "x"],
        ["run", "-c", "1", "--timeout", "0"],
        ["run", "-c", "1", "--timeout", "-1s"],
        ["run", "-c", "1", "-e", "novalue"],
        ["run", "-c", "1", "--memory", "x"],
        ["run", "-c", "1", "--unknown"],
        ["sandboxes"],
        ["sandboxes", "delete"],
        ["contexts", "rollback", "x"],
        ["files", "read"],
        ["serve", "--nothing"],
        ["run", "-", "--stdin", "-"],
        ["run", "-c", "1", "-l", "python", "-b", "PYTHON"],
    ],
)
def test_wrong_usage(cli: Cli, arguments: list[str]) -> None:
    ended = cli(*arguments)
    assert ended.code == USAGE and ended.err


def test_help_and_version(cli: Cli) -> None:
    assert cli("--help").code == OK and "Examples" in cli("--help").out
    assert cli("--version").out.startswith("dormouse ")
    groups = ("sandboxes", "contexts", "files", "keys", "projects", "artifacts", "workspace-runs")
    for command in ("run", "repl", "serve", "engines", *groups):
        shown = cli(command, "--help")
        assert shown.code == OK and "DORMOUSE_URL" not in shown.out
        assert "The options of `dormouse --help`" in shown.out
    for command in ((), ("run",), ("workspace-runs", "run")):
        shown = cli(*command, "--help").out
        assert "Exit codes:" in shown and "\n  4  " in shown
    assert "--sandbox" in cli("contexts", "rollback", "--help").out
    assert "--warm-up" in Cli(None)("engines", "boot", "--help").out
    assert Cli(None)("engines", "boot").code != OK
    assert cli("engines", "boot").code == USAGE


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["run", "-s", "", "-c", "1"], "--sandbox"),
        (["run", "--context", "", "-c", "1"], "--context"),
        (["run", "--language", "", "-c", "1"], "--language"),
        (["run", "-b", "", "-c", "1"], "--binding"),
        (["run", "--cwd", "", "-c", "1"], "--cwd"),
        (["run", "--stdin", "", "-c", "1"], "--stdin"),
        (["run", "--timeout", "", "-c", "1"], "--timeout"),
        (["run", "--memory", "", "-c", "1"], "--memory"),
        (["run", ""], "file"),
        (["repl", "-s", ""], "--sandbox"),
        (["repl", "-l", ""], "--language"),
        (["--url", "", "sandboxes", "list"], "--url"),
        (["--key-file", "", "sandboxes", "list"], "--key-file"),
        (["--data", "", "sandboxes", "list"], "--data"),
        (["--engines", "", "sandboxes", "list"], "--engines"),
        (["--config", "", "sandboxes", "list"], "--config"),
        (["serve", "--listen", ""], "--listen"),
        (["sandboxes", "create", ""], "name"),
        (["sandboxes", "show", ""], "sandbox"),
        (["sandboxes", "delete", ""], "sandbox"),
        (["contexts", "-s", "", "list"], "--sandbox"),
        (["contexts", "create", ""], "name"),
        (["contexts", "create", "-l", ""], "--language"),
        (["contexts", "delete", ""], "context"),
        (["contexts", "fork", "x", "--name", ""], "--name"),
        (["files", "-s", "", "list"], "--sandbox"),
        (["files", "list", ""], "path"),
        (["files", "delete", ""], "path"),
        (["files", "read", "x", "-o", ""], "--output"),
        (["files", "write", "x", ""], "local"),
        (["files", "move", "x", ""], "to"),
        (["artifacts", "-s", "", "list"], "--sandbox"),
        (["artifacts", "create", ""], "path"),
        (["artifacts", "create", "x", "--name", ""], "--name"),
        (["artifacts", "delete", ""], "artifact"),
        (["artifacts", "download", "art_x", "-o", ""], "--output"),
        (["keys", "create", ""], "name"),
        (["keys", "create", "x", "--scope", ""], "--scope"),
        (["keys", "create", "x", "--project", ""], "--project"),
        (["keys", "revoke", ""], "key"),
        (["projects", "create", ""], "name"),
        (["workspace-runs", "run", "", "--", "python", "a"], "source"),
        (["workspace-runs", "run", ".", "-s", "", "--", "python", "a"], "--sandbox"),
        (["workspace-runs", "run", ".", "-a", "", "--", "python", "a"], "--artifact"),
        (["workspace-runs", "get", ""], "run"),
    ],
)
def test_an_empty_name_is_refused(tmp_path: Path, arguments: list[str], name: str) -> None:
    data = None if arguments[0] == "--data" else tmp_path / "data"
    ended = Cli(data)(*arguments)
    assert ended.code == USAGE and ended.out == "", ended
    assert ended.err.startswith(f"{name}: "), ended.err
    assert not (tmp_path / "data").exists()


def test_what_may_be_empty(cli: Cli, box: str) -> None:
    assert cli("run", "-s", box, "-c", "").code == OK
    ended = cli("run", "-s", box, "-e", "A=", "-c", "import os; os.environ['A']")
    assert (ended.code, ended.out) == (OK, "''\n")
    # A variable that is set to nothing is as one that is not set.
    assert Cli(cli.data, DORMOUSE_URL="", NO_COLOR="")("sandboxes", "list").code == OK


def test_words_behind_a_repeatable_option_are_not_its_values(
    cli: Cli, box: str, tmp_path: Path
) -> None:
    script = tmp_path / "a.py"
    script.write_text("import os; print(os.environ['A'])")
    assert cli("run", "-s", box, "-e", "A=1", str(script)).out == "1\n"


def test_json_of_a_run(cli: Cli, box: str) -> None:
    run = cli("run", "--json", "-s", box, "-c", "print('a'); 2").json["run"]
    assert (run["status"], run["stdout"], run["outputs"][0]["value"]) == ("ok", "a\n", "2")
    ended = cli("run", "--json", "-s", box, "-c", "1/0")
    assert ended.code == FAILED and ended.json["run"]["error"]["name"] == "ZeroDivisionError"


def test_refusals(cli: Cli, box: str) -> None:
    ended = cli("run", "-s", box, "-l", "cobol", "-c", "1")
    assert ended.code == REFUSED and "cobol" in ended.err and ended.out == ""
    ended = cli("run", "--json", "-s", box, "-l", "cobol", "-c", "1")
    error = json.loads(ended.err)["error"]
    assert ended.code == REFUSED and (error["code"], error["status"], error["retryable"]) == (
        "unsupported_code_language",
        400,
        False,
    )
    assert cli("run", "-s", "sbx_unknown", "-c", "1").code == REFUSED
    assert cli("sandboxes", "show", "no-such-name").code == REFUSED


def test_code_from_files_and_standard_input(cli: Cli, box: str, tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text(
        "const fs = require('fs'); fs.readFileSync(0, 'utf8').toUpperCase()"
    )
    (tmp_path / "in.txt").write_text("given")
    assert (
        cli("run", "-s", box, str(tmp_path / "a.js"), "--stdin", str(tmp_path / "in.txt")).out
        == "'GIVEN'\n"
    )
    (tmp_path / "b.ts").write_text("enum E { A = 4 }\nE.A")
    assert cli("run", "-s", box, str(tmp_path / "b.ts")).out == "4\n"
    assert cli("run", "-s", box, "-", stdin="print('from stdin')").out == "from stdin\n"
    assert cli("run", "-s", box, "-c", "input()", "--stdin", "-", stdin="line\n").out == "'line'\n"
    assert cli("run", "-s", box, str(tmp_path / "missing.py")).code == REFUSED
    (tmp_path / "latin.py").write_bytes(b"'\xe9'")
    assert cli("run", "-s", box, str(tmp_path / "latin.py")).code == REFUSED


def test_environment_directory_fuel_and_memory(cli: Cli, box: str) -> None:
    cli("files", "-s", box, "mkdir", "sub")
    ended = cli(
        "run",
        "-s",
        box,
        "-e",
        "A=1",
        "-e",
        "B=x=y",
        "--cwd",
        "sub",
        "-c",
        "import os; os.environ['A'], os.environ['B'], os.getcwd()",
    )
    assert ended.out == "('1', 'x=y', '/workspace/sub')\n"
    ended = cli("run", "-s", box, "--fuel", "100000", "-c", "while True: pass")
    assert ended.code == FAILED and "CPU budget" in ended.err
    code = "try: bytearray(300_000_000)\nexcept MemoryError: print('refused')"
    assert cli("run", "-s", box, "--memory", "100M", "-c", code).out == "refused\n"


def test_sandboxes(cli: Cli, box: str) -> None:
    made = cli("sandboxes", "create", box)
    assert made.code == OK and made.out.startswith("sbx_")
    identifier = made.out.strip()
    assert identifier in cli("sandboxes", "list").out and box in cli("sandboxes", "list").out
    assert cli("sandboxes", "list", "--json").json["data"][0]["id"].startswith("sbx_")
    cli("run", "-s", box, "-c", "open('f', 'w').write('123')")
    assert cli("sandboxes", "show", box, "--json").json["info"]["workspace"] == {
        "files": 1,
        "bytes": 3,
    }
    assert (
        "1 files" in cli("sandboxes", "show", identifier).out
        or "1 file" in cli("sandboxes", "show", identifier).out
    )
    assert cli("sandboxes", "delete", box).code == OK
    assert box not in cli("sandboxes", "list").out
    assert cli("sandboxes", "show", box).code == REFUSED
    created = cli("sandboxes", "create", box, "--ttl", "1h", "--json").json["sandbox"]
    assert created["ttlMs"] == 3_600_000


def test_contexts(cli: Cli, box: str) -> None:
    assert cli("contexts", "-s", box, "list").code == REFUSED
    cli("sandboxes", "create", box)
    assert cli("contexts", "-s", box, "create", "main", "-l", "python").code == OK
    for n in range(3):
        assert cli("run", "-s", box, "--context", "main", "-c", f"x = {n}").code == OK
    listed = cli("contexts", "-s", box, "list", "--json").json["data"]
    assert [(context["name"], context["executions"]) for context in listed] == [("main", 3)]
    assert "main" in cli("contexts", "-s", box, "list").out
    assert cli("contexts", "-s", box, "evict", "main").code == OK
    snapshots = cli("contexts", "-s", box, "snapshots", "main", "--json").json["data"]
    first = next(one["generation"] for one in snapshots if one["executions"] == 1)
    assert "GENERATION" in cli("contexts", "-s", box, "snapshots", "main").out
    assert cli("contexts", "-s", box, "fork", "main", "--name", "copy").code == OK
    assert cli("contexts", "-s", box, "rollback", "main", str(first)).code == OK
    assert cli("run", "-s", box, "--context", "main", "-c", "x").out == "0\n"
    assert cli("run", "-s", box, "--context", "copy", "-c", "x").out == "2\n"
    assert cli("contexts", "-s", box, "show", "copy", "--json").json["context"]["name"] == "copy"
    assert cli("contexts", "-s", box, "interrupt", "copy").code == OK
    assert cli("contexts", "-s", box, "delete", "copy").code == OK
    assert cli("contexts", "-s", box, "show", "copy").code == REFUSED


def test_files(cli: Cli, box: str, tmp_path: Path) -> None:
    (tmp_path / "local").write_text("from here")
    assert (
        cli("files", "-s", box, "write", "a/b.txt", str(tmp_path / "local"), "--parents").code == OK
    )
    assert cli("files", "-s", box, "write", "c.txt", stdin="piped").code == OK
    assert cli("files", "-s", box, "read", "a/b.txt").out == "from here"
    assert "b.txt" in cli("files", "-s", box, "list", "a").out
    assert [entry["name"] for entry in cli("files", "-s", box, "list", "--json").json["data"]] == [
        "a",
        "c.txt",
    ]
    assert cli("files", "-s", box, "stat", "c.txt", "--json").json["file"]["sizeBytes"] == 5
    assert cli("files", "-s", box, "move", "c.txt", "a/d.txt").code == OK
    assert cli("files", "-s", box, "mkdir", "-p", "x/y").code == OK
    assert cli("files", "-s", box, "delete", "x/y").code == OK
    assert cli("files", "-s", box, "delete", "a").code == REFUSED
    assert cli("files", "-s", box, "read", "none").code == REFUSED
    assert cli("files", "-s", box, "read", "../etc/passwd").code == REFUSED
    out = tmp_path / "out"
    assert (
        cli("files", "-s", box, "read", "a/d.txt", "-o", str(out)).code == OK
        and out.read_text() == "piped"
    )
    assert (
        cli("files", "-s", box, "read", "none", "-o", str(tmp_path / "untouched")).code == REFUSED
    )
    assert not (tmp_path / "untouched").exists()


def test_engines(cli: Cli) -> None:
    table = cli("engines", "list").out
    assert "PYTHON" in table and "durable" in table
    bindings = cli("engines", "list", "--json").json["data"]
    assert {binding["language"] for binding in bindings} >= {"python", "javascript", "typescript"}


def test_repl_reads_a_script(cli: Cli, box: str) -> None:
    script = (
        "x = 40\ndef f(n):\n    return n + 2\n\nf(x)\nfor i in range(2):\n    print(i)\n\n'last'\n"
    )
    ended = cli("repl", "-s", box, stdin=script)
    assert ended.code == OK
    assert ended.out.replace("python> ", "").replace("......> ", "") == "42\n0\n1\n'last'\n"
    assert "x" in cli("run", "-s", box, "-c", "sorted(k for k in globals() if len(k) == 1)").out


def test_repl_goes_on_after_errors_and_ends_with_the_last_code(cli: Cli, box: str) -> None:
    ended = cli("repl", "-s", box, stdin="1/0\n'after'\n")
    assert ended.code == OK and "ZeroDivisionError" in ended.err and "'after'" in ended.out
    assert cli("repl", "-s", box, stdin="'fine'\n1/0\n").code == FAILED


def test_repl_commands(cli: Cli, box: str) -> None:
    ended = cli(
        "repl",
        "-s",
        box,
        stdin="x = 1\n:snapshots\n:fork copy\nx = 2\nx\n:nothing\n:help\n:quit\nx = 9\n",
    )
    assert "GENERATION" in ended.out and "2\n" in ended.out and ":rollback" in ended.out
    assert "unknown command" in ended.err
    assert cli("run", "-s", box, "-c", "x").out == "1\n"
    assert cli("run", "-s", box, "--context", "copy", "-c", "x").out == "2\n"
    ended = cli("repl", "-s", box, stdin=":reset\n'x' in globals()\n")
    assert "False" in ended.out


def test_repl_javascript(cli: Cli, box: str) -> None:
    ended = cli(
        "repl",
        "-s",
        box,
        "-l",
        "javascript",
        stdin="const f = (a) => {\n  return a * 2;\n}\nf(4)\n`a\nb`.length\n",
    )
    assert ended.code == OK and "8\n" in ended.out and "3\n" in ended.out
    # What the code exits with is not a failure of the server.
    ended = cli("repl", "-s", box, "-l", "javascript", stdin="process.exit(3)\n40 + 2\n")
    assert ended.code == OK and "42" in ended.out


def test_an_exit_that_costs_the_state_says_so(cli: Cli, box: str) -> None:
    ended = cli("run", "-s", box, "-c", "kept = 1; import os; os._exit(0)")
    assert ended.code == NOT_SAVED and "state rolled back" in ended.err
    assert cli("run", "-s", box, "-c", "kept").code == FAILED


def test_keys_and_projects(cli: Cli) -> None:
    project = cli("projects", "create", "team a").out.strip()
    assert project.startswith("prj_")
    listed = cli("projects", "list", "--json").json["data"]
    assert project in [one["id"] for one in listed]
    assert project in cli("projects", "list").out
    made = cli("keys", "create", "--json", "ci", "--scope", "code:run", "--project", project).json
    key = made["apiKey"]
    assert made["secret"].startswith("dm_live_") and key["scopes"] == ["code:run"]
    assert key["projectIds"] == [project]
    plain = cli("keys", "create", "usual")
    assert plain.code == OK and plain.out.startswith("dm_live_") and plain.out.count("\n") == 1
    assert key["id"] in cli("keys", "list").out
    assert cli("keys", "revoke", key["id"]).code == OK
    revoked = [one for one in cli("keys", "list", "--json").json["data"] if "revokedAt" in one]
    assert key["id"] in [one["id"] for one in revoked]
    refused = cli("keys", "create", "x", "--scope", "code:runs")
    assert refused.code == REFUSED and "code:runs" in refused.err
    assert cli("keys", "revoke", "key_none/..").code == REFUSED
    assert cli("keys", "create").code == USAGE


def test_large_files_and_artifacts(cli: Cli, box: str, tmp_path: Path) -> None:
    content = bytes(range(256)) * 4_000
    (tmp_path / "large.bin").write_bytes(content)
    assert cli("files", "-s", box, "put", "large.bin", str(tmp_path / "large.bin")).code == OK
    made = cli("artifacts", "-s", box, "create", "large.bin", "--name", "kept.bin")
    artifact = made.out.strip()
    assert made.code == OK and artifact.startswith("art_")
    assert "kept.bin" in cli("artifacts", "-s", box, "list").out
    assert "application/octet-stream" in cli("artifacts", "get", artifact).out
    shown = cli("artifacts", "get", artifact, "--json").json["artifact"]
    assert (shown["id"], shown["sizeBytes"]) == (artifact, len(content))
    out = tmp_path / "out"
    assert cli("artifacts", "download", artifact, "-o", str(out)).code == OK
    assert out.read_bytes() == content
    assert cli("artifacts", "delete", artifact).code == OK
    assert cli("artifacts", "-s", box, "list", "--json").json["data"] == []
    assert "(deleted)" in cli("artifacts", "-s", box, "list", "--all").out
    gone = cli("artifacts", "download", artifact, "-o", str(tmp_path / "untouched"))
    assert gone.code == REFUSED and not (tmp_path / "untouched").exists()
    assert cli("files", "-s", box, "put", "x", str(tmp_path / "none")).code == REFUSED


def test_promoted_outputs_are_named(cli: Cli, box: str) -> None:
    code = "display({'text/html': '<p>'}, raw=True); print('out')"
    ended = cli("run", "-s", box, "--promote", "--full-output", "-c", code)
    assert (ended.code, ended.out.splitlines()[-1:]) == (OK, ["out"]) or "out" in ended.out
    assert "[artifact art_" in ended.err and " html 3 bytes]" in ended.err
    assert " stdout]" in ended.err
    artifacts = cli("artifacts", "-s", box, "list", "--json").json["data"]
    assert {artifact["name"] for artifact in artifacts} == {"output-2.html", "stdout.txt"} or len(
        artifacts
    ) == 2
    assert cli("run", "-s", box, "--full-output", "-c", "1").code == USAGE
