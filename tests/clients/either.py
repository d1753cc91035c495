# SPDX-License-Identifier: Apache-2.0
"""The two flavours of the published Python client behind one face: what is called is written once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from inspect import isawaitable
from typing import Any

import pytest
from crownest import AsyncCrowNest, CrowNest, CrowNestApiError

Call = Callable[[Any], Any]


class Either:
    """A client; `call` finishes what a method of it began: awaits it, and reads its stream to the end."""

    def __init__(self, flavour: str, url: str, key: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.client: Any
        if flavour == "sync":
            self.client = CrowNest(api_key=key, base_url=url)
        else:
            self.client = AsyncCrowNest(api_key=key, base_url=url)

    def call(self, begun: Any) -> Any:
        if isawaitable(begun):
            return self.loop.run_until_complete(self._await(begun))
        if isinstance(begun, AsyncIterator):
            return self.loop.run_until_complete(self._read(begun))
        if isinstance(begun, Iterator):
            return list(begun)
        return begun

    def close(self) -> None:
        if isinstance(self.client, CrowNest):
            self.client.close()
        else:
            self.loop.run_until_complete(self.client.aclose())
        self.loop.close()

    @staticmethod
    async def _await(begun: Awaitable[Any]) -> Any:
        return await begun

    @staticmethod
    async def _read(stream: AsyncIterator[Any]) -> list[Any]:
        return [event async for event in stream]


def refused(call: Call, begin: Callable[[], Any]) -> CrowNestApiError:
    """The error with which the call ends."""
    with pytest.raises(CrowNestApiError) as caught:
        call(begin())
    return caught.value
