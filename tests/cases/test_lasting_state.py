# SPDX-License-Identifier: Apache-2.0
"""A full house of state in each language stays as it is over many evictions and restarts of the server.

DORMOUSE_EVICTIONS and DORMOUSE_RESTARTS set the numbers; the product's bar is 100 and 20."""

import os
from dataclasses import dataclass

import pytest

from conftest import NewServer
from quick.client import Context, Sandbox
from quick.engines import needs

EVICTIONS = int(os.environ.get("DORMOUSE_EVICTIONS", "8"))
RESTARTS = int(os.environ.get("DORMOUSE_RESTARTS", "2"))

VARIABLES, FUNCTIONS, CLASSES = 200, 20, 5
LINES = 1_000


@dataclass(frozen=True)
class House:
    """Programs of one language: what makes the state, and what looks at all of it. `look` also advances the generator
    and reads a line of the open file; it gives five numbers in a text."""

    language: str
    variable: str
    function: str
    a_class: str
    rest: str
    look: str


def numbered(template: str, count: int) -> str:
    return "\n".join(template.replace("@", str(n)) for n in range(count))


HOUSES = [
    House(
        "python",
        "v@ = [@, 'text @', {'k': @}]",
        "def f@(x): return x + @ + v@[0]",
        "class C@:\n    def __init__(self): self.n = @\n    def up(self): self.n += 1; return self.n",
        "objects = [" + ", ".join(f"C{n}()" for n in range(CLASSES)) + "]\n"
        f"with open('lines', 'w') as f: f.writelines(f'{{n}}\\n' for n in range({LINES}))\n"
        "def generator():\n    n = 0\n    while True:\n        yield n\n        n += 1\n"
        "g = generator(); lines = open('lines')",
        "' '.join(str(x) for x in (sum(globals()[f'v{n}'][2]['k'] for n in range(200)), "
        "sum(globals()[f'f{n}'](1) for n in range(20)), sum(o.up() for o in objects), next(g), int(lines.readline())))",
    ),
    House(
        "javascript",
        "let v@ = [@, 'text @', { k: @ }];",
        "function f@(x) { return x + @ + v@[0]; }",
        "class C@ { #n = @; up() { return ++this.#n; } }",
        "let objects = [" + ", ".join(f"new C{n}()" for n in range(CLASSES)) + "];\n"
        f"const fs = require('fs'); fs.writeFileSync('lines', Array.from({{ length: {LINES} }}, (_, n) => String(n).padStart(4)).join(''));\n"
        "function* generator() { for (let n = 0; ; n++) yield n; }\n"
        "const g = generator(), lines = fs.openSync('lines', 'r'), piece = Buffer.alloc(4); undefined",
        "fs.readSync(lines, piece, 0, 4, null); console.log(["
        + "+".join(f"v{n}[2].k" for n in range(VARIABLES))
        + ", "
        + "+".join(f"f{n}(1)" for n in range(FUNCTIONS))
        + ", objects.reduce((s, o) => s + o.up(), 0), g.next().value, Number(piece.toString())].join(' '))",
    ),
    House(
        "perl",
        "my $v@ = [@, 'text @', {k => @}];",
        "sub f@ { return $_[0] + @ + $v@->[0] }",
        "package C@ { sub new { return bless {n => @}, shift } sub up { my $self = shift; return ++$self->{n} } }",
        "my @objects = (" + ", ".join(f"C{n}->new" for n in range(CLASSES)) + ");\n"
        f"open my $out, '>', 'lines' or die; print $out \"$_\\n\" for 0 .. {LINES - 1}; close $out;\n"
        "my $g = do { my $n = 0; sub { return $n++ } }; open my $lines, '<', 'lines' or die; undef",
        "use List::Util 'sum'; chomp(my $line = <$lines>); print join(' ', "
        + "+".join(f"$v{n}->[2]{{k}}" for n in range(VARIABLES))
        + ", "
        + "+".join(f"f{n}(1)" for n in range(FUNCTIONS))
        + ", sum(map { $_->up } @objects), $g->(), $line), \"\\n\"; undef",
    ),
    House(
        "ruby",
        "v@ = [@, 'text @', { k: @ }]; $v@ = v@",
        "def f@(x) = x + @ + $v@[0]",
        "class C@\n  def initialize = @n = @\n  def up = @n += 1\nend".replace("@n", "\0"),
        "objects = [" + ", ".join(f"C{n}.new" for n in range(CLASSES)) + "]\n"
        f"File.write('lines', (0...{LINES}).map {{ |n| \"#{{n}}\\n\" }}.join)\n"
        "g = Enumerator.new { |y| n = -1; loop { y << (n += 1) } }; lines = File.open('lines'); nil",
        "puts ["
        + "+".join(f"v{n}[2][:k]" for n in range(VARIABLES))
        + ", "
        + "+".join(f"f{n}(1)" for n in range(FUNCTIONS))
        + ", objects.sum(&:up), g.next, lines.gets.to_i].join(' ')",
    ),
    House(
        "lua",
        "v@ = {@, 'text @', {k = @}}",
        "function f@(x) return x + @ + v@[1] end",
        "C@ = {}; C@.__index = C@\n"
        "function C@.new() return setmetatable({n = @}, C@) end\n"
        "function C@:up() self.n = self.n + 1; return self.n end",
        "objects = {" + ", ".join(f"C{n}.new()" for n in range(CLASSES)) + "}\n"
        f"out = io.open('lines', 'w'); for n = 0, {LINES - 1} do out:write(n, '\\n') end out:close()\n"
        "g = coroutine.wrap(function() local n = 0; while true do coroutine.yield(n); n = n + 1 end end); lines = io.open('lines')",
        "ups = 0; for _, object in ipairs(objects) do ups = ups + object:up() end\nprint("
        + "+".join(f"v{n}[3].k" for n in range(VARIABLES))
        + ", "
        + "+".join(f"f{n}(1)" for n in range(FUNCTIONS))
        + ", ups, g(), lines:read('n'))",
    ),
]


def build(context: Context, house: House) -> None:
    context.run(numbered(house.variable, VARIABLES)).ok()
    context.run(numbered(house.function, FUNCTIONS)).ok()
    context.run(numbered(house.a_class, CLASSES).replace("\0", "@n")).ok()
    context.run(house.rest).ok()


def look(context: Context, house: House, time: int) -> None:
    run = context.run(house.look).ok()
    shown = run.stdout or (run.result or "").strip("'\"")
    values = sum(range(VARIABLES))
    calls = sum(1 + 2 * n for n in range(FUNCTIONS))
    objects = sum(range(CLASSES)) + CLASSES * (time + 1)
    assert [int(x) for x in shown.split()] == [values, calls, objects, time, time]


@pytest.mark.parametrize(
    ("language", "house"),
    [
        pytest.param(language, house, id=language, marks=needs(language))
        for house in HOUSES
        for language in (
            (house.language, "typescript") if house.language == "javascript" else (house.language,)
        )
    ],
)
def test_it_stays_as_it_is(new_server: NewServer, language: str, house: House) -> None:
    server = new_server()
    context = server.client.sandbox().context(language)
    build(context, house)
    for time in range(EVICTIONS):
        look(context, house, time)
        context.evict()
    for time in range(EVICTIONS, EVICTIONS + RESTARTS):
        server.restart()
        context = Context(Sandbox(server.client, context.sandbox.id), context.id, language)
        look(context, house, time)
