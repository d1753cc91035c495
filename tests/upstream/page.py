# SPDX-License-Identifier: Apache-2.0
"""What docs/languages.md says of the interpreters' own tests: `python -m upstream.page RESULTS`, in tests/, writes it from the results of a run;
what it says of suites that were not run stays."""

import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from quick.pages import write_section

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "languages.md"

Row = tuple[str, str, str]  # file, test, report


class Results:
    def __init__(self, path: Path) -> None:
        self.files = self.passed = self.failed = self.skipped = 0
        self.failures: list[Row] = []
        for line in path.read_text().splitlines()[1:]:
            name, passed, failed, skipped, test, report = line.split("\t")
            if passed:
                self.files += 1
                self.passed += int(passed)
                self.failed += int(failed)
                self.skipped += int(skipped)
            if test:
                self.failures.append((name, test, report))

    @property
    def rate(self) -> str:
        return f"{100 * self.passed / max(1, self.passed + self.failed):.1f} %"

    @property
    def whole(self) -> int:
        return self.files - len({name for name, _, _ in self.failures})


def reason_of(row: Row, reasons: list[list[str]]) -> str:
    """The first reason whose pattern is in `file test: report`."""
    text = f"{row[0]} {row[1]}: {row[2]}"
    return next((reason for pattern, reason in reasons if re.search(pattern, text)), "")


def reasons_text(suite: dict[str, Any], results: Results) -> list[str]:
    counts = Counter(reason_of(row, suite["reasons"]) for row in results.failures)
    open_files = Counter(row[0] for row in results.failures if not reason_of(row, suite["reasons"]))
    lines = [f"* {count}: {reason}" for reason, count in counts.most_common() if reason]
    if open_files:
        where = ", ".join(f"`{name}` {count}" for name, count in sorted(open_files.items()))
        lines.append(f"* {sum(open_files.values())} without a known reason: {where}")
    return lines


def paragraphs(suite: dict[str, Any], results: Results) -> str:
    reasons = reasons_text(suite, results) or ["* none does"]
    left_out = "; ".join(f"{what} ({reason})" for what, reason in suite["left_out"])
    return "\n".join([f"**{suite['name']}**: why tests fail", "", *reasons, "", f"Left out: {left_out}."])


def section(results_of: dict[str, Results], suites: dict[str, Any], old: str) -> str:
    """What the page says of each suite; of suites without results, what `old` says."""
    rows = ["| suite | files | without a failure | passed | failed | skipped | pass rate |", "| --- | --- | --- | --- | --- | --- | --- |"]
    parts = []
    for language, suite in suites.items():
        if results := results_of.get(language):
            cells = (results.files, results.whole, results.passed, results.failed, results.skipped, results.rate)
            rows.append(f"| {suite['title']} | {' | '.join(str(cell) for cell in cells)} |")
            parts.append(paragraphs(suite, results))
        else:
            rows += [line for line in old.splitlines() if line.startswith(f"| {suite['title']} |")]
            parts += re.findall(rf"^\*\*{suite['name']}\*\*: why.*?^Left out: [^\n]*", old, re.MULTILINE | re.DOTALL)
    return "\n\n".join(["\n".join(rows), *parts]) + "\n"


def main() -> None:
    suites = tomllib.loads((HERE / "suites.toml").read_text())
    results = {
        language: Results(path) for language in suites if (path := Path(sys.argv[1]) / f"{language}.tsv").exists()
    }
    write_section(PAGE, "upstream", section(results, suites, PAGE.read_text()))


if __name__ == "__main__":
    main()
