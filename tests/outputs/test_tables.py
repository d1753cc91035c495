# SPDX-License-Identifier: Apache-2.0
"""Tables: what is one by itself, and what display() makes one of."""

import pytest

from conftest import Between
from quick.client import Context, Run, Sandbox
from quick.engines import by_language

LANGUAGES = ["python", "javascript", "typescript", "perl", "ruby", "lua"]
RECORDS = {
    "python": "[{'n': 1, 's': 'a<b'}, {'n': 2.5, 's': None}]",
    "javascript": "[{ n: 1, s: 'a<b' }, { n: 2.5, s: null }]",
    "perl": "[{n => 1, s => 'a<b'}, {n => 2.5, s => undef}]",
    "ruby": "[{n: 1, s: 'a<b'}, {n: 2.5, s: nil}]",
    "lua": "{{n = 1, s = 'a<b'}, {n = 2.5, s = require('json').null}}",
}
MANY = {
    "python": "rows = [{'i': i, 'w': 'x' * 5} for i in range(6_000)]\nrows",
    "javascript": "const rows = Array.from({ length: 6000 }, (_, i) => ({ i, w: 'xxxxx' }))\nrows",
    "perl": "my $rows = [map { {i => $_, w => 'xxxxx'} } 0 .. 5999]; $rows",
    "ruby": "rows = (0...6000).map { |i| {i: i, w: 'xxxxx'} }\nrows",
    "lua": "rows = {}\nfor i = 0, 5999 do rows[i + 1] = {i = i, w = 'xxxxx'} end\nreturn rows",
}
SHOW = {
    "python": "display({}, format='data', orient='columns')",
    "javascript": "display({}, {{ format: 'data', orient: 'columns' }})",
    "perl": "display({}, {{format => 'data', orient => 'columns'}}); undef",
    "ruby": "display {}, format: 'data', orient: 'columns'",
    "lua": "display({}, {{format = 'data', orient = 'columns'}})",
}
for table in (RECORDS, MANY, SHOW):
    table["typescript"] = table["javascript"]


@pytest.fixture(params=by_language(LANGUAGES))
def context(request: pytest.FixtureRequest, sandbox: Sandbox) -> Context:
    return sandbox.context(request.param)


def formats(run: Run) -> list[str]:
    return [output["format"] for output in run.outputs]


def test_equal_records_are_a_table(context: Context, between: Between) -> None:
    between(context)
    run = context.run(RECORDS[context.language], artifactPolicy="promote").ok()
    # In Lua a null is no plain value.
    expected = ["text", "html", "json", "data"]
    assert formats(run) == [name for name in expected if context.language != "lua" or name != "json"]
    assert run.stderr == ""
    assert all(output["isResult"] for output in run.outputs)
    data = run.output("data")["value"]
    assert data["schema"]["fields"] == [
        {"name": "n", "type": "number"},
        {"name": "s", "type": "string"},
    ]
    assert data["data"] == [{"n": 1, "s": "a<b"}, {"n": 2.5, "s": None}]
    assert data["rowCount"] == 2 and "truncated" not in data
    page = context.sandbox.client.http.get(
        f"/v1/artifacts/{run.output('html')['artifactId']}/download"
    ).text
    assert page.startswith("<table>") and "a&lt;b" in page and page.count("<tr>") == 3


def test_a_table_by_columns(context: Context) -> None:
    run = context.run(SHOW[context.language].format(RECORDS[context.language])).ok()
    assert run.output("data")["value"]["data"] == {"n": [1, 2.5], "s": ["a<b", None]}
    first = 1 if context.language == "lua" else 0
    shown = ["n", "s", f"{first}", "1", "a<b", f"{first + 1}", "2.5"]
    assert run.output("text")["value"].split()[:7] == shown


def test_a_long_table_says_what_is_missing(context: Context) -> None:
    run = context.run(MANY[context.language], artifactPolicy="promote").ok()
    output = run.output("data")
    assert output["kind"] == "artifact" and output["contentType"] == "application/vnd.dataresource+json"
    download = context.sandbox.client.http.get(f"/v1/artifacts/{output['artifactId']}/download")
    data = download.json()
    assert (len(data["data"]), data["rowCount"], data["truncated"]) == (5000, 6000, True)
    rows = "$rows" if context.language == "perl" else "rows"
    run = context.run(SHOW[context.language].format(rows), artifactPolicy="promote").ok()
    lines = run.output("text")["value"].splitlines()
    assert len(lines) == 53 and lines[41] == "… 5,950 more rows …"
    last = "6000" if context.language == "lua" else "5999"
    assert lines[-1] == "[6,000 rows × 2 columns]" and lines[-2].split() == [last, "5999", "xxxxx"]


@pytest.mark.parametrize(
    ("language", "code"),
    by_language(
        [
            ("python", "[{'a': 1}, {'b': 1}]"),
            ("python", "[{'a': [1]}, {'a': [2]}]"),
            ("python", "[{1: 2}]"),
            ("python", "[{}]"),
            ("python", "[]"),
            ("javascript", "[{ a: 1 }, { b: 1 }]"),
            ("javascript", "[{ get a() { throw 1 } }]"),
            ("javascript", "[{ a: {} }]"),
            ("javascript", "[new Proxy({ a: 1 }, { ownKeys() { throw 1 } })]"),
            ("perl", "[{a => 1}, {b => 1}]"),
            ("perl", "[{a => []}]"),
            ("ruby", "[{a: 1}, {b: 1}]"),
            ("ruby", "[{a: [1]}]"),
            ("lua", "{{a = 1}, {b = 1}}"),
            ("lua", "{{a = {1}}}"),
            ("lua", "{setmetatable({a = 1}, {__index = error})}"),
        ]
    ),
)
def test_what_is_no_table(sandbox: Sandbox, language: str, code: str) -> None:
    assert "data" not in formats(sandbox.context(language).run(code).ok())


@pytest.mark.parametrize(
    ("language", "code"),
    by_language(
        [
            ("python", "class F:\n    columns = ['a']\n    def to_dict(self, orient='dict'): return {'a': [1, float('nan')]}\nF()"),
            ("python", "import collections; P = collections.namedtuple('P', 'a'); [P(1), P(float('inf'))]"),
            ("python", "import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: float\n[D(1), D(float('nan'))]"),
            ("python", "import sqlite3\nc = sqlite3.connect(':memory:'); c.row_factory = sqlite3.Row\nc.execute('values (1), (null)').fetchall()"),
            ("javascript", "({ columns: ['a'], toRecords() { return [{ a: 1 }, { a: NaN }] } })"),
            ("perl", "package F { sub new { bless {} } sub columns { 'a' } sub rows { [1], [9**9**9] } } F->new"),
            ("ruby", "S = Struct.new(:a)\n[S.new(1), S.new(Float::NAN)]"),
            ("ruby", "class F; def columns = [:a]; def to_h = {a: [1, Float::INFINITY]}; end\nF.new"),
        ]
    ),
)
def test_what_else_is_a_table(sandbox: Sandbox, between: Between, language: str, code: str) -> None:
    context = sandbox.context(language)
    context.run("1").ok()
    between(context)
    run = context.run(code).ok()
    data = run.output("data")["value"]["data"]
    assert [list(record.values()) for record in data] == [[1], [None]]
    assert run.stderr == "" and "html" in formats(run)
