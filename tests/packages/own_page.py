# SPDX-License-Identifier: Apache-2.0
"""What docs/data.md says of the data packages' own tests, from the results of own_tests.py."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from quick.pages import write_section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"


def reason_of(text: str, reasons: list[list[str]]) -> str:
    """The first reason whose pattern is in `module test: message`."""
    return next((reason for pattern, reason in reasons if re.search(pattern, text)), "")


def reasons_text(suite: dict[str, Any], results: dict[str, Any]) -> list[str]:
    counts: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for module, result in results.items():
        for test, message in result["failures"]:
            reason = reason_of(f"{module} {test}: {message}", suite["reasons"])
            counts[reason] += 1
            unknown[module] += not reason
    lines = [f"* {count}: {reason}" for reason, count in counts.most_common() if reason]
    if counts[""]:
        where = ", ".join(f"`{module}` {count}" for module, count in unknown.items() if count)
        lines.append(f"* {counts['']} without a known reason: {where}")
    return lines or ["* none does"]


def table(results: dict[str, Any]) -> list[str]:
    lines = ["| module | passed | failed | skipped | expected to fail |", "| --- | --- | --- | --- | --- |"]
    total: Counter[str] = Counter()
    for module, result in results.items():
        counts = Counter(result["counts"])
        total += counts
        lines.append(row(f"`{module}`", counts))
    return [*lines, row("all", total)]


def row(name: str, counts: Counter[str]) -> str:
    cells = [counts[outcome] for outcome in ("passed", "failed", "skipped", "xfailed")]
    return f"| {name} | {' | '.join(map(str, cells))} |"


def write_page(suites: dict[str, Any], folder: Path) -> None:
    lines: list[str] = []
    for name, suite in suites.items():
        path = folder / f"{name}.json"
        if path.exists():
            found = json.loads(path.read_text())
            results = {module: found[module] for module in suite["modules"] if module in found}
            lines += [*([""] if lines else []), f"### {suite['title']}", ""]
            lines += [*table(results), "", "Why tests fail:", "", *reasons_text(suite, results)]
    write_section(PAGE, "own tests", "\n".join(lines) + "\n")
