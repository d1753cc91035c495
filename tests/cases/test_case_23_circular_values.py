# SPDX-License-Identifier: Apache-2.0
"""Case 23: values that hold themselves, and values without end."""

import pytest

from conftest import Between
from quick.client import Context


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = []; a.append(a); a", "[[...]]"),
        ("d = {}; d['d'] = d; d", "{'d': {...}}"),
        ("t = ([],); t[0].append(t); t", "([(...)],)"),
    ],
)
def test_python(python: Context, between: Between, code: str, expected: str) -> None:
    between(python)
    assert python.value(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("const o = {}; o.me = o; o", "<ref *1> { me: [Circular *1] }"),
        ("const a = []; a.push(a); a", "<ref *1> [ [Circular *1] ]"),
        ("const m = new Map(); m.set('m', m); m", "<ref *1> Map(1) { 'm' => [Circular *1] }"),
    ],
)
def test_javascript(javascript: Context, between: Between, code: str, expected: str) -> None:
    between(javascript)
    assert javascript.value(code) == expected


def test_an_error_that_causes_itself(python: Context, javascript: Context) -> None:
    run = python.run("e = ValueError('self'); e.__cause__ = e; raise e")
    assert (run.status, run.error_name) == ("error", "ValueError")
    run = javascript.run("const e = new Error('self'); e.cause = e; throw e")
    assert (run.status, run.error_name) == ("error", "Error")
    assert javascript.run("e").ok().result is not None


@pytest.mark.parametrize(
    "code",
    [
        "list(range(10**6))",
        "'x' * 10**7",
        "{i: i for i in range(10**6)}",
        "set(range(10**6))",
        "b'x' * 10**7",
        "bytearray(10**7)",
        "a = []\nfor _ in range(10_000): a = [a]\na",
        "range(10**9)",
        "[['x' * 1000] * 1000] * 1000",
        "2**100_000",
        "'\\n' * 10**6",
    ],
)
def test_large_python_values_are_cut(python: Context, code: str) -> None:
    result = python.run(code).ok().result
    assert result is not None and 5 < len(result) < 100_000


@pytest.mark.parametrize(
    "code",
    [
        "Array.from({ length: 1e6 }, (_, i) => i)",
        "'x'.repeat(1e7)",
        "Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['k' + i, i]))",
        "let a = []; for (let i = 0; i < 10000; i++) a = [a]; a",
        "new Uint8Array(1e7)",
        "new Map(Array.from({ length: 1e5 }, (_, i) => [i, i]))",
        "2n ** 100000n",
        "Array(1e9)",
        "new Set(Array(1e5).keys())",
    ],
)
def test_large_javascript_values_are_cut(javascript: Context, code: str) -> None:
    result = javascript.run(code).ok().result
    assert result is not None and 5 < len(result) < 100_000
