# SPDX-License-Identifier: Apache-2.0
"""Runs parts of the interpreters' own test suites, each file in a context of its own, through the public interface.

`python -m upstream.run SUITES RESULTS LANGUAGE…`, in tests/: SUITES holds a folder per language, as scripts/upstream-tests lays them out. Writes
RESULTS/LANGUAGE.tsv and prints a summary; `DORMOUSE_UPSTREAM_FILES` is a pattern of file names to run alone."""

import os
import re
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from quick.client import ApiError, Client, Sandbox
from quick.server import Server
from upstream.page import Results
from upstream.programs import Outcome, program_of

HERE = Path(__file__).resolve().parent
CONFIG = "[limits]\nstop_grace_ms = 5000\n"

# Longer than the time limit of any file, on a machine with other work.
PATIENCE_S = 1200.0

# What of a suite the tests need beside themselves.
NEEDED = {
    "python": ("Lib/test/*.py", "Lib/test/support/**/*.py", "Lib/test/test_*/**/*.py", "Lib/test/test_json/**/*", "Lib/test/typinganndata/*.py",
               "Lib/test/mathdata/*", "Lib/test/decimaltestdata/*", "Lib/test/tokenizedata/*", "Lib/test/configdata/*", "Lib/test/data/*", "Lib/test/archivetestdata/*"),
    "perl": ("t/*.pl", "t/TEST", "t/lib/**/*", "t/op/*.t", "t/re/*", "t/io/*", "t/uni/*", "t/mro/*", "t/comp/*", "t/cmd/*", "t/base/*"),
    "ruby": ("tool/lib/**/*.rb", "test/ruby/*.rb", "test/lib/**/*.rb"),
    "javascript": ("tests/*.js", "tests/pass/*.js", "tests/fail/*.js", "tests/early/*.js"),
}  # fmt: skip


# What all tests of Perl load would replace the library's path by one of the source tree, has a `system` of a form that does not compile here, and
# compares what other processes print: such comparisons are skipped. A process that there is none of tells a text and a status of its own.
SKIP = b'_print "ok $test # skip needs another process\n"; $test = $test + 1; '
# What is tied is not read: tests count how often it is.
FROM_PROCESS = b'if (!tied(%s) && defined %s && %s =~ /^(?:needs another process|30583)$/) { ' + SKIP + b"return 1 }"
PERL_CHANGES = (
    (b"sub set_up_inc {", b"sub set_up_inc { push @INC, grep { !m{^\\.\\./} } @_; return;"),
    (b"system({ $runperl } 1,", b"system(1,"),
    (b"sub _fresh_perl {", b"sub _fresh_perl { " + SKIP + b"return 1;"),
    (b"sub runperl {", b'sub runperl { $? = 30583; return "needs another process";'),
    (b"sub is ($$@) {", b"sub is ($$@) { " + FROM_PROCESS.replace(b"%s", b"$_[0]")),
    (b"sub like_yn ($$$@) {", b"sub like_yn ($$$@) { " + FROM_PROCESS.replace(b"%s", b"$_[1]")),
    (b"\tmy $status = $?;\n\t$results =~", b"\tif ($? == 30583) { " + SKIP + b"next PROGRAM }\n\tmy $status = $?;\n\t$results =~"),
)


HEAD = "file\tpassed\tfailed\tskipped\ttest\treport"


class Table:
    """RESULTS/LANGUAGE.tsv: a line for each file, or for each of its tests that does not pass. Results of files that are not run stay."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, list[str]] = {}
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            self.lines.setdefault(line.split("\t")[0], []).append(line)

    def put(self, name: str, outcome: Outcome) -> None:
        row: list[object] = [name, outcome.passed, len(outcome.failed), outcome.skipped]
        lines = []
        for test, what in outcome.failed or [("", "")]:
            lines.append("\t".join(" ".join(str(cell).split()) for cell in (*row, test, what)))
            row = [name, "", "", ""]
        self.lines[name] = lines

    def write(self, names: list[str]) -> None:
        """Those of `names`, in this order."""
        lines = [HEAD, *(line for name in names for line in self.lines.get(name, []))]
        self.path.write_text("\n".join(lines) + "\n")


def upload(sandbox: Sandbox, language: str, root: Path) -> None:
    for pattern in NEEDED[language]:
        for path in sorted(root.glob(pattern)):
            if path.is_file():
                inside = path.relative_to(root / "Lib" if language == "python" else root)
                content = path.read_bytes()
                if str(inside) == "t/test.pl":
                    for before, after in PERL_CHANGES:
                        content = content.replace(before, after)
                query = f"path={quote(f'/workspace/{inside}', safe='')}&createParents=true"
                sandbox.client.http.put(f"{sandbox.path}/files/content?{query}", content=content).raise_for_status()


def names_of(language: str, wanted: str, suite: dict[str, str], root: Path) -> list[str]:
    names = [name for name in suite["files"].split() if re.search(wanted, name)]
    for name in names:
        inside = name if language in ("perl", "javascript") else f"test_{name}"
        path = root / suite["root"] / inside
        assert path.exists() or path.with_suffix(".py").exists() or path.with_suffix(".rb").exists(), f"{language} has no {name}"
    return names


def run_file(sandbox: Sandbox, language: str, suite: dict[str, str], root: Path, name: str) -> Outcome:
    program = program_of(language, name)
    context = sandbox.context(language)
    try:
        code = program.code(root / suite["root"], name)
        return program.read(context.run(code, cwd=program.cwd, timeoutMs=int(suite["time_limit_s"]) * 1000))
    except ApiError as error:
        return Outcome(failed=[("the whole file", str(error))])
    finally:
        context.delete()


def run_suite(client: Client, language: str, suite: dict[str, str], root: Path, table: Table) -> None:
    names = names_of(language, "", suite, root)
    sandbox = client.sandbox()
    upload(sandbox, language, root)
    for name in names_of(language, os.environ.get("DORMOUSE_UPSTREAM_FILES", ""), suite, root):
        outcome = run_file(sandbox, language, suite, root, name)
        table.put(name, outcome)
        table.write(names)
        print(f"{language} {name}: {outcome.passed} passed, {len(outcome.failed)} failed, {outcome.skipped} skipped", flush=True)
    sandbox.delete()


def main() -> None:
    suites = tomllib.loads((HERE / "suites.toml").read_text())
    where, results = Path(sys.argv[1]), Path(sys.argv[2])
    results.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as data:
        server = Server(Path(data) / "data", CONFIG).start()
        server.client.http.timeout = PATIENCE_S
        try:
            for language in sys.argv[3:]:
                path = results / f"{language}.tsv"
                run_suite(server.client, language, suites[language], where / suites[language]["package"], Table(path))
                sums = Results(path)
                print(f"{language}: {sums.passed} passed, {sums.failed} failed, {sums.skipped} skipped: {sums.rate}")
        finally:
            server.close()


if __name__ == "__main__":
    main()
