# SPDX-License-Identifier: Apache-2.0
"""Case 41: top-level await changes the meaning of nothing else (see also cells/javascript/awaiting.cell)."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox


@pytest.fixture(params=["javascript", "typescript"])
def context(sandbox: Sandbox, request: pytest.FixtureRequest) -> Context:
    return sandbox.context(request.param)


@pytest.mark.parametrize(
    ("code", "check", "expected"),
    [
        ("const r = await Promise.resolve(5)", "r", "5"),
        ("let { a, ...b } = await (async () => ({ a: 1, c: 2 }))()", "[a, b]", "[ 1, { c: 2 } ]"),
        ("const [x, , y = 3] = await Promise.all([1, 2, undefined])", "[x, y]", "[ 1, 3 ]"),
        (
            "var v = await 1; function f() { return v } class C { static s = 2 }",
            "[v, f(), C.s]",
            "[ 1, 1, 2 ]",
        ),
        ("for await (const i of [1, Promise.resolve(2)]) { var last = i }", "last", "2"),
        ("for (const i of await Promise.resolve([3])) globalThis.seen = i", "seen", "3"),
        (
            "if (await true) { var inBlock = 1 } else { var never = 2 }",
            "[inBlock, never]",
            "[ 1, undefined ]",
        ),
        (
            "try { await Promise.reject(new Error('x')) } catch (e) { var caught = e.message }",
            "caught",
            "'x'",
        ),
        ("label: { await 0; var labelled = 1; break label }", "labelled", "1"),
        ("const t = `${await 'in template'}`", "t", "'in template'"),
        ("const arrow = async (p = 1) => await p; const called = await arrow()", "called", "1"),
        ("await null", "1", "1"),
        (
            "async function* g() { yield 1; yield await 2 } const all = []; for await (const n of g()) all.push(n)",
            "all",
            "[ 1, 2 ]",
        ),
    ],
)
def test_bindings_persist(
    context: Context, between: Between, code: str, check: str, expected: str
) -> None:
    context.run(code).ok()
    between(context)
    assert context.value(check) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("await 0; 1 + 1", "2"),
        ("await Promise.resolve('value')", "'value'"),
        ("await 0; const x = 1", "0"),
        ("const x = await 1; let y = 2", None),
        ("await 0; { 5 }", "5"),
        ("await undefined", None),
        ("(await Promise.resolve({ a: 1 })).a", "1"),
        ("[await 1, await 2]", "[ 1, 2 ]"),
        ("await 0; 'use strict'", "'use strict'"),
        ("typeof hoisted; await 0; typeof hoisted; function hoisted() {}", "'function'"),
        ("const fn = async () => { await 0; return 7 }; await fn()", "7"),
        ("(async () => { await 0; return 1 })()", "Promise { 1 }"),
        ("await (async () => { throw 1 })().catch(e => e + 1)", "2"),
        ("await { then(resolve) { resolve('thenable') } }", "'thenable'"),
    ],
)
def test_the_result_is_the_last_expressions(
    context: Context, between: Between, code: str, expected: str | None
) -> None:
    between(context)
    result = context.run(code).ok().result
    # A promise may be shown before or after it is settled.
    assert result == expected or (expected == "Promise { 1 }" and result == "Promise { <pending> }")


@pytest.mark.parametrize(
    "code",
    [
        "return 1",
        "await 0; return 1",
        "if (1) { return }",
        "break",
        "function f() { await 1 }",
        "await",
        "const x = await",
        "yield 1; await 0",
    ],
)
def test_what_is_no_program_stays_none(javascript: Context, code: str) -> None:
    run = javascript.run(code)
    assert run.status == "error" and run.error_name in ("SyntaxError", "ReferenceError"), run.raw


def test_await_as_a_name(javascript: Context, between: Between) -> None:
    javascript.run("var await = 3").ok()
    between(javascript)
    assert javascript.value("await + 1") in ("4", "1")
    assert javascript.value("const o = { await: 5 }; o.await") == "5"
    assert (
        javascript.value("function await2() { return 'await in text' } await2()")
        == "'await in text'"
    )


def test_errors_point_to_their_line(context: Context) -> None:
    run = context.run("await 0;\n\nawait Promise.reject(new RangeError('here'))")
    assert run.error_name == "RangeError" and "cell-1:3" in run.traceback
    run = context.run("await 0;\nawait (async () => {\n  await 0;\n  null.x\n})()")
    assert run.error_name == "TypeError" and "cell-2:4" in run.traceback
    run = context.run("await 0;\nlet = ;")
    assert run.error_name == "SyntaxError"


def test_const_made_by_await_is_const(context: Context, between: Between) -> None:
    context.run("const r = await 1; let l = await 2").ok()
    between(context)
    assert context.run("r = 2").error_name == "TypeError"
    assert context.value("l = 3; [r, l]") == "[ 1, 3 ]"


def test_a_promise_that_never_settles_is_an_error_not_a_hang(context: Context) -> None:
    run = context.run("await new Promise(() => {})", timeoutMs=20_000)
    assert run.status == "error", run.raw
    assert context.value("1") == "1"


def test_await_waits_for_timers_in_order(context: Context, between: Between) -> None:
    between(context)
    code = "const log = []; setTimeout(() => log.push('b'), 20); setTimeout(() => log.push('a'), 5); await new Promise(r => setTimeout(r, 60)); log"
    assert context.value(code) == "[ 'a', 'b' ]"
