# SPDX-License-Identifier: Apache-2.0
"""Case 47: console does what Node's does (the common parts are cells/javascript/streams.cell)."""

import pytest

from conftest import Between
from quick.client import Context

# (code, stdout, stderr), as Node 20 prints them.
TABLE = [
    ("console.log('%s %d %o %%', 'a', 1, {})", "a 1 {} %\n", ""),
    ("console.log('%s', null, undefined, 5n)", "null undefined 5n\n", ""),
    ("console.log('%c styled', 'color: red')", " styled\n", ""),
    ("console.log('100%', 'x')", "100% x\n", ""),
    ("console.log('%i %f', '42.9px', '1.5x')", "42 1.5\n", ""),
    ("console.log('%j', { a: [1] })", '{"a":[1]}\n', ""),
    ("console.log('%O', { a: { b: { c: {} } } })", "{ a: { b: { c: {} } } }\n", ""),
    ("console.log(-0, [-0], 1e21, 0.1)", "-0 [ -0 ] 1e+21 0.1\n", ""),
    ("console.log('a\\nb', ['a\\nb'])", "a\nb [ 'a\\nb' ]\n", ""),
    ("console.log([undefined, null, , 'x'])", "[ undefined, null, <1 empty item>, 'x' ]\n", ""),
    ("console.log({ a: { b: { c: { d: 1 } } } })", "{ a: { b: { c: [Object] } } }\n", ""),
    (
        "console.log(class A {}, class B extends Map {}, function f() {}, () => {})",
        "[class A] [class B extends Map] [Function: f] [Function (anonymous)]\n",
        "",
    ),
    ("console.log(new (class Foo { x = 1 })())", "Foo { x: 1 }\n", ""),
    ("console.log(Object.create(null))", "[Object: null prototype] {}\n", ""),
    (
        "console.log([1.5, 'two', [3]], new Set(['a']), new Map([['k', { v: 1 }]]))",
        "[ 1.5, 'two', [ 3 ] ] Set(1) { 'a' } Map(1) { 'k' => { v: 1 } }\n",
        "",
    ),
    (
        "console.log(new Uint8Array([1, 2]), Buffer.from('hi'))",
        "Uint8Array(2) [ 1, 2 ] <Buffer 68 69>\n",
        "",
    ),
    (
        "console.log(new Date(0), /x/gi, Symbol('s'))",
        "1970-01-01T00:00:00.000Z /x/gi Symbol(s)\n",
        "",
    ),
    ("console.log({ get a() { return 1 }, set b(v) {} })", "{ a: [Getter], b: [Setter] }\n", ""),
    ("console.log({ [Symbol('k')]: 1, 'b-c': 2 })", "{ 'b-c': 2, [Symbol(k)]: 1 }\n", ""),
    ("console.log([['a', 1], ['b', 2]].map(([k]) => k).join())", "a,b\n", ""),
    ("console.error('e'); console.warn('w'); console.trace === undefined", "", "e\nw\n"),
    ("console.assert(false, 'm'); console.assert(1 === 1, 'no')", "", "Assertion failed: m\n"),
    ("console.assert(false)", "", "Assertion failed\n"),
    ("console.group('g'); console.error('in'); console.groupEnd()", "g\n", "  in\n"),
    ("console.count('c'); console.count('c')", "c: 1\nc: 2\n", ""),
    ("console.dir({ a: 1 })", "{ a: 1 }\n", ""),
    ("console.dirxml('x'); console.info('i'); console.debug('d')", "x\ni\nd\n", ""),
    ("console.log()", "\n", ""),
    ("console.log('')", "\n", ""),
    ("process.stdout.write('no nl')", "no nl", ""),
    ("const { log } = console; log('detached')", "detached\n", ""),
    (
        "console.table([{ a: [1, 2, 3, 4] }], ['a'])",
        "┌─────────┬──────────────────────────────┐\n"
        "│ (index) │ a                            │\n"
        "├─────────┼──────────────────────────────┤\n"
        "│ 0       │ [ 1, 2, 3, ... 1 more item ] │\n"
        "└─────────┴──────────────────────────────┘\n",
        "",
    ),
    (
        "console.dir([1234567.12345, -1e3, 1e21, 5n], { numericSeparator: true })",
        "[ 1_234_567.123_45, -1_000, 1e+21, 5n ]\n",
        "",
    ),
    ("console.log(['\\ud83d'])", "[ '\\ud83d' ]\n", ""),
]


@pytest.mark.parametrize(("code", "stdout", "stderr"), TABLE)
def test_console(
    javascript: Context, between: Between, code: str, stdout: str, stderr: str
) -> None:
    between(javascript)
    run = javascript.run(code).ok()
    assert (run.stdout, run.stderr) == (stdout, stderr)


def test_long_arrays_are_cut_and_wrapped(javascript: Context) -> None:
    run = javascript.run("console.log(Array.from({ length: 10_000 }, (_, i) => i))").ok()
    assert "... 9900 more items" in run.stdout and len(run.stdout) < 5000
    run = javascript.run("console.log(Array.from({ length: 7 }, (_, i) => i * 1000))").ok()
    assert run.stdout == "[\n     0, 1000, 2000,\n  3000, 4000, 5000,\n  6000\n]\n"


def test_a_table(javascript: Context) -> None:
    lines = javascript.run("console.table([{ a: 1, b: 'x' }])").ok().stdout.splitlines()
    assert len(lines) == 5 and "(index)" in lines[1] and "'x'" in lines[3]
    assert javascript.run("console.table(5)").ok().stdout == "5\n"


def test_counters_and_groups_live_on(javascript: Context, between: Between) -> None:
    javascript.run("console.count('n'); console.group()").ok()
    between(javascript)
    assert javascript.run("console.count('n')").ok().stdout.strip() == "n: 2"
    javascript.run("console.groupEnd()").ok()
    assert javascript.run("console.log('flat')").ok().stdout == "flat\n"


def test_assertions_do_not_stop_the_run(javascript: Context) -> None:
    run = javascript.run("console.assert(false, 'm'); console.log('after')").ok()
    assert (run.stdout, run.stderr) == ("after\n", "Assertion failed: m\n")


def test_time(javascript: Context) -> None:
    run = javascript.run("console.time('t'); console.timeLog('t', 'x'); console.timeEnd('t')").ok()
    lines = run.stdout.splitlines()
    assert (
        len(lines) == 2 and all(line.startswith("t: ") for line in lines) and lines[0].endswith("x")
    )
