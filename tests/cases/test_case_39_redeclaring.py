# SPDX-License-Identifier: Apache-2.0
"""Case 39: a later run may declare anything again; within one run the language's rules hold."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox

KINDS = {
    "const": "const k = {}",
    "let": "let k = {}",
    "var": "var k = {}",
    "class": "class k {{ static v = {} }}",
    "function": "function k() {{ return {} }}",
}
READ = {"class": "k.v", "function": "k()"}


@pytest.fixture(params=["javascript", "typescript"])
def context(sandbox: Sandbox, request: pytest.FixtureRequest) -> Context:
    return sandbox.context(request.param)


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_any_kind_may_follow_any_kind(javascript: Context, first: str, second: str) -> None:
    javascript.run(KINDS[first].format(1)).ok()
    assert javascript.value(READ.get(first, "k")) == "1"
    javascript.run(KINDS[second].format(2)).ok()
    assert javascript.value(READ.get(second, "k")) == "2"


def test_the_newest_wins_and_closures_keep_theirs(context: Context, between: Between) -> None:
    context.run(
        "const k = 1; let m = 2; class C { v() { return 1 } } function f() { return k }\nconst saved = f; const oldC = new C();"
    ).ok()
    between(context)
    context.run(
        "const k = 10; let m = 20; class C { v() { return 100 } } function f() { return k * 2 }"
    ).ok()
    between(context)
    assert (
        context.value("[k, m, f(), new C().v(), oldC.v(), oldC instanceof C]")
        == "[ 10, 20, 20, 100, 1, false ]"
    )
    assert context.value("saved === f") == "false"


@pytest.mark.parametrize(
    "code", ["let a; let a", "const a = 1; let a", "let a; var a", "class a {} let a", "const a"]
)
def test_within_one_run_it_is_a_syntax_error(javascript: Context, code: str) -> None:
    run = javascript.run(code)
    assert (run.status, run.error_name) == ("error", "SyntaxError")
    assert javascript.run("typeof a").ok().result == "'undefined'"


@pytest.mark.parametrize(
    "code",
    [
        "k = 9",
        "k++",
        "k += 1",
        "[k] = [9]",
        "for (k of [1]);",
        "(() => { k = 9 })()",
        "eval('k = 9')",
        "'use strict'; k = 9",
    ],
)
def test_a_constant_cannot_be_assigned(context: Context, between: Between, code: str) -> None:
    context.run("const k = 1").ok()
    between(context)
    assert context.run(code).error_name == "TypeError"
    assert context.value("k") == "1"


def test_strict_mode_and_deleting(javascript: Context, between: Between) -> None:
    javascript.run("'use strict'; const s = 1").ok()
    between(javascript)
    javascript.run("'use strict'; const s = 2").ok()
    assert javascript.value("s") == "2"
    assert javascript.run("'use strict'; notDeclared = 1").error_name == "ReferenceError"
    javascript.run("globalThis.g = 1; let l = 1").ok()
    assert (
        javascript.value("[delete globalThis.g, typeof g, delete globalThis.l, l]")
        == "[ true, 'undefined', true, 1 ]"
    )


def test_a_declaration_that_failed_can_be_made_again(context: Context, between: Between) -> None:
    assert context.run("const x = (() => { throw new Error('no') })()").error_name == "Error"
    between(context)
    context.run("const x = 1").ok()
    assert context.value("x") == "1"
    assert context.run("let y = null.z").error_name == "TypeError"
    assert context.value("y = 5; y") == "5" or context.value("let y = 5; y") == "5"


def test_functions_see_later_declarations(javascript: Context, between: Between) -> None:
    javascript.run("function get() { return later }").ok()
    assert javascript.run("get()").error_name == "ReferenceError"
    javascript.run("let later = 7").ok()
    between(javascript)
    assert javascript.value("get()") == "7"
    javascript.run("later = 8").ok()
    assert javascript.value("get()") == "8"


def test_shadowing_a_builtin(javascript: Context, between: Between) -> None:
    javascript.run(
        "const console2 = console; let Math = 5; function Array() { return 'mine' } var process = 1"
    ).ok()
    between(javascript)
    assert javascript.value("[Math, Array(), [1].length, process]") == "[ 5, 'mine', 1, 1 ]"
    assert javascript.run("console.log('ok')").ok().stdout == "ok\n"
