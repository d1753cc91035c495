# SPDX-License-Identifier: Apache-2.0
"""The rows of the conformance suite, and the table of them that docs/languages.md shows.

`python -m conformance.table`, in tests/, writes the table into the page. That each ✓ is true, test_conformance.py checks.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from quick.pages import write_section

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "languages.md"
LANGUAGES = ("python", "javascript", "typescript", "perl", "ruby", "lua")
TITLES = ("Python", "JavaScript", "TypeScript", "Perl", "Ruby", "Lua")


@dataclass(frozen=True)
class Row:
    group: str
    name: str
    title: str
    absent: dict[str, str]


def read_rows() -> list[Row]:
    groups = tomllib.loads((HERE / "rows.toml").read_text())["group"]
    return [
        Row(group["title"], row["name"], row["title"], row.get("absent", {}))
        for group in groups
        for row in group["rows"]
    ]


ROWS = read_rows()


def cell_file(row: Row, language: str) -> Path:
    own = HERE / language / f"{row.name}.cell"
    shared = HERE / "javascript" / own.name
    return shared if language == "typescript" and not own.exists() else own


def table() -> str:
    lines = [f"| | {' | '.join(TITLES)} |", "| --- |" + " --- |" * len(TITLES)]
    group = ""
    for row in ROWS:
        if row.group != group:
            group = row.group
            lines.append(f"| **{group}** |" + " |" * len(TITLES))
        answers = [row.absent.get(language, "✓") for language in LANGUAGES]
        lines.append(f"| {row.title} | {' | '.join(answers)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    write_section(PAGE, "conformance", table())


if __name__ == "__main__":
    main()
