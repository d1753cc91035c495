# SPDX-License-Identifier: Apache-2.0
"""Fixtures: one server for each test process, extra ones for tests that break theirs."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from quick.client import Client, Context, Sandbox
from quick.server import CONFIG, Server

Between = Callable[[Context], None]
NewServer = Callable[..., Server]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("DORMOUSE_TESTS_NIGHTLY"):
        return
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.skip(reason="nightly only"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that no test may stop."""
    running = Server(tmp_path_factory.mktemp("server") / "data").start()
    yield running
    running.close()


@pytest.fixture
def new_server(tmp_path: Path) -> Iterator[NewServer]:
    """Starts servers that the test may do anything to; `config` is TOML."""
    made: list[Server] = []

    def start(config: str = CONFIG, prefix: Sequence[str] = ()) -> Server:
        made.append(Server(tmp_path / f"data-{len(made)}", config, prefix))
        return made[-1].start()

    yield start
    for one in made:
        one.close()


@pytest.fixture
def client(server: Server) -> Client:
    return server.client


@pytest.fixture
def sandbox(client: Client) -> Iterator[Sandbox]:
    made = client.sandbox()
    yield made
    made.delete()


@pytest.fixture
def python(sandbox: Sandbox) -> Context:
    return sandbox.context("python")


@pytest.fixture
def javascript(sandbox: Sandbox) -> Context:
    return sandbox.context("javascript")


@pytest.fixture
def typescript(sandbox: Sandbox) -> Context:
    return sandbox.context("typescript")


def do_nothing(_: Context) -> None:
    pass


def evict(context: Context) -> None:
    context.evict()


@pytest.fixture(params=["warm", "evict"])
def between(request: pytest.FixtureRequest) -> Between:
    """What happens to a context between two steps of a test."""
    return evict if request.param == "evict" else do_nothing
