# SPDX-License-Identifier: Apache-2.0
"""Case 44: import and require over runs (see also cells/javascript/modules.cell)."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox


def test_imported_names_persist(javascript: Context, between: Between) -> None:
    javascript.sandbox.write(
        "lib.mjs",
        "export const v = 1; export let n = 0; export const inc = () => ++n; export default 'd'",
    )
    javascript.run(
        "import fs from 'node:fs'; import d, { v as value, n, inc } from './lib.mjs'; import * as all from './lib.mjs'"
    ).ok()
    between(javascript)
    assert (
        javascript.value("[typeof fs.readFileSync, d, value, inc(), n, all.n]")
        == "[ 'function', 'd', 1, 1, 1, 1 ]"
    )
    between(javascript)
    assert javascript.value("[inc(), n]") == "[ 2, 2 ]"


def test_an_edited_module_is_imported_anew(javascript: Context, between: Between) -> None:
    """The rule: an import loads the file as it is now if it has changed since."""
    sandbox = javascript.sandbox
    sandbox.write("lib.mjs", "export const v = 'first'")
    assert javascript.value("import { v } from './lib.mjs'; v") == "'first'"
    between(javascript)
    sandbox.write("lib.mjs", "export const v = 'second'")
    assert javascript.value("v") == "'first'"
    assert javascript.value("import { v } from './lib.mjs'; v") == "'second'"


def test_a_failed_import_can_be_retried(javascript: Context, between: Between) -> None:
    sandbox = javascript.sandbox
    for content, error in (
        ("export const x = ;", "SyntaxError"),
        ("export const x = 1; throw new TypeError('at import')", "TypeError"),
        ("import './missing.mjs'; export const x = 1", "Error"),
    ):
        sandbox.write("broken.mjs", content)
        run = javascript.run("import { x } from './broken.mjs'")
        assert run.status == "error" and run.error_name == error, run.raw
        between(javascript)
    sandbox.write("broken.mjs", "export const x = 'fixed'")
    assert javascript.value("import { x } from './broken.mjs'; x") == "'fixed'"


def test_common_js(javascript: Context, between: Between) -> None:
    sandbox = javascript.sandbox
    sandbox.write(
        "c.cjs",
        "exports.loads = (globalThis.loads = (globalThis.loads ?? 0) + 1); exports.file = __filename",
    )
    sandbox.write("d.json", '{"a": [1, 2]}')
    sandbox.write(
        "dir/index.js",
        "module.exports = { from: 'index', up: require('../c.cjs').file }",
        createParents=True,
    )
    assert (
        javascript.value("const c = require('./c.cjs'); const { a } = require('./d.json'); [c, a]")
        == "[ { loads: 1, file: '/workspace/c.cjs' }, [ 1, 2 ] ]"
    )
    between(javascript)
    assert (
        javascript.value("[require('./c.cjs') === c, require('./dir')]")
        == "[ true, { from: 'index', up: '/workspace/c.cjs' } ]"
    )
    assert javascript.run("require('./missing.cjs')").error is not None
    assert (
        javascript.value("try { require('./missing.cjs') } catch (e) { e.code }")
        == "'MODULE_NOT_FOUND'"
    )


def test_circular_imports(javascript: Context) -> None:
    sandbox = javascript.sandbox
    sandbox.write("a.mjs", "import { b } from './b.mjs'; export const a = () => 'a' + b()")
    sandbox.write("b.mjs", "import { a } from './a.mjs'; export const b = () => typeof a")
    assert javascript.value("import { a } from './a.mjs'; a()") == "'afunction'"
    sandbox.write("x.cjs", "exports.early = 1; const y = require('./y.cjs'); exports.y = y.seen")
    sandbox.write("y.cjs", "exports.seen = require('./x.cjs').early")
    assert javascript.value("require('./x.cjs')") == "{ early: 1, y: 1 }"


def test_dynamic_import_and_meta(javascript: Context, between: Between) -> None:
    javascript.sandbox.write(
        "sub/m.mjs",
        "export const url = import.meta.url; export const dir = import.meta.dirname",
        createParents=True,
    )
    between(javascript)
    assert (
        javascript.value("const m = await import('./sub/m.mjs'); [m.url, m.dir]")
        == "[ 'file:///workspace/sub/m.mjs', '/workspace/sub' ]"
    )
    assert javascript.value("(await import('node:path')).join('a', 'b')") == "'a/b'"
    assert javascript.value("(await import('/workspace/sub/m.mjs')).url === m.url") == "true"


@pytest.mark.parametrize(
    "code",
    [
        "import 'lodash'",
        "require('lodash')",
        "await import('lodash')",
        "import x from 'http://localhost/x.mjs'",
        "import './nope.mjs'",
    ],
)
def test_missing_modules_are_named(javascript: Context, code: str) -> None:
    run = javascript.run(code)
    assert run.status == "error" and run.error is not None
    assert any(name in run.error["message"] for name in ("lodash", "nope.mjs", "http:")), run.error


def test_a_missing_name_is_a_syntax_error(javascript: Context) -> None:
    javascript.sandbox.write("lib.mjs", "export const v = 1")
    assert javascript.run("import { nothing } from './lib.mjs'").error_name == "SyntaxError"


def test_exports_in_a_cell(javascript: Context, between: Between) -> None:
    """A cell is no module; `export` is either taken as the plain declaration or refused, never half done."""
    run = javascript.run("export const q = 1")
    between(javascript)
    assert (run.status == "ok" and javascript.value("q") == "1") or run.error_name == "SyntaxError"
    javascript.run("module.exports = { z: 1 }; exports.y = 2").ok()


def test_paths_start_at_the_working_directory(sandbox: Sandbox) -> None:
    sandbox.write("project/lib.mjs", "export const here = import.meta.url", createParents=True)
    context = sandbox.context("javascript", cwd="/workspace/project")
    assert (
        context.value("import { here } from './lib.mjs'; here")
        == "'file:///workspace/project/lib.mjs'"
    )


def test_typescript_modules(typescript: Context, between: Between) -> None:
    typescript.sandbox.write(
        "shapes.ts",
        "export interface S { n: number }\nexport enum K { A = 2 }\nexport const twice = (s: S): number => s.n * K.A",
    )
    typescript.run("import { twice, K, type S } from './shapes.ts'; const s: S = { n: 4 }").ok()
    between(typescript)
    assert typescript.value("[twice(s), K.A]") == "[ 8, 2 ]"


def test_python_imports(python: Context, between: Between) -> None:
    sandbox = python.sandbox
    sandbox.write("pkg/__init__.py", "from .a import f\n", createParents=True)
    sandbox.write("pkg/a.py", "def f(): return 'a'\n")
    assert (
        python.value("import pkg, pkg.a as a; pkg.f(), a.__file__")
        == "('a', '/workspace/pkg/a.py')"
    )
    between(python)
    sandbox.write("later.py", "x = 'later'\n")
    assert python.value("import later; later.x, pkg.f()") == "('later', 'a')"
    sandbox.write("broken.py", "x = \n")
    assert python.run("import broken").error_name == "SyntaxError"
    sandbox.write("broken.py", "x = 'fixed'\n")
    assert python.value("import broken; broken.x") == "'fixed'"
    sandbox.write("later.py", "x = 'newer, and longer'\n")
    assert python.value("import importlib; importlib.reload(later).x") == "'newer, and longer'"
    assert python.run("import no_such_module").error_name == "ModuleNotFoundError"
