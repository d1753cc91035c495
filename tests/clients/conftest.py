# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests that go through the published Python client, in both of its flavours."""

from collections.abc import Iterator
from typing import Any

import pytest

from clients.either import Call, Either
from quick.server import Server


@pytest.fixture(params=["sync", "async"])
def either(request: pytest.FixtureRequest, server: Server) -> Iterator[Either]:
    made = Either(request.param, server.url, server.key)
    yield made
    made.close()


@pytest.fixture
def client(either: Either) -> Any:
    return either.client


@pytest.fixture
def call(either: Either) -> Call:
    return either.call


@pytest.fixture
def sandbox(client: Any, call: Call) -> Iterator[Any]:
    made = call(client.sandboxes.create())
    yield made
    call(client.sandboxes.kill(made.id))
