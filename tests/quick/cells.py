# SPDX-License-Identifier: Apache-2.0
"""Text cases: cells with the output that they must have.

A file is a sequence of sections; a section begins with a line `--- NAME [VALUE]`. Text before the first one is
a comment, but for lines `modes: …`. Every cell states all that it may show: what has no section must be absent.

    --- cell                        the code, up to the next section
    --- stdin                       standard input of the run
    --- timeoutMs 500               a field of the request; also cwd, memoryBytes
    --- stdout [open]               with `open` the text does not end with a newline
    --- stderr [open]
    --- result                      text of the last expression's value
    --- error NAME                  the uncaught error; a block below is its message
    --- traceback                   lines that must be in the traceback, in this order
    --- status exited               default: ok, or error where there is an error section
    --- state rolled_back           default: kept
    --- exit 3                      exit code

In expected text `<*>` stands for anything.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quick.client import Run, describe

ALL_MODES = ("warm", "evict", "fork", "restart")
DEFAULT_MODES = ("warm", "evict", "fork")
REQUEST_FIELDS = ("timeoutMs", "memoryBytes", "cwd")


@dataclass
class Cell:
    line: int
    code: str
    request: dict[str, Any] = field(default_factory=dict)
    # Section name -> text; absent means that the run must not have it.
    expected: dict[str, str] = field(default_factory=dict)
    error_name: str | None = None


@dataclass
class CellFile:
    path: Path
    language: str
    modes: tuple[str, ...]
    cells: list[Cell]


def parse(path: Path) -> CellFile:
    modes: tuple[str, ...] = DEFAULT_MODES
    cells: list[Cell] = []
    name, value, block = "", "", []
    lines = path.read_bytes().decode("utf-8").split("\n")
    for number, line in enumerate([*lines, "--- end"], 1):
        if not line.startswith("--- "):
            if not name and line.startswith("modes:"):
                modes = tuple(line.removeprefix("modes:").split())
                assert set(modes) <= set(ALL_MODES), f"{path}:{number}: unknown mode"
            block.append(line)
            continue
        if name:
            add_section(path, number, cells, name, value, "\n".join(block))
        name, _, value = line.removeprefix("--- ").strip().partition(" ")
        block = []
    assert cells, f"{path} has no cells"
    return CellFile(path, path.parent.name, modes, cells)


def add_section(
    path: Path, line: int, cells: list[Cell], name: str, value: str, block: str
) -> None:
    where = f"{path}:{line}"
    # Blank lines before the next section are layout.
    text = block.rstrip("\n") if name not in ("stdout", "stderr") else block.rstrip("\n") + "\n"
    if name == "cell":
        cells.append(Cell(line, text))
        return
    cell = cells[-1]
    if name == "stdin":
        cell.request["stdin"] = text + "\n"
    elif name in REQUEST_FIELDS:
        cell.request[name] = value if name == "cwd" else int(value)
    elif name in ("stdout", "stderr"):
        assert value in ("", "open"), where
        cell.expected[name] = text[:-1] if value else text
    elif name == "error":
        cell.error_name = value
        cell.expected["message"] = text
    elif name in ("status", "state", "exit"):
        cell.expected[name] = value
    else:
        assert name in ("result", "traceback"), f"{where}: unknown section {name}"
        cell.expected[name] = text


def matches(expected: str, actual: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.split("<*>"))
    return re.fullmatch(pattern, actual, re.DOTALL) is not None


def check(file: CellFile, cell: Cell, run: Run) -> None:
    """AssertionError that shows the cell, what was expected and the whole run."""
    expected = cell.expected
    default_status = "error" if cell.error_name else "ok"
    actual = {
        "stdout": run.stdout,
        "stderr": run.stderr,
        "result": run.result or "",
        "error": run.error_name or "",
        "status": run.status,
        "state": run.state,
        "exit": "" if run.exit_code is None else str(run.exit_code),
    }
    wanted = {
        **{name: expected.get(name, "") for name in ("stdout", "stderr", "result", "exit")},
        "error": cell.error_name or "",
        "status": expected.get("status", default_status),
        "state": expected.get("state", "kept"),
    }
    if expected.get("message"):
        wanted["message"] = expected["message"]
        actual["message"] = run.error["message"] if run.error else ""
    if "traceback" in expected:
        wanted["traceback"] = "<*>" + "<*>".join(expected["traceback"].split("\n")) + "<*>"
        actual["traceback"] = run.traceback
    wrong = [name for name in wanted if not matches(wanted[name], actual[name])]
    shown = [
        f"{name}: expected {wanted[name]!r}\n{' ' * len(name)}       got {actual[name]!r}"
        for name in wrong
    ]
    where = f"{file.path}:{cell.line}"
    assert not wrong, "\n".join([where, cell.code, "", *shown, describe(run)])
