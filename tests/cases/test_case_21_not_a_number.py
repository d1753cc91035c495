# SPDX-License-Identifier: Apache-2.0
"""Case 21: NaN and infinities become null in JSON and stay themselves in text."""

from conftest import Between
from quick.client import Context


def test_python(python: Context, between: Between) -> None:
    between(python)
    run = python.run("{'a': float('nan'), 'b': [float('-inf')], 'c': -0.0, 'd': 1e400}").ok()
    assert run.result == "{'a': nan, 'b': [-inf], 'c': -0.0, 'd': inf}"
    assert run.output("json")["value"] == {"a": None, "b": [None], "c": -0.0, "d": None}
    assert run.stderr == ""


def test_python_display_of_json(python: Context) -> None:
    code = "class J:\n    def _repr_json_(self): return {'x': [float('nan'), float('inf'), 2**70, 1.5]}\nJ()"
    run = python.run(code).ok()
    assert run.output("json")["value"] == {"x": [None, None, 2**70, 1.5]}
    assert run.stderr == ""


def test_javascript(javascript: Context, between: Between) -> None:
    between(javascript)
    run = javascript.run("({ a: NaN, b: -0, c: [Infinity], d: 10n, e: undefined })").ok()
    assert run.result == "{ a: NaN, b: -0, c: [ Infinity ], d: 10n, e: undefined }"
    assert run.stderr == ""


def test_numbers_keep_their_digits(python: Context) -> None:
    run = python.run("[0.1, 1e22, 1e-7, 2**53 + 1, -(2**63), 123456789012345678901234567890]").ok()
    assert run.output("json")["value"] == [
        0.1,
        1e22,
        1e-7,
        2**53 + 1,
        -(2**63),
        123456789012345678901234567890,
    ]
