# SPDX-License-Identifier: Apache-2.0
"""Case 4: objects that no serialiser could hold go on where they were (see also cells/*/objects.cell)."""

from conftest import Between
from quick.client import Context


def test_a_module_of_the_workspace_stays_imported(python: Context, between: Between) -> None:
    python.run(
        "open('m.py', 'w').write('state = []\\ndef add(x):\\n    state.append(x)\\n    return state\\n')\nimport m\nm.add(1)"
    ).ok()
    between(python)
    assert python.value("m.add(2)") == "[1, 2]"
    python.run("import os; os.remove('m.py')").ok()
    between(python)
    assert python.value("m.add(3)") == "[1, 2, 3]"


def test_a_coroutine_and_an_async_generator_halfway(python: Context, between: Between) -> None:
    python.run(
        "import asyncio\nasync def steps():\n    for i in range(5):\n        await asyncio.sleep(0)\n        yield i\nagen = steps()"
    ).ok()
    for i in range(3):
        between(python)
        assert python.value("await anext(agen)") == str(i)


def test_a_handle_whose_file_has_vanished(python: Context, between: Between) -> None:
    python.run("f = open('gone.txt', 'w+'); f.write('abc'); f.flush()").ok()
    python.sandbox.remove("gone.txt")
    between(python)
    # Like a deleted file on Linux: the open handle still works, the name does not.
    assert python.value("import os; f.closed, os.path.exists('gone.txt')") == "(False, False)"
    run = python.run("f.seek(0); f.read()")
    assert run.result == "'abc'" or run.error_name in ("OSError", "FileNotFoundError"), run.raw
    assert python.run("f.close()").state == "kept"
    assert python.value("1 + 1") == "2"


def test_javascript_state(javascript: Context, between: Between) -> None:
    javascript.run(
        "function* g() { let n = 0; while (true) n += yield n; }\nconst it = g(); it.next();\n"
        "const weak = new WeakMap(); const key = {}; weak.set(key, 'held');\n"
        "const symbol = Symbol('s'); const o = { [symbol]: 1, get twice() { return this.n * 2; }, n: 4 };\n"
        "let settle; const pending = new Promise(r => { settle = r; }); let seen = []; pending.then(v => seen.push(v));\n"
        "const bound = Math.max.bind(null, 5); const re = /a(.)/gy; re.exec('abacad');\n"
        "const dv = new DataView(new ArrayBuffer(8)); dv.setFloat64(0, Math.PI);"
    ).ok()
    between(javascript)
    assert javascript.value("it.next(5).value + it.next(1).value") == "11"
    assert (
        javascript.value(
            "[weak.get(key), o[symbol], o.twice, bound(3), re.lastIndex, re.exec('abacad')[1]]"
        )
        == "[ 'held', 1, 8, 5, 2, 'c' ]"
    )
    between(javascript)
    javascript.run("settle('late')").ok()
    assert javascript.value("[seen, dv.getFloat64(0) === Math.PI]") == "[ [ 'late' ], true ]"


def test_a_large_heap(python: Context, between: Between) -> None:
    python.run(
        "import hashlib\ndata = {i: str(i) * 3 for i in range(200_000)}\nblob = bytes(range(256)) * 100_000\ndigest = hashlib.sha256(blob).hexdigest()"
    ).ok()
    between(python)
    assert python.value(
        "sum(map(len, data.values())), hashlib.sha256(blob).hexdigest() == digest"
    ) == str((sum(len(str(i)) * 3 for i in range(200_000)), True))
