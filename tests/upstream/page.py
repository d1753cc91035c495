# SPDX-License-Identifier: Apache-2.0
"""What docs/languages.md says of the interpreters' own tests: `python -m upstream.page RESULTS`, in tests/, writes it from the results of a run."""

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


def section(results_of: dict[str, Results], suites: dict[str, Any]) -> str:
    lines = ["| suite | files | without a failure | passed | failed | skipped | pass rate |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for language, results in results_of.items():
        cells = (results.files, results.whole, results.passed, results.failed, results.skipped, results.rate)
        lines.append(f"| {suites[language]['title']} | {' | '.join(str(cell) for cell in cells)} |")
    for language, results in results_of.items():
        reasons = reasons_text(suites[language], results) or ["* none does"]
        lines += ["", f"**{suites[language]['name']}**: why tests fail", "", *reasons]
        left_out = "; ".join(f"{what} ({reason})" for what, reason in suites[language]["left_out"])
        lines += ["", f"Left out: {left_out}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    suites = tomllib.loads((HERE / "suites.toml").read_text())
    results = {
        language: Results(path) for language in suites if (path := Path(sys.argv[1]) / f"{language}.tsv").exists()
    }
    write_section(PAGE, "upstream", section(results, suites))


if __name__ == "__main__":
    main()
