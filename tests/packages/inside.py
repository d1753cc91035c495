# SPDX-License-Identifier: Apache-2.0
"""Runs one test module of a package: this is what a context is given (own_tests.py). Prints the counts as JSON."""

import contextlib
import importlib
import io
import json
from pathlib import Path

FOLDER = Path("/workspace")
OPTIONS = ["-q", "-s", "--tb=line", "--strict-markers", "-o", "xfail_strict=true"]
OFF = ["cacheprovider", "faulthandler", "threadexception", "unraisableexception"]
# Those that need what no run has, or a long time.
CHOICE = "not slow and not network and not single_cpu and not db and not clipboard"
MARKERS = ["slow", "network", "single_cpu", "db", "clipboard", "arm_slow", "skip_ubsan", "fails_arm_wheels"]


class Count:
    def __init__(self):
        self.counts = {}
        self.failures = []

    def pytest_configure(self, config):
        for name in MARKERS:
            config.addinivalue_line("markers", name)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
            if outcome == "failed":
                crash = getattr(report.longrepr, "reprcrash", None)
                message = crash.message if crash is not None else str(report.longrepr)[-300:]
                self.failures.append([report.nodeid.partition("::")[2], " ".join(message.split())[:300]])

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.counts["failed"] = self.counts.get("failed", 0) + 1
            self.failures.append(["", " ".join(str(report.longrepr).split())[-300:]])


def add_tests(package):
    """Test modules import each other as parts of the package."""
    importlib.import_module(package)
    suite = FOLDER / "suite"
    for tests in sorted(suite.rglob("tests")):
        parent = tests.parent.relative_to(suite)
        if "tests" not in parent.parts:
            with contextlib.suppress(ImportError):
                importlib.import_module(".".join(parent.parts)).__path__.append(str(tests.parent))


def run(package, module, more=()):
    add_tests(package)
    import pytest

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
