# SPDX-License-Identifier: Apache-2.0
"""Cases 19 to 31 in the languages that have no file of their own for them: invalid text (19), cut characters (20), NaN (21),
circular values (23), the result (25), order (26), floods (27), lines of errors (29), pictures (30), rich results (31)."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.engines import by_language
from quick.sse import Event

LANGUAGES = ["python", "javascript", "typescript", "perl", "ruby", "lua"]


@pytest.fixture(params=by_language(LANGUAGES))
def context(request: pytest.FixtureRequest, sandbox: Sandbox) -> Context:
    return sandbox.context(request.param)


def in_own(table: dict[str, str], context: Context) -> str:
    own = table.get(context.language)
    return table["javascript"] if own is None else own


INVALID = {
    "python": ["import sys; n = sys.stdout.buffer.write(b'\\xff\\xfe')", "'\\ud83d'", "raise ValueError('\\ud83d')"],
    "javascript": ["process.stdout.write(Buffer.from([255, 254]))", "'\\ud83d'", "throw new Error('\\ud83d')"],
    "perl": ["print \"\\xff\\xfe\"", "chr(0xD800)", "die \"\\xff\\n\"", "print chr(0xD800)", "({chr(0xD800) => \"\\xff\"})"],
    "lua": ["io.write('\\xff\\xfe')", "'\\xff'", "error('\\xff')", "{['\\xff'] = '\\xed\\xa0\\x80'}"],
    "ruby": ["print \"\\xF3\"", "\"\\xF3\"", "raise \"\\xF3\"", "{\"\\xF3\" => \"\\xff\".b}", "warn \"\\xF3\""],
}


def test_case_19_invalid_text(context: Context, between: Between) -> None:
    between(context)
    for code in INVALID.get(context.language, INVALID["javascript"]):
        assert context.run(code).status in ("ok", "error"), code
        assert context.stream(code)[-1]["type"] == "complete"
    between(context)
    assert context.value("1 + 1") == "2"


BYTEWISE = {
    "python": "import os\nfor b in '🦔é'.encode(): n = os.write(1, bytes([b]))",
    "javascript": "for (const b of Buffer.from('🦔é')) process.stdout.write(Buffer.from([b])); undefined",
    "perl": "$| = 1; for (split //, '🦔é') { print $_ } undef",
    "lua": "for b in ('🦔é'):gmatch('.') do io.write(b); io.flush() end",
    "ruby": "'🦔é'.each_byte { |b| STDOUT.write(b.chr); STDOUT.flush }\nnil",
}


def test_case_20_cut_characters(context: Context, between: Between) -> None:
    between(context)
    events = context.stream(in_own(BYTEWISE, context))
    assert "".join(event["data"] for event in events if event["type"] == "stdout") == "🦔é"


NUMBERS = {
    "python": "{'a': float('nan'), 'b': [float('-inf'), 1.5]}",
    "javascript": "({ a: NaN, b: [-Infinity, 1.5] })",
    "perl": "my $inf = 9**9**9; my $h = {a => $inf / $inf, b => [-$inf, 1.5]}; $h",
    "ruby": "{a: Float::NAN, b: [-Float::INFINITY, 1.5]}",
    "lua": "{a = 0/0, b = {-1/0, 1.5}}",
}


def test_case_21_not_a_number(context: Context, between: Between) -> None:
    between(context)
    run = context.run(in_own(NUMBERS, context)).ok()
    assert run.output("json")["value"] == {"a": None, "b": [None, 1.5]}
    assert "nan" in str(run.result).lower() and "inf" in str(run.result).lower() and run.stderr == ""


CIRCULAR = {
    "python": ("a = []; a.append(a); a", "[[...]]"),
    "javascript": ("const o = {}; o.me = o; o", "[Circular *1]"),
    "perl": ("my $h = {}; $h->{h} = $h; $h", "$VAR1"),
    "ruby": ("h = {}; h[:h] = h; h", "{h: {...}}"),
    "lua": ("local t = {}; t.t = t; return t", "{t = {…}}"),
}
LARGE = {
    "python": "list(range(10**6))",
    "javascript": "Array.from({ length: 1e6 }, (_, i) => i)",
    "perl": "[1 .. 1e6]",
    "ruby": "(1..1_000_000).to_a",
    "lua": "local t = {}; for i = 1, 1e6 do t[i] = i end; return t",
}


def test_case_23_circular_values(context: Context, between: Between) -> None:
    code, expected = CIRCULAR.get(context.language, CIRCULAR["javascript"])
    between(context)
    assert expected in str(context.value(code))
    result = context.value(in_own(LARGE, context))
    assert result is not None and 5 < len(result) < 100_000 and "more" in result


RESULTS = {
    "perl": [("my $x = 5", "5"), ("(1, 2)", "(1, 2)"), ("undef", None), ("1;", "1"), ("print ''", None)],
    "ruby": [("x = 5", "5"), ("nil", None), ("1;", "1"), ("[]", "[]"), ("# only", None)],
    "lua": [("x = 5", None), ("nil", None), ("1 + 1", "2"), ("-- only", None)],
    "typescript": [("let n: number = 1", None), ("n = 2", "2"), ("null", "null")],
}


@pytest.mark.parametrize("language", by_language(RESULTS))
def test_case_25_the_result(sandbox: Sandbox, between: Between, language: str) -> None:
    context = sandbox.context(language)
    for code, expected in RESULTS[language]:
        assert context.value(code) == expected, code
        between(context)


ORDER = {
    "python": "import sys\nfor i in range(200): print(i, end=''); print('e', file=sys.stderr)\ndisplay('m')\nprint('end')",
    "javascript": "for (let i = 0; i < 200; i++) { process.stdout.write(`${i}`); console.error('e') } display('m'); console.log('end')",
    "perl": "for my $i (0 .. 199) { print $i; print STDERR \"e\\n\" } display('m'); print \"end\\n\"",
    "ruby": "200.times { |i| print i; warn 'e' }\ndisplay 'm'\nputs 'end'",
    "lua": "for i = 0, 199 do io.write(i); io.stderr:write('e\\n') end display('m') print('end')",
}


def order_of(events: list[Event]) -> str:
    return "".join("|" if event["type"] == "output" else event["data"] for event in events[:-1])


def test_case_26_order_of_output(context: Context, between: Between) -> None:
    between(context)
    expected = "".join(f"{i}e\n" for i in range(200)) + "|end\n"
    assert order_of(context.stream(in_own(ORDER, context))) == expected


FLOOD = {
    "python": "while True: print('x' * 1000)",
    "javascript": "for (;;) console.log('x'.repeat(1000))",
    "perl": "while (1) { print 'x' x 1000, \"\\n\" }",
    "ruby": "loop { puts 'x' * 1000 }",
    "lua": "while true do print(('x'):rep(1000)) end",
}
DISPLAYS = {
    "python": "for i in range(3000): display(i)",
    "javascript": "for (let i = 0; i < 3000; i++) display(i)",
    "perl": "display($_) for 0 .. 2999; undef",
    "ruby": "3000.times { |i| display i }\nnil",
    "lua": "for i = 0, 2999 do display(i) end",
}


def test_case_27_output_flood(context: Context, between: Between) -> None:
    run = context.run(in_own(FLOOD, context), timeoutMs=1500)
    assert run.status == "timeout" and run.raw["stdoutTruncated"] is True
    between(context)
    outputs = context.run(in_own(DISPLAYS, context)).ok().outputs
    assert len(outputs) == 101 and outputs[100]["reason"] == "output_too_large"


RAISE = {
    "perl": ("sub f {\n  my $x = 1;\n  die 'first';\n}", "f()", "line 3"),
    "ruby": ("def f\n  x = 1\n  raise 'first'\nend", "f", "cell-1:3"),
    "lua": ("function f()\n  local x = 1\n  error('first')\nend", "f()", "cell-1:3"),
}


@pytest.mark.parametrize("language", by_language(RAISE))
def test_case_29_lines_of_errors(sandbox: Sandbox, between: Between, language: str) -> None:
    context = sandbox.context(language)
    define, call, place = RAISE[language]
    context.run(define).ok()
    between(context)
    context.run("\n\n" + define.replace("first", "second")).ok()
    between(context)
    run = context.run(call)
    assert run.status == "error" and "second" in run.traceback
    assert place.replace("3", "5").replace("cell-1", "cell-2") in run.traceback
    assert "/usr/lib/dormouse" not in run.traceback


PICTURES = {
    "python": ("display(chart('bar', {'a': 1}))\nraise ValueError('after')", "x = chart('line', [1, 2])", "1"),
    "javascript": ("display(chart('bar', { a: 1 })); throw new Error('after')", "var x = chart('line', [1, 2])", "1"),
    "perl": ("display(chart('bar', {a => 1})); die 'after'", "our $x = chart('line', [1, 2]); undef", "1"),
    "ruby": ("display chart(:bar, {a: 1})\nraise 'after'", "x = chart(:line, [1, 2])\nnil", "1"),
    "lua": ("display(chart('bar', {a = 1})) error('after')", "x = chart('line', {1, 2})", "1"),
}


def test_case_30_each_picture_once(context: Context, between: Between) -> None:
    """Pictures made before an error are delivered, and none comes again or by itself."""
    raises, makes, nothing = PICTURES.get(context.language, PICTURES["javascript"])
    run = context.run(raises, artifactPolicy="promote")
    assert run.status == "error" and [output["format"] for output in run.outputs] == ["text", "chart", "svg"]
    between(context)
    for code in (nothing, makes):
        assert "svg" not in [output["format"] for output in context.run(code, artifactPolicy="promote").ok().outputs]


RICH = {
    "python": "display(b'\\x00\\x01'); display(b'', format='png'); display('x', format='a/b'); display('<svg onload=\"x\"/>', format='svg')",
    "javascript": "display(Buffer.from([0, 1])); display(Buffer.alloc(0), { format: 'png' }); display('x', { format: 'a/b' }); display('<svg onload=\"x\"/>', { format: 'svg' })",
    "perl": "display(\"\\x00\\x01\"); display('', 'png'); display('x', 'a/b'); display('<svg onload=\"x\"/>', 'svg'); undef",
    "lua": "display('\\0\\1') display('', 'png') display('x', 'a/b') display('<svg onload=\"x\"/>', 'svg')",
    "ruby": "display \"\\x00\\x01\"\ndisplay '', format: 'png'\ndisplay 'x', format: 'a/b'\ndisplay '<svg onload=\"x\"/>', format: 'svg'",
}


def test_case_31_rich_results(context: Context, between: Between) -> None:
    between(context)
    outputs = context.run(in_own(RICH, context), artifactPolicy="promote").ok().outputs
    assert [(output["format"], output["kind"]) for output in outputs] == [
        ("text", "inline"),
        ("text", "inline"),
        ("png", "rejected"),
        ("text", "inline"),
        ("a/b", "rejected"),
        ("text", "inline"),
        ("svg", "artifact"),
    ]
    assert outputs[6]["activeContent"] is True
