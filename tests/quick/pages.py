# SPDX-License-Identifier: Apache-2.0
"""Parts of pages of docs/ that are written by a program."""

from pathlib import Path


def write_section(page: Path, name: str, text: str) -> None:
    """Replaces what stands between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    assert found, f"{page} has no section {name}"
    page.write_text(before + begin + "\n" + text + "\n" + end + after)
