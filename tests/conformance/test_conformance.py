# SPDX-License-Identifier: Apache-2.0
"""What every engine must do, in its own language. rows.toml is the list; docs/languages.md shows the table."""

from typing import Any

import pytest

from cells.test_cells import step
from conformance.table import LANGUAGES, PAGE, ROWS, Row, cell_file, table
from quick.cells import CellFile, check, parse
from quick.client import Sandbox
from quick.engines import needs


def cases() -> list[Any]:
    return [
        pytest.param(
            parse(cell_file(row, language)),
            language,
            mode,
            id=f"{language}/{row.name}-{mode}",
            marks=needs(language),
        )
        for row in ROWS
        for language in LANGUAGES
        if language not in row.absent
        for mode in ("warm", "evict")
    ]


@pytest.mark.parametrize(("file", "language", "mode"), cases())
def test_row(sandbox: Sandbox, file: CellFile, language: str, mode: str) -> None:
    context = sandbox.context(language)
    for cell in file.cells:
        check(file, cell, context.run(cell.code, **cell.request))
        context = step(context, mode)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_language_has_the_row_or_a_reason(row: Row) -> None:
    for language in LANGUAGES:
        assert cell_file(row, language).exists() != (language in row.absent)


def test_the_published_table_is_this_suite() -> None:
    assert table() in PAGE.read_text(), "run: python -m conformance.table"
