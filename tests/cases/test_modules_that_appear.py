# SPDX-License-Identifier: Apache-2.0
"""A module that was looked for in vain is found once it is there, however it came there."""

from conftest import Between
from quick.client import Context

MISSING = "try:\n    import {0}\nexcept ImportError:\n    print('missing')"


def test_python_finds_what_came_through_the_file_routes(python: Context, between: Between) -> None:
    sandbox = python.sandbox
    sandbox.client.post(f"{sandbox.path}/files/mkdir", {"path": "package"})
    assert python.run(MISSING.format("late")).ok().stdout == "missing\n"
    assert python.run(MISSING.format("package.part")).ok().stdout == "missing\n"
    between(python)
    sandbox.write("late.py", "x = 1")
    sandbox.write("package/part.py", "y = 2")
    assert python.value("import late, package.part; (late.x, package.part.y)") == "(1, 2)"


def test_python_finds_what_another_context_wrote(python: Context, between: Between) -> None:
    assert python.run(MISSING.format("other")).ok().stdout == "missing\n"
    between(python)
    python.sandbox.run("from pathlib import Path; Path('other.py').write_text('z = 3')", language="python").ok()
    assert python.value("import other; other.z") == "3"


def test_python_forgets_what_it_knew_of_directories(python: Context) -> None:
    """`invalidate_caches` asks each finder, the one that explains missing modules too."""
    python.sandbox.write("fresh.py", "x = 1")
    assert python.value("import importlib; importlib.invalidate_caches(); import fresh; fresh.x") == "1"
    run = python.run("import tkinter")
    assert run.error_name == "ModuleNotFoundError" and "No module named 'tkinter': " in run.error["message"]
