# SPDX-License-Identifier: Apache-2.0
"""Runs every *.cell file in every mode that it names."""

from pathlib import Path
from typing import Any

import pytest

from conftest import NewServer
from quick.cells import CellFile, check, parse
from quick.client import Client, Context, Sandbox
from quick.engines import needs

FILES = [parse(path) for path in sorted(Path(__file__).parent.glob("*/*.cell"))]


def cases(*modes: str) -> list[Any]:
    return [
        pytest.param(
            file,
            mode,
            id=f"{file.language}/{file.path.stem}-{mode}",
            marks=needs(file.language),
        )
        for file in FILES
        for mode in modes
        if mode in file.modes
    ]


def step(context: Context, mode: str) -> Context:
    """Between two cells."""
    if mode == "evict":
        context.evict()
    if mode == "fork":
        forked = context.fork()
        context.delete()
        return forked
    return context


@pytest.mark.parametrize(("file", "mode"), cases("warm", "evict", "fork"))
def test_cells(sandbox: Sandbox, file: CellFile, mode: str) -> None:
    context = sandbox.context(file.language)
    for cell in file.cells:
        check(file, cell, context.run(cell.code, **cell.request))
        context = step(context, mode)


@pytest.mark.parametrize(("file", "mode"), cases("restart"))
def test_cells_while_the_server_is_killed_between_them(
    new_server: NewServer, file: CellFile, mode: str
) -> None:
    server = new_server()
    context = server.client.sandbox().context(file.language)
    for cell in file.cells:
        check(file, cell, context.run(cell.code, **cell.request))
        server.restart()
        context = again(server.client, context)


def again(client: Client, context: Context) -> Context:
    """The same context, through a client of the new server."""
    return Context(Sandbox(client, context.sandbox.id), context.id, context.language)
