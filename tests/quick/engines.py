# SPDX-License-Identifier: Apache-2.0
"""Which engines there are to test. Some are only built on demand; tests of those are skipped where they are missing."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from quick.server import ENGINES

INSTALLED_LANGUAGES = {
    json.loads(manifest.read_text())["language"] for manifest in ENGINES.glob("*/current/engine.json")
}


def needs(language: str) -> pytest.MarkDecorator:
    """Marks what is skipped without an engine for the language."""
    return pytest.mark.skipif(
        language not in INSTALLED_LANGUAGES, reason=f"no engine for it is built: scripts/engines {language}"
    )


def by_language(rows: Iterable[Any]) -> list[Any]:
    """Parameters that are a language, or begin with one."""
    marked = []
    for row in rows:
        values = (row,) if isinstance(row, str) else row
        marked.append(pytest.param(*values, marks=needs(values[0])))
    return marked
