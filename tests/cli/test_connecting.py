# SPDX-License-Identifier: Apache-2.0
"""How the command finds its server, its key and its data; how `serve` starts and ends."""

import signal
import threading
from pathlib import Path

from conftest import NewServer
from quick.cli import OK, REFUSED, USAGE, Cli
from quick.server import Server


def test_url_and_key_from_options_and_environment(server: Server, tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(server.key + "\n")
    plain = Cli(None)
    assert plain("sandboxes", "list", "--url", server.url, "--key-file", str(key_file)).code == OK
    assert (
        Cli(None, DORMOUSE_URL=server.url, DORMOUSE_API_KEY=server.key)("sandboxes", "list").code
        == OK
    )
    ended = Cli(None, DORMOUSE_URL=server.url, DORMOUSE_API_KEY="dm_live_wrong")(
        "sandboxes", "list"
    )
    assert ended.code == REFUSED and server.key not in ended.err
    assert plain("sandboxes", "list", "--url", server.url).code == REFUSED
    assert plain("sandboxes", "list", "--url", "http://127.0.0.1:1").code == REFUSED
    assert plain("sandboxes", "list", "--url", "ftp://x").code in (USAGE, REFUSED)
    assert (
        plain("sandboxes", "list", "--url", server.url, "--key-file", str(tmp_path / "none")).code
        == REFUSED
    )


def test_embedded_and_served_state_are_the_same(new_server: NewServer) -> None:
    server = new_server()
    cli = Cli(server.data)
    assert cli("run", "-s", "box", "-c", "x = 'made by the server'").code == OK
    server.stop()
    assert cli("run", "-s", "box", "-c", "x").out == "'made by the server'\n"
    cli("run", "-s", "box", "-c", "x = 'made without'")
    server.start()
    assert cli("run", "-s", "box", "-c", "x").out == "'made without'\n"


def test_two_embedded_commands_do_not_meet(tmp_path: Path) -> None:
    """The directory has one owner at a time; the other waits or is told so."""
    cli = Cli(tmp_path / "data")
    assert cli("run", "-s", "box", "-c", "n = 0").code == OK
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda: codes.append(cli("run", "-s", "box", "-c", "n += 1").code))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert set(codes) <= {OK, REFUSED}
    assert cli("run", "-s", "box", "-c", "n").out == f"{codes.count(OK)}\n"


def test_a_stale_server_record_is_seen_through(new_server: NewServer) -> None:
    server = new_server()
    server.kill()
    assert (server.data / "server.json").exists()
    assert Cli(server.data)("run", "-s", "box", "-c", "1 + 1").out == "2\n"


def test_serve_says_where_it_is_and_leaves_cleanly(new_server: NewServer) -> None:
    server = new_server()
    assert f"listens on {server.url}" in server.log and "admin.key" in server.log
    assert server.stop() == 0
    assert not (server.data / "server.json").exists()
    server.start()
    assert server.process is not None
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 0
    server.forget()


def test_serve_refuses_a_bad_configuration(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "data")
    for text, word in (
        ("nonsense = 1\n", "nonsense"),
        ("[limits]\ncode_bytes = 'x'\n", "code_bytes"),
        ("[limits\n", "2:"),
        ("[limits]\ncontexts_per_sandbox = 0\n", "contexts_per_sandbox"),
    ):
        config = tmp_path / "config.toml"
        config.write_text(text)
        ended = cli("serve", "--listen", "127.0.0.1:0", "--config", str(config))
        assert ended.code == USAGE and word in ended.err or "1:" in ended.err, (text, ended.err)
    assert cli("serve", "--listen", "nonsense").code in (USAGE, REFUSED)
    assert (
        Cli(tmp_path / "data", DORMOUSE_ENGINES=str(tmp_path / "none"))(
            "serve", "--listen", "127.0.0.1:0"
        ).code
        == REFUSED
    )
