# SPDX-License-Identifier: Apache-2.0
"""Runs a package's own tests inside an engine, one test module in one context:

    cd tests && PYTHON packages/own_tests.py SOURCE [--binding PYTHON_DATA] [--report FILE] [MODULE…]

SOURCE is the unpacked source distribution's package folder (…/numpy); MODULE names test modules by their path in it,
`linalg/tests/test_linalg.py`; without any, all are run. The test runner is this environment's own pytest, which is
put into the workspace. Prints a line for each module, and the failures."""

import argparse
import importlib.util
import io
import json
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from quick.client import Sandbox
from quick.server import CONFIG, Server

RUNNER = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
SINGLE = ("py.py",)
LIMIT_S = 600

START = """
import sys, zipfile
zipfile.ZipFile("/workspace/tests.zip").extractall("/workspace")
sys.path.insert(0, "/workspace/runner")
"""

CELL = """
import contextlib, io, json, pytest

class Count:
    def __init__(self):
        self.counts, self.failures = {}, []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
            if outcome == "failed":
                line = str(report.longrepr).strip().splitlines()[-1:]
                self.failures.append([report.nodeid, *line])

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.counts["uncollected"] = 1
            self.failures.append([report.nodeid, str(report.longrepr)[-300:]])

count = Count()
arguments = [MODULE, "-q", "-s", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:threadexception",
             "--tb=line", "-m", "not slow and not network and not single_cpu and not db"]
shown = io.StringIO()
with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
    status = pytest.main(arguments, plugins=[count])
if status not in (0, 1):
    count.failures.append([MODULE, shown.getvalue()[-2000:]])
print("\\n" + json.dumps({"counts": count.counts, "failures": count.failures}))
"""


def archive(package: Path) -> bytes:
    """The package's tests and the runner; no file of the package itself."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(package.rglob("*")):
            inside = path.relative_to(package)
            # Its conftest.py wants `hypothesis`, which is no pure Python: modules that need that are not collected.
            if path.is_file() and "tests" in inside.parts and inside.name != "conftest.py":
                target.write(path, f"suite/{inside}")
        for name in RUNNER:
            spec = importlib.util.find_spec(name)
            assert spec is not None and spec.origin is not None, name
            root = Path(spec.origin).parent
            for path in sorted(root.rglob("*.py")):
                target.write(path, f"runner/{name}/{path.relative_to(root)}")
        for name in SINGLE:
            target.write(root.parent / name, f"runner/{name}")
    return buffer.getvalue()


def run_module(sandbox: Sandbox, binding: str, module: str) -> dict[str, object]:
    context = sandbox.context("python", binding=binding)
    context.run(START, timeoutMs=LIMIT_S * 1000).ok()
    code = CELL.replace("MODULE", repr(f"/workspace/suite/{module}"))
    run = context.run(code, timeoutMs=LIMIT_S * 1000)
    context.delete()
    if run.status != "ok":
        return {"counts": {run.status: 1}, "failures": [[module, run.traceback[-2000:]]]}
    return dict(json.loads(run.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--binding", default="PYTHON_DATA")
    parser.add_argument("--report", type=Path)
    parser.add_argument("module", nargs="*")
    arguments = parser.parse_args()
    source = arguments.source
    modules = arguments.module or sorted(str(path.relative_to(source)) for path in source.rglob("test_*.py"))
    content = archive(source)
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory) / "data", CONFIG).start()
        try:
            for module in modules:
                sandbox = server.client.sandbox()
                sandbox.client.http.put(
                    f"{sandbox.path}/files/content", params={"path": "/workspace/tests.zip"}, content=content
                ).raise_for_status()
                report[module] = result = run_module(sandbox, arguments.binding, module)
                print(module, json.dumps(result["counts"]), flush=True)
                for failure in result["failures"]:  # type: ignore[attr-defined]
                    print("   ", *failure)
                sandbox.delete()
        finally:
            server.close()
    if arguments.report:
        arguments.report.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
