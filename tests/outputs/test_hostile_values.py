# SPDX-License-Identifier: Apache-2.0
"""Values that are hard to show: whatever they are, the reply is strict JSON, within the run's limits, and the context
goes on. The client parses strictly, so that any answer it returns is valid."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.engines import by_language

PYTHON = {
    "raising repr": "class C:\n    def __repr__(self): raise RuntimeError('no')\nC()",
    "repr that exits": "class C:\n    def __repr__(self): raise SystemExit(3)\n[C()]",
    "repr that is no text": "class C:\n    def __repr__(self): return 5\n{'k': C()}",
    "repr without end": "class C:\n    def __repr__(self): return repr(self)\nC()",
    "raising attributes": "class C:\n    def __getattr__(self, name): raise RuntimeError(name)\nC()",
    "raising class attributes": "class M(type):\n    def __getattr__(cls, name): raise RuntimeError(name)\nclass C(metaclass=M): pass\nC()",
    "lying class": "class C:\n    @property\n    def __class__(self): raise RuntimeError('class')\nC()",
    "all forms raise": "class C:\n    def _repr_mimebundle_(self, **k): raise ValueError('m')\n    def _repr_html_(self): raise ValueError('h')\n    def to_dict(self): raise ValueError('d')\n    columns = 1\nC()",
    "forms of wrong types": "class C:\n    def _repr_html_(self): return 5\n    def _repr_png_(self): return object()\n    def _repr_json_(self): return {1: {2}}\n    def _repr_mimebundle_(self, **k): return 7\nC()",
    "a frame of nonsense": "class C:\n    columns = ['a']\n    def to_dict(self, *a): return {'a': 5, 'b': [object()]}\nC()",
    "a large frame": "class C:\n    columns = ['a']\n    def to_dict(self, *a): return {'a': range(10**6)}\nC()",
    "long cycle": "a = b = []\nfor _ in range(10**5): b.append([]); b = b[0]\nb.append(a)\na",
    "cycle of dicts": "d = {}\nfor i in range(10**5): d = {'k': d, 'i': i}\nd",
    "changes while shown": "class C:\n    def __repr__(self): l.append(C()); d[len(d)] = 1; return 'c'\nd = {}\nl = [C()]\nd['x'] = l\nd",
    "empties itself": "class C:\n    def __repr__(self): l.clear(); return 'c'\nl = [C()] * 1000\nl",
    "numbers": "[float('nan'), float('inf'), -0.0, 10**5000, 2**63, 1e-320, complex('nan')]",
    "large text": "'x' * 10**8",
    "large bytes": "b'x' * 10**8",
    "surrogates": "['\\ud800', {'\\udfff': '\\ud83d'}]",
    "records of surrogates": "[{'\\ud800': '\\udfff\\x00<', 'n': float('nan')}] * 3",
    "wide records": "[{f'c{i}': 'y' * 10_000 for i in range(100)}] * 50",
    "chart of nonsense": "chart('line', [None, float('nan'), float('inf'), 1e308, 'x', [], 10**400, -1e-320])",
    "chart of surrogates": "chart('bar', {'\\ud800\\x00': 1, '\\x1b': 2}, title='\\udfff')",
    "chart of huge ranges": "chart('line', [[-1e299, 1e299], [1e299, -1e299]], y_scale='linear')",
    "chart of tiny ranges": "chart('line', [1e16, 1e16 + 2, 1e-300, 1e-310])",
    "log chart of nothing": "chart('scatter', [[0, -1], [-1, 0]], x_scale='log', y_scale='log')",
    "a specification that is none": "{'$schema': 'vega-lite', 'mark': [], 'encoding': 5, 'data': {'values': 7}}",
    "plotly of nonsense": "{'data': [{'type': 'bar', 'x': 5, 'y': {}}], 'layout': {'title': []}}",
    "deep specification": "x = []\nfor _ in range(40): x = [x]\n{'$schema': 'vega-lite', 'mark': 'bar', 'data': x}",
    "deep json": "x = []\nfor _ in range(10**4): x = [x]\ndisplay({'application/json': x}, raw=True)\nx",
    "metadata of anything": "display(1, metadata={'width': float('nan'), 'image/png': 5, 'x': 'y' * 10**5})\n1",
    "bundle of anything": "display({5: 6, 'text/plain': None, 'a/b': object(), 'text/html': b'\\xff'}, raw=True)\n1",
}
JAVASCRIPT = {
    "raising inspect": "({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('no') } })",
    "raising getters": "({ get a() { throw 1 }, b: 2 })",
    "proxies": "new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 }, getOwnPropertyDescriptor() { throw 4 } })",
    "array of proxies": "[new Proxy([], {}), new Proxy(function () {}, { apply() { throw 1 } })]",
    "revoked proxy": "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); proxy",
    "display that raises": "({ [Symbol.for('Jupyter.display')]() { throw 1 } })",
    "display of nonsense": "({ [Symbol.for('Jupyter.display')]() { return { 'text/html': Symbol('s'), 'application/json': 1n, 'image/png': null } } })",
    "display that is a proxy": "({ [Symbol.for('Jupyter.display')]() { return new Proxy({}, { ownKeys() { throw 1 } }) } })",
    "a frame that raises": "({ columns: 1, toRecords() { throw 1 } })",
    "a frame of nonsense": "({ columns: 1, toRecords() { return 5 } })",
    "toString and valueOf raise": "({ toString() { throw 1 }, valueOf() { throw 2 }, toJSON() { throw 3 } })",
    "long cycle": "const a = {}; let b = a; for (let i = 0; i < 1e5; i++) b = b.next = {}; b.next = a; a",
    "deep array": "let c = []; for (let i = 0; i < 1e5; i++) c = [c]; c",
    "changes while shown": "const o = { l: [], get x() { o.l.push({ ...o }); return 1 } }; o",
    "numbers": "[NaN, -Infinity, -0, 2n ** 5000n, 5e-324]",
    "records of bigints": "[{ n: 2n ** 70n, m: NaN, d: new Date(NaN) }, { n: 1n, m: -0, d: new Date(0) }]",
    "large text": "'x'.repeat(1e8)",
    "large array": "new Array(1e7).fill(1)",
    "sparse array": "const s = []; s[4e9] = 1; s",
    "surrogates": "[{ '\\ud800': '\\udfff\\0<' }, { '\\ud800': '\\ud83d' }]",
    "symbols": "({ [Symbol('\\ud800')]: Symbol('x'), s: Symbol() })",
    "error that raises": "class E extends Error { get message() { throw 1 } get stack() { throw 2 } get name() { throw 3 } }; [new E()]",
    "chart of nonsense": "chart('line', [null, NaN, Infinity, 1e308, 'x', [], 10n ** 400n, Symbol('s'), {}])",
    "chart of surrogates": "chart('bar', { '\\ud800\\0': 1, '\\x1b': 2 }, { title: '\\udfff' })",
    "log chart of nothing": "chart('scatter', [[0, -1], [-1, 0]], { xScale: 'log', yScale: 'log' })",
    "a specification that is none": "({ $schema: 'vega-lite', mark: [], encoding: 5, data: { values: 7 } })",
    "specification with getters": "({ get $schema() { throw 1 } })",
    "plotly of nonsense": "({ data: [{ type: 'bar', x: 5, y: {} }], layout: { title: [] } })",
    "metadata of anything": "display(1, { metadata: { get a() { throw 1 }, b: 2n } }); 1",
    "no prototype": "Object.create(null, { a: { value: 1, enumerable: true } })",
    "broken built-ins": "Array.prototype.map = null; Array.prototype.push = null; [{ a: 1 }, { a: 2 }]",
    "null as options": "display(1, null); display(2, {}); 1",
}
PERL = {
    "raising stringification": "package C { use overload '\"\"' => sub { die 'no' } } bless {}, 'C'",
    "raising methods": "package D { sub columns { die 1 } sub rows { die 2 } } bless {}, 'D'",
    "a frame of nonsense": "package E { sub columns { undef } sub rows { 5, {}, [] } } bless [], 'E'",
    "cycle": "my $h = {}; $h->{h} = $h; $h",
    "long cycle": "my $a = {}; my $b = $a; for (1 .. 1e5) { $b = $b->{n} = {} } $b->{n} = $a; $a",
    "deep array": "my $a = []; for (1 .. 1e4) { $a = [$a] } $a",
    "tied hash": "package T { sub TIEHASH { bless {} } sub FIRSTKEY { die 1 } sub FETCH { die 2 } } tie my %t, 'T'; \\%t",
    "tied array": "package U { sub TIEARRAY { bless {} } sub FETCHSIZE { 3 } sub FETCH { die 2 } } tie my @t, 'U'; \\@t",
    "numbers": "[9**9**9, -9**9**9, 9**9**9 / 9**9**9, 1e300 * 1e10, 2**63, 1e-320]",
    "large text": "'x' x 1e8",
    "large array": "[1 .. 1e6]",
    "bytes": "\"\\xff\\xfe\\x00\"",
    "surrogates": "[{a => chr(0xD800) . '<'}, {a => chr(0xDFFF)}]",
    "code and globs": "[sub { 1 }, *STDOUT, \\*STDOUT, qr/x/, \\\\1]",
    "chart of nonsense": "chart('line', [undef, 'nan', 9**9**9, 1e308, 'x', [], {}, -1e-320])",
    "chart of surrogates": "chart('bar', {chr(0xD800) => 1, \"\\x1b\" => 2}, {title => chr(0xDFFF)})",
    "log chart of nothing": "chart('scatter', [[0, -1], [-1, 0]], {x_scale => 'log', y_scale => 'log'})",
    "a specification that is none": "({'$schema' => 'vega-lite', mark => [], encoding => 5, data => {values => 7}})",
    "plotly of nonsense": "({data => [{type => 'bar', x => 5, y => {}}], layout => {title => []}})",
    "metadata of anything": "display(1, {metadata => {a => sub { 1 }, b => 9**9**9}}); 1",
    "records with undef": "[{a => undef}, {a => undef}]",
}
RUBY = {
    "raising inspect": "class C; def inspect = raise('no'); end\n[C.new]",
    "inspect that is no text": "class C; def inspect = 5; end\nC.new",
    "inspect without end": "class C; def inspect = inspect; end\nC.new",
    "raising to_s": "class C; def to_s = raise('no'); def method_missing(*) = raise('m'); def respond_to?(*) = raise('r'); end\nC.new",
    "no object": "BasicObject.new",
    "array of no objects": "[BasicObject.new]",
    "raising forms": "class C; def to_html = raise('h'); def to_svg = 5; def columns = raise('c'); def to_h = raise('d'); end\nC.new",
    "a frame of nonsense": "class C; def columns = 1; def to_h = {a: 5}; end\nC.new",
    "cycle": "h = {}; h[:h] = h; h",
    "long cycle": "a = b = []; 100_000.times { b << []; b = b[0] }; b << a; a",
    "deep array": "a = []; 10_000.times { a = [a] }; a",
    "changes while shown": "class C; def inspect = ($l << 1; 'c'); end\n$l = [C.new]; $l",
    "numbers": "[Float::NAN, -Float::INFINITY, -0.0, 10**5000, 1r / 3, Complex(0, Float::NAN)]",
    "large text": "'x' * 100_000_000",
    "large array": "(1..1_000_000).to_a",
    "bytes": "[\"\\xF3\", \"\\xff\".b, \"a\".encode('UTF-16LE')]",
    "records of bytes": "[{a: \"\\xF3<\"}, {a: \"\\xff\".b}]",
    "chart of nonsense": "Dormouse.chart(:line, [nil, Float::NAN, 1e308, 'x', [], 10**400, {}, Object.new])",
    "chart of bytes": "Dormouse.chart(:bar, {\"\\xF3\" => 1, \"\\e\" => 2}, title: \"\\xff\")",
    "log chart of nothing": "chart :scatter, [[0, -1], [-1, 0]], x_scale: :log, y_scale: :log",
    "a specification that is none": "({'$schema' => 'vega-lite', mark: [], encoding: 5, data: {values: 7}})",
    "plotly of nonsense": "({data: [{type: 'bar', x: 5, y: {}}], layout: {title: []}})",
    "metadata of anything": "display 1, metadata: {a: Object.new, b: Float::NAN}\n1",
    "default procs": "h = Hash.new { |hash, key| raise 'd' }; h[:a] = 1; [h, h]",
}
LUA = {
    "raising tostring": "setmetatable({}, {__tostring = function() error('no') end})",
    "tostring that is no text": "setmetatable({}, {__tostring = function() return 5 end})",
    "raising index": "{setmetatable({}, {__index = error, __len = error, __pairs = error})}",
    "raising metatable": "setmetatable({a = 1}, {__metatable = 5})",
    "cycle": "local t = {}; t.t = t; return t",
    "long cycle": "local a = {}; local b = a; for _ = 1, 1e5 do b.n = {}; b = b.n end; b.n = a; return a",
    "deep table": "local a = {}; for _ = 1, 1e4 do a = {a} end; return a",
    "numbers": "{0/0, 1/0, -1/0, math.mininteger, 5e-324, 2^63}",
    "large text": "('x'):rep(1e8)",
    "large table": "local t = {}; for i = 1, 1e6 do t[i] = i end; return t",
    "bytes": "{'\\xff\\xfe\\0', ['\\xff'] = 1}",
    "records of bytes": "{{a = '\\xff<\\0'}, {a = '\\xed\\xa0\\x80'}}",
    "functions": "{print, coroutine.create(print), io.stdout}",
    "odd keys": "{[true] = 1, [print] = 2, [1.5] = 3, [{}] = 4}",
    "chart of nonsense": "chart('line', {0/0, 1/0, 1e308, 'x', {}, print, true})",
    "chart of bytes": "chart('bar', {['\\xff\\0'] = 1, ['\\27'] = 2}, {title = '\\xff'})",
    "log chart of nothing": "chart('scatter', {{0, -1}, {-1, 0}}, {x_scale = 'log', y_scale = 'log'})",
    "a specification that is none": "{['$schema'] = 'vega-lite', mark = {}, encoding = 5, data = {values = 7}}",
    "plotly of nonsense": "{data = {{type = 'bar', x = 5, y = {}}}, layout = {title = {}}}",
}
SETS = {"lua": LUA, "python": PYTHON, "javascript": JAVASCRIPT, "typescript": JAVASCRIPT, "perl": PERL, "ruby": RUBY}


@pytest.mark.parametrize(
    ("language", "name"),
    by_language((language, name) for language, values in SETS.items() for name in values),
)
def test_a_value_that_is_hard_to_show(sandbox: Sandbox, language: str, name: str) -> None:
    context = sandbox.context(language)
    run = context.run(SETS[language][name], timeoutMs=60_000)
    # Where showing a value is an error, it is the code's: it has a name, and the state is kept.
    assert run.status in ("ok", "error", "exited"), run.raw
    assert run.state == "kept", run.raw
    if run.status == "ok":
        assert run.result is not None
        assert all(output["format"] in ("html", "svg") or output["kind"] == "inline" or output["reason"] in ("output_too_large", "unsupported_format") for output in run.outputs)
    assert context.value("1 + 1") == "2"


@pytest.mark.parametrize("language", by_language(["python", "javascript", "perl", "ruby"]))
def test_a_method_without_end_is_stopped_at_the_deadline(sandbox: Sandbox, between: Between, language: str) -> None:
    code = {
        "python": "class C:\n    def __repr__(self):\n        while True: pass\nC()",
        "javascript": "({ [Symbol.for('nodejs.util.inspect.custom')]() { for (;;); } })",
        "perl": "package C { use overload '\"\"' => sub { 1 while 1 } } bless {}, 'C'",
        "ruby": "class C; def inspect = loop {}; end\nC.new",
    }[language]
    context: Context = sandbox.context(language)
    run = context.run(code, timeoutMs=1500)
    assert run.status == "timeout", run.raw
    between(context)
    assert context.value("1 + 1") == "2"
