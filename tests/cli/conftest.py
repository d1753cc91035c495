# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the command's tests."""

import uuid
from collections.abc import Iterator

import pytest

from quick.cli import Cli
from quick.server import Server


@pytest.fixture(scope="module", params=["server", "embedded"])
def cli(
    request: pytest.FixtureRequest, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cli]:
    """The command through a server, and on a data directory of its own."""
    if request.param == "server":
        yield Cli(server.data)
    else:
        yield Cli(tmp_path_factory.mktemp("embedded") / "data")


@pytest.fixture
def box() -> str:
    """A sandbox name of this test's own."""
    return f"box-{uuid.uuid4().hex[:8]}"
