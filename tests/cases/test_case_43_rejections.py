# SPDX-License-Identifier: Apache-2.0
"""Case 43: unhandled rejections and late throws are errors of their run, and the context lives."""

import pytest

from conftest import Between
from quick.client import Context

REPORTED = [
    ("Promise.reject(new Error('x')); 0", "Error", "x"),
    ("(async () => { throw new TypeError('y') })(); 0", "TypeError", "y"),
    ("setTimeout(() => { throw new RangeError('late') }, 1); 0", "RangeError", "late"),
    ("queueMicrotask(() => { throw new Error('micro') })", "Error", "micro"),
    ("process.nextTick(() => { throw new Error('tick') })", "Error", "tick"),
    (
        "new Promise((_, reject) => setTimeout(() => reject(new Error('rejected late')), 5)); 0",
        "Error",
        "rejected late",
    ),
    ("Promise.resolve().then(() => { throw new Error('then') }); 0", "Error", "then"),
    ("setInterval(() => { throw new Error('interval') }, 1); 0", "Error", "interval"),
]


@pytest.mark.parametrize(("code", "name", "message"), REPORTED)
def test_what_nobody_handles_is_reported(
    javascript: Context, between: Between, code: str, name: str, message: str
) -> None:
    javascript.run("var keep = 1").ok()
    between(javascript)
    run = javascript.run(code, timeoutMs=10_000)
    assert (run.status, run.state) == ("error", "kept"), run.raw
    assert run.error is not None and run.error["name"] == name and message in run.error["message"]
    assert "cell-2" in run.traceback
    between(javascript)
    assert javascript.value("keep") == "1"
    assert javascript.run("1").ok().stderr == ""


@pytest.mark.parametrize(
    "code",
    [
        "const p = Promise.reject(new Error('a')); p.catch(() => {}); 0",
        "const p = Promise.reject(new Error('a')); queueMicrotask(() => p.catch(() => {})); 0",
        "const p = Promise.reject(new Error('a')); setTimeout(() => p.catch(() => {}), 5); 0",
        "Promise.allSettled([Promise.reject(1), Promise.resolve(2)]); 0",
        "Promise.reject(1).finally(() => {}).catch(() => {}); 0",
        "try { await Promise.reject(new Error('b')) } catch {} 0",
        "await Promise.any([Promise.reject(1), Promise.resolve(2)]); 0",
    ],
)
def test_what_is_handled_in_time_is_not(javascript: Context, code: str) -> None:
    run = javascript.run(code).ok()
    assert run.result == "0" and run.stderr == ""


@pytest.mark.parametrize(
    "value",
    [
        "undefined",
        "null",
        "'text'",
        "5",
        "{ code: 1 }",
        "Object.create(null)",
        "Symbol('s')",
        "10n",
        "() => 1",
        "new Proxy({}, { get() { throw 1 } })",
    ],
)
@pytest.mark.parametrize("how", ["throw {}", "await Promise.reject({})", "Promise.reject({}); 0"])
def test_any_value_may_be_thrown(javascript: Context, how: str, value: str) -> None:
    run = javascript.run(how.format(f"({value})"))
    assert (run.status, run.state) == ("error", "kept")
    assert run.error is not None and run.error["name"] and isinstance(run.error["message"], str)
    assert javascript.value("1") == "1"


def test_a_rejection_of_an_earlier_run_handled_later(javascript: Context, between: Between) -> None:
    assert javascript.run("var p = Promise.reject(new Error('first'))").status == "error"
    between(javascript)
    assert javascript.value("let got; p.catch(e => { got = e.message }); await 0; got") == "'first'"


def test_handlers_of_the_process(javascript: Context, between: Between) -> None:
    javascript.run(
        "const seen = []; process.on('unhandledRejection', reason => seen.push(reason.message)); process.on('uncaughtException', e => seen.push(e.message))"
    ).ok()
    between(javascript)
    run = javascript.run(
        "Promise.reject(new Error('r')); setTimeout(() => { throw new Error('e') }, 1); 0"
    )
    assert run.status == "ok", run.raw
    assert javascript.value("seen.sort()") == "[ 'e', 'r' ]"


def test_several_at_once_are_all_seen(javascript: Context) -> None:
    run = javascript.run(
        "Promise.reject(new Error('one')); Promise.reject(new Error('two')); throw new Error('three')"
    )
    assert run.status == "error"
    everything = run.traceback + run.stderr
    assert all(word in everything for word in ("one", "two", "three"))


def test_typescript(typescript: Context, between: Between) -> None:
    typescript.run("var keep: number = 1").ok()
    between(typescript)
    run = typescript.run("interface A {}\n\nPromise.reject(new Error('typed')); 0")
    assert (run.status, run.error_name) == ("error", "Error") and "cell-2:3" in run.traceback
    assert typescript.value("keep") == "1"
