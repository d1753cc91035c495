# SPDX-License-Identifier: Apache-2.0
"""Runs one test module of a package: this is what a context is given (own_tests.py). Prints the counts as JSON."""

import contextlib
import importlib
import io
import json
import os
import sys
import types
from pathlib import Path

FOLDER = Path("/workspace")
OPTIONS = ["-q", "-s", "--tb=line", "--strict-markers"]
OFF = ["cacheprovider", "faulthandler", "threadexception", "unraisableexception"]
# Those that need what no run has, or a long time.
CHOICE = "not slow and not network and not single_cpu and not db and not clipboard and not image"
MARKERS = ["slow", "network", "single_cpu", "db", "clipboard", "arm_slow", "skip_ubsan", "fails_arm_wheels"]
MARKERS += ["timeout", "flaky", "image", "threads", "text", "big", "pil_noop_mark"]

# What test modules import at their top though only some of their tests need it: these fail, the others run.
ABSENT = {"ctypes": ["c_bool"], "mmap": []}


class Count:
    def __init__(self):
        self.counts = {}
        self.failures = []

    def pytest_configure(self, config):
        for name in MARKERS:
            config.addinivalue_line("markers", name)

    def pytest_collection_modifyitems(self, items):
        # Matplotlib's comparisons with pictures that another version of FreeType has drawn.
        items[:] = [item for item in items if "extension" not in getattr(item, "fixturenames", ())]

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            expected = hasattr(report, "wasxfail") and report.outcome == "skipped"
            outcome = "xfailed" if expected else report.outcome
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
            if outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                message = crash.message if crash is not None else str(report.longrepr)[-300:]
                self.failures.append([report.nodeid.partition("::")[2], " ".join(message.split())[:300]])

    def pytest_collection_finish(self, session):
        for name in ABSENT:
            sys.modules.pop(name, None)

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.counts["failed"] = self.counts.get("failed", 0) + 1
            self.failures.append(["", " ".join(str(report.longrepr).split())[-300:]])


def add_tests():
    """Test modules import each other as parts of the package."""
    suite = FOLDER / "suite"
    for tests in sorted(suite.rglob("tests")):
        # Matplotlib's look for the folder of the pictures, which are left out.
        (tests / "baseline_images").mkdir(exist_ok=True)
        parent = tests.parent.relative_to(suite)
        if "tests" not in parent.parts:
            with contextlib.suppress(ImportError):
                importlib.import_module(".".join(parent.parts)).__path__.append(str(tests.parent))


def stand_in():
    """Empty modules in the place of those that are absent, until all tests are collected."""
    importlib.import_module("numpy.ctypeslib")  # It does without ctypes where there is none.
    for name, members in ABSENT.items():
        module = sys.modules[name] = types.ModuleType(name)
        for member in members:
            setattr(module, member, None)


def run(package, module, more=()):
    add_tests()
    os.chdir(FOLDER / "suite" / package)
    import pytest

    stand_in()
    count = Count()
    plugins = [word for name in OFF for word in ("-p", f"no:{name}")]
    shown = io.StringIO()
    # The run's own streams: tests that look at them replace them.
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        status = pytest.main(
            [str(FOLDER / "suite" / package / module), "-m", CHOICE, *OPTIONS, *plugins, *more], plugins=[count]
        )
    if status not in (0, 1, 5):
        count.counts["failed"] = count.counts.get("failed", 0) + 1
        count.failures.append(["", " ".join(shown.getvalue().split())[-300:]])
    print("\n" + json.dumps({"counts": count.counts, "failures": count.failures}))
