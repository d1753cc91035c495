// SPDX-License-Identifier: Apache-2.0
// What a cell does: results, bindings across runs, await, errors, the event loop.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newEngine } from "./engine.mjs";

const run = (...codes) => {
  const engine = newEngine();
  let result;
  for (const code of codes) result = engine.run(code);
  return result;
};
const textOf = (...codes) => {
  const result = run(...codes);
  assert.equal(result.error, undefined, JSON.stringify(result.error));
  return result.text;
};
const errorOf = (...codes) => run(...codes).error;

test("the result is the value of the last expression statement", () => {
  const engine = newEngine();
  for (const [code, text] of [
    ["1+1", "2"], ["1+1;", "2"], ["1+1; // c", "2"], ["1+1 // c;", "2"], ["{a:1}", "{ a: 1 }"],
    ["  {a:1}\n", "{ a: 1 }"], ["{a:1};", "1"], ["{ let q = 5; q }", "5"], ["({a:1})", "{ a: 1 }"],
    ["var vx=1", undefined], ["vx=1", "1"], [";", undefined], ["undefined", undefined], ["null", "null"],
    ["1,2", "2"], ["", undefined], ["// nothing", undefined], ["if (1) 5", "5"], ["function ff(){}", undefined],
    ["class CC{}", undefined], ["'a docstring'", "'a docstring'"], ["let lx = 7", undefined], ["5; let ly = 1", "5"],
    ["for (let i=0;i<3;i++) i", "2"], ["'use strict'; 3", "3"], ["{}", "{}"], ["-0", "-0"],
    ["await 0; 1+1", "2"], ["{a: await 1}", "{ a: 1 }"], ["Promise.resolve(5)", "Promise { 5 }"],
    ["new Promise((r) => setTimeout(r, 5, 9))", "Promise { 9 }"], ["[1,2].map((x) => x * 2)", "[ 2, 4 ]"],
    ["{a:1}.a", "1"], ["label: 5", "5"],
  ]) {
    const result = engine.run(code);
    assert.equal(result.error, undefined, `${code}: ${JSON.stringify(result.error)}`);
    assert.equal(result.text, text, code);
    assert.equal(result.status, 0);
  }
});

test("plain data also comes as JSON, strict and bounded", () => {
  const engine = newEngine();
  const json = (code) => engine.run(code).data?.["application/json"];
  assert.deepEqual(json("({a: NaN, b: -0, c: [1/0, 'x\\ud83d']})"), { a: null, b: 0, c: [null, "x\ufffd"] });
  assert.deepEqual(json("[1,undefined,null]"), [1, null, null]);
  assert.equal(json("const o = {}; o.me = o; o"), undefined);
  assert.equal(json("new Map()"), undefined);
  assert.equal(json("5"), undefined);
  assert.equal(json("({get a() { throw 1 }})"), undefined);
  assert.equal(json("new Array(1e6).fill(0)"), undefined);
});

test("a later run may declare anything again, and the newest wins", () => {
  const cell = (k) => `const k=${k}; let m=2*k; class C{v(){return k}}; function f(){return k}`;
  assert.equal(textOf(cell(1), cell(5), "[k, m, f(), new C().v()]"), "[ 5, 10, 5, 5 ]");
  assert.equal(textOf("const k=1", "var k=2", "k"), "2");
  assert.equal(textOf("var k=1", "let k=2", "k"), "2");
  assert.equal(textOf("function k(){}", "const k=3", "class k{}", "typeof k"), "'function'");
  assert.equal(textOf("let k=1", "function k(){return 8}", "k()"), "8");
  assert.equal(textOf("'use strict'; const k=1", "'use strict'; const k=2; k"), "2");
});

test("closures of earlier runs keep the binding that they captured", () => {
  assert.equal(textOf("const k=1; const old=()=>k", "const k=2", "[k, old()]"), "[ 2, 1 ]");
  assert.equal(textOf("let n=0; const inc=()=>++n", "inc(); inc()", "let n=100", "[inc(), n]"), "[ 3, 100 ]");
  assert.equal(textOf("function late(){return z}", "const z=1", "const z=2", "late()"), "2");
  assert.equal(textOf("let a=1", "a=5; function get(){return a}", "a=6", "get()"), "6");
  assert.equal(textOf("let a=1", "eval('a + 1')"), "2");
  assert.equal(textOf("let a=1", "(() => eval('a + 1'))()"), "2");
  assert.equal(textOf("let a=1", "new Function('return a')()"), "1");
});

test("within one run the usual rules hold", () => {
  assert.equal(errorOf("let a; let a").name, "SyntaxError");
  assert.match(errorOf("let a; let a").message, /'a' has already been declared/);
  assert.equal(errorOf("let a; var a").name, "SyntaxError");
  assert.equal(errorOf("const k = 1", "k = 9").name, "TypeError");
  assert.equal(errorOf("const k = 1", "k = 9").message, "Assignment to constant variable.");
  assert.equal(errorOf("const k = 1; (() => { k++ })()").name, "TypeError");
  assert.equal(errorOf("tdz; let tdz = 1").name, "ReferenceError");
  assert.equal(errorOf("let undefined = 1").name, "SyntaxError");
  assert.equal(textOf("const k = 1", "delete globalThis.k; k"), "1");
  assert.equal(errorOf("nope").message, "nope is not defined");
});

test("a declaration that was never reached leaves the earlier binding", () => {
  assert.equal(textOf("let a=1", "let a=(() => { throw 1 })()", "a"), "1");
  assert.equal(errorOf("let b=(() => { throw 1 })()", "b").message, "b is not defined");
  assert.equal(textOf("let b=(() => { throw 1 })()", "let b=2", "b"), "2");
  assert.equal(textOf("let a=1", "let z=2; throw 3; let a=4", "[a, z]"), "[ 1, 2 ]");
});

test("top-level await keeps kinds, hoisting and positions", () => {
  assert.equal(textOf("const r = await Promise.resolve(5)", "r"), "5");
  assert.equal(errorOf("const r = await Promise.resolve(5)", "r = 6").name, "TypeError");
  assert.equal(textOf("const {a,...b} = await (async () => ({a:1,c:2}))()", "[a,b]"), "[ 1, { c: 2 } ]");
  assert.equal(textOf("let s=0; for await (const x of [1,Promise.resolve(2)]) s+=x", "s"), "3");
  assert.equal(textOf("`${await 1}-${await 2}`"), "'1-2'");
  assert.equal(textOf("early(); await 0; function early(){ return 1 }\nearly()"), "1");
  assert.equal(textOf("x: { await 0; break x }\n3"), "3");
  assert.equal(errorOf("return 1").name, "SyntaxError");
  assert.equal(errorOf("await 0; return 1").name, "SyntaxError");
  assert.equal(textOf("var await = 3; await"), "3");
  assert.equal(textOf("await (7)"), "7");
  assert.equal(textOf("async function* g(){ yield 1; yield 2 }\nconst seen=[]; for await (const v of g()) seen.push(v); seen"), "[ 1, 2 ]");
  const error = errorOf("1;\nawait Promise.reject(new Error('late'))");
  assert.equal(error.name, "Error");
  assert.ok(error.traceback.some((line) => /cell-1:2:/.test(line)), error.traceback.join("\n"));
  assert.match(errorOf("await new Promise(() => {})").message, /never settled/);
  assert.equal(textOf("const t = await new Promise((r) => setTimeout(r, 3, 'x'))", "t"), "'x'");
  assert.equal(errorOf("const z = await 1; let z = 2").name, "SyntaxError");
});

test("errors carry the client's positions and no frames of ours", () => {
  let error = errorOf("function f() {\n  const x = 1;\n  throw new TypeError('bad')\n}\nf()");
  assert.deepEqual([error.name, error.message, error.lineNumber], ["TypeError", "bad", 3]);
  assert.match(error.traceback[0], /^TypeError: bad$/);
  assert.match(error.traceback[1], /^    at f \(cell-1:3:/);
  assert.match(error.traceback[2], /^    at cell-1:5:/);
  assert.equal(error.traceback.length, 3);
  error = errorOf("function f() {\n throw Error('one') }", "\n\n\n\nfunction g() {\n throw Error('two') }", "try { f() } catch (e) { globalThis.first = e.stack } g()");
  assert.match(error.traceback[1], /at g \(cell-2:6:/);
  error = errorOf("let a = 1;\nlet b = ;\nlet c = 3");
  assert.equal(error.name, "SyntaxError");
  assert.match(error.traceback[1], /cell-1:2:9/);
  error = errorOf("[1].map(() => { throw new Error('in callback') })");
  assert.ok(!error.traceback.some((line) => /dormouse|node:/.test(line)));
  error = errorOf("require('fs').readFileSync('/workspace/none')");
  assert.match(error.message, /^ENOENT: no such file or directory, open '\/workspace\/none'$/);
  assert.deepEqual(error.traceback.filter((line) => /^ {4}at /.test(line)).length, 1);
  error = errorOf("throw undefined");
  assert.deepEqual([error.name, error.message], ["Uncaught", "undefined"]);
  error = errorOf("throw 'text'");
  assert.equal(error.message, "'text'");
  error = errorOf("throw {code: 5}");
  assert.equal(error.message, "{ code: 5 }");
  error = errorOf("const e = new Error('outer', {cause: new Error('inner')}); throw e");
  assert.ok(error.traceback.join("\n").includes("[cause]: Error: inner"));
  error = errorOf("const e = new Error('self'); e.cause = e; throw e");
  assert.ok(error.traceback.join("\n").includes("[Circular *1]"));
  error = errorOf("class E extends Error { get message() { throw 1 } get stack() { throw 2 } }; throw new E('x')");
  assert.equal(typeof error.message, "string");
  error = errorOf("throw new Error('lone \\ud83d')");
  assert.equal(error.message, "lone \ufffd");
  error = errorOf("eval('\\n\\nfoo bar')");
  assert.equal(error.name, "SyntaxError");
  error = errorOf("Error.prepareStackTrace = () => { throw 1 }; null.x");
  assert.equal(error.name, "TypeError");
});

test("source text arrives byte for byte", () => {
  assert.equal(textOf("'a\\n\\\\' + `\u0000`.length"), "'a\\n\\\\1'");
  assert.equal(textOf("(function () {\r\n\t/* \f é 😀 */ return `$HOME %d {{}}`\r\n}).toString()"),
    "'(function () {\\r\\n\\t/* \\f é 😀 */ return `$HOME %d {{}}`\\r\\n})'".replace("(function", "function").replace("\\n})'", "\\n}'"));
  assert.equal(textOf("\ufeff1+1"), "2");
  assert.equal(textOf("#!/usr/bin/env node\n1+1"), "2");
  assert.equal(textOf("let ünïcode𠮷 = 4; ünïcode𠮷"), "4");
  assert.equal(textOf(`${" ".repeat(2 << 20)}3`), "3");
  assert.match(errorOf("!ls").message, /./);
});

test("the event loop runs dry within the run", () => {
  assert.equal(run("setTimeout(() => console.log('b'), 5); Promise.resolve().then(() => console.log('a')); console.log('s')").stdout, "s\na\nb\n");
  assert.equal(run("setImmediate(() => console.log('i')); process.nextTick(() => console.log('t')); queueMicrotask(() => console.log('m')); console.log('s')").stdout, "s\nt\nm\ni\n");
  assert.equal(run("let n = 0; const h = setInterval(() => { if (++n === 3) clearInterval(h); console.log(n) }, 2)").stdout, "1\n2\n3\n");
  assert.equal(run("const h = setTimeout(() => console.log('no'), 1); clearTimeout(h); setTimeout(() => {}, 1).unref()").stdout, "");
  const result = run("setTimeout(() => { throw new Error('late') }, 1); setTimeout(() => console.log('after'), 30); 5");
  assert.equal(result.text, "5");
  assert.equal(result.error.message, "late");
  assert.match(result.error.traceback[1], /cell-1:1:/);
  assert.equal(errorOf("queueMicrotask(() => { throw new RangeError('micro') })").name, "RangeError");
  assert.equal(errorOf("setTimeout(() => { throw 1 })").message, "1");
});

test("unhandled rejections are errors of their run, handled ones are not", () => {
  assert.equal(errorOf("Promise.reject(new Error('x'))").message, "x");
  assert.equal(errorOf("const p = Promise.reject(new Error('x')); queueMicrotask(() => p.catch(() => {}))"), undefined);
  assert.equal(errorOf("const p = Promise.reject(new Error('x')); setTimeout(() => p.catch(() => {}), 3)"), undefined);
  assert.equal(errorOf("(async () => { throw new Error('in async') })()").message, "in async");
  const engine = newEngine();
  const two = engine.run("Promise.reject(new Error('one')); Promise.reject(new Error('two'))");
  assert.equal(two.error.message, "one");
  assert.match(two.stderr, /Uncaught \(in promise\) Error: two/);
  assert.equal(engine.run("1").error, undefined);
  const handled = engine.run("process.on('unhandledRejection', (e) => console.log('got', e.message)); Promise.reject(new Error('h'))");
  assert.deepEqual([handled.error, handled.stdout], [undefined, "got h\n"]);
  assert.equal(engine.run("process.removeAllListeners(); process.on('uncaughtException', (e) => console.log('U', e.message)); setTimeout(() => { throw new Error('q') }); setTimeout(() => console.log('goes on'), 5)").stdout, "U q\ngoes on\n");
});

test("process.exit ends the run and keeps the state", () => {
  const engine = newEngine();
  engine.run("const v = 1");
  let result = engine.run("console.log('before'); try { process.exit(3) } finally { console.log('never') } console.log('no')");
  assert.deepEqual([result.exit.code, result.stdout, result.error], [3, "before\n", undefined]);
  result = engine.run("process.on('exit', (c) => console.log('bye', c)); new Promise(() => process.exit()).catch(() => {}); console.log('no')");
  assert.deepEqual([result.exit.code, result.stdout], [0, "bye 0\n"]);
  result = engine.run("setTimeout(() => process.exit(4), 1); setInterval(() => {}, 1000)");
  assert.equal(result.exit.code, 4);
  assert.equal(engine.run("v").text, "1");
  assert.equal(engine.run("process.exitCode = 7; process.exit()").exit.code, 7);
});

test("environment and directory of a run are put back after it", () => {
  const engine = newEngine();
  assert.equal(engine.run("process.env.A + process.env.B", { contextEnv: { A: "1" }, env: { B: "2" } }).text, "'12'");
  assert.equal(engine.run("[process.env.A, process.env.B]").text, "[ '1', undefined ]");
  mkdirSync(join(engine.workspace, "sub"));
  assert.equal(engine.run("process.cwd()", { cwd: "/workspace/sub" }).text, "'/workspace/sub'");
  assert.equal(engine.run("process.cwd()").text, "'/workspace'");
  engine.run("process.env.N = 5; process.chdir('sub')");
  assert.equal(engine.run("[process.env.N, process.cwd()]").text, "[ '5', '/workspace/sub' ]");
});

test("standard input is lines, then null", () => {
  const engine = newEngine();
  const result = engine.run("[prompt('Name?'), prompt(), prompt()]", { stdin: "Ann\nBob\n" });
  assert.deepEqual([result.text, result.stdout], ["[ 'Ann', 'Bob', null ]", "Name? "]);
  engine.run("prompt()", { stdin: "one\ntwo\n" });
  assert.equal(engine.run("prompt()", { stdin: "" }).text, "null");
  const lines = engine.run("const rl = require('readline').createInterface({input: process.stdin}); const got = []; rl.on('line', (l) => got.push(l)); rl.on('close', () => console.log(got))", { stdin: "a\nb" });
  assert.equal(lines.stdout, "[ 'a', 'b' ]\n");
  const answer = engine.run("const r2 = require('readline/promises').createInterface({input: process.stdin, output: process.stdout}); const a = await r2.question('Q? '); r2.close(); a", { stdin: "yes\n" });
  assert.deepEqual([answer.text, answer.stdout], ["'yes'", "Q? "]);
  assert.equal(engine.run("require('fs').readFileSync(0, 'utf8')", { stdin: "all of it" }).text, "'all of it'");
  assert.equal(engine.run("let all=''; for await (const c of process.stdin) all += c; all", { stdin: "xyz" }).text, "'xyz'");
});

test("recursion without end is a RangeError that can be caught", () => {
  const engine = newEngine();
  for (const code of [
    "function f(){ return f() + 1 } f()", "const o = {toString(){ return `${this}` }}; `${o}`",
    "const p = new Proxy({}, {get(t, k, r){ return r[k] }}); p.x", "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; JSON.stringify(deep)",
    "JSON.parse('['.repeat(1e5))", "new Function('('.repeat(1e5))", "eval('['.repeat(2e5))", "new RegExp('('.repeat(1e5))",
    "class A { constructor() { new A() } } new A()", "[1].map(function g() { return [1].map(g) })",
    "let q = () => 1; for (let i = 0; i < 1e5; i++) q = Object.defineProperty(q.bind(null), 'name', {value: ''}); q()",
    "let t = {}; for (let i = 0; i < 1e5; i++) t = new Proxy(t, {}); t.x", "`${'${`'.repeat(1e4)}`; eval('`${'.repeat(1e4))",
    "const a = []; a[0] = a; a.flat(Infinity)", "Array.prototype.toString.call(deep)",
  ]) {
    const result = engine.run(`try { ${code.includes("let deep") ? code.replace("let deep", "globalThis.deep") : code} } catch (e) { e.constructor.name }`);
    assert.equal(result.status, 0);
    assert.equal(result.error, undefined, `${code}: ${JSON.stringify(result.error)}`);
    assert.match(result.text ?? "none", /^'(RangeError|SyntaxError|InternalError)'$/, `${code}: ${result.text}`);
  }
  assert.equal(engine.run("function f(){ return f() } f()").error.name, "RangeError");
  assert.equal(engine.run("1+1").text, "2");
});

test("values that are hard to show never break the reply", () => {
  const engine = newEngine();
  for (const code of [
    "new Array(1e6).fill(1)", "'x'.repeat(5e6)", "let d={}; for (let i=0;i<10000;i++) d={d}; d", "new Proxy({}, {ownKeys(){ throw 1 }, get(){ throw 2 }})",
    "({[Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('no') }})", "({get [Symbol.toStringTag]() { throw 1 }})",
    "Object.setPrototypeOf({}, new Proxy({}, {get(){ throw 1 }, getPrototypeOf(){ throw 2 }}))", "globalThis", "new Map(Array.from({length: 1e5}, (_, i) => [i, i]))",
    "new Uint8Array(1e6)", "Array.from({length: 200}, () => Array.from({length: 200}, () => ({a: [1,2]})))", "Symbol('\\ud83d')", "['\\ud83d', {'\\udc00': 1}]",
    "Object.create(Error.prototype)", "new (class extends Array { get length() { throw 1 } })()", "require('util').inspect(d, {depth: Infinity}).length",
  ]) {
    const result = engine.run(code);
    assert.equal(result.error, undefined, `${code}: ${JSON.stringify(result.error)}`);
    assert.ok(result.text !== undefined && result.text.length < 1.2e6, `${code}: ${result.text?.length}`);
  }
});

test("memory that is not there is an error that can be caught", () => {
  const engine = newEngine();
  engine.run("globalThis.keep = 1");
  assert.match(engine.run("try { new Uint8Array(2**32) } catch (e) { e.name }").text, /RangeError/);
  assert.match(engine.run("try { 'a'.repeat(2**31) } catch (e) { e.name }").text, /RangeError/);
  assert.match(engine.run("try { new ArrayBuffer(2**53) } catch (e) { e.name }").text, /RangeError/);
  assert.equal(engine.run("keep").text, "1");
});

test("two contexts draw different random numbers, and cryptographic ones always differ", () => {
  const draw = () => textOf("[Math.random(), crypto.randomUUID(), require('crypto').randomBytes(8).toString('hex')].join()");
  assert.notEqual(draw(), draw());
});

test("a fresh context is blank", () => {
  const list = () => textOf("Object.keys(globalThis).join()");
  assert.equal(list(), "''");
  assert.equal(textOf("const probe = 1", "typeof probe"), "'number'");
  assert.equal(textOf("typeof probe"), "'undefined'");
});

test("display emits output events in order", () => {
  const result = run("console.log('a'); display({x: 1}); display('<b>', {format: 'html'}); display.markdown('# t'); display(new Uint8Array([1,2]), {format: 'png'}); display({'text/x-own': 'v'}, {raw: true}); 7");
  assert.deepEqual(result.displays.map((d) => d.data), [
    { "text/plain": "{ x: 1 }", "application/json": { x: 1 } },
    { "text/html": "<b>", "text/plain": "<text/html, 3 characters>" }, { "text/markdown": "# t" },
    { "image/png": "AQI=", "text/plain": "<image/png, 2 bytes>" }, { "text/plain": "{ 'text/x-own': 'v' }", "text/x-own": "v" },
  ]);
  assert.equal(result.text, "7");
});

test("modules: import, require, editing, failing", () => {
  const engine = newEngine();
  const file = (name, text) => writeFileSync(join(engine.workspace, name), text);
  const value = (code) => {
    const result = engine.run(code);
    assert.equal(result.error, undefined, `${code}: ${JSON.stringify(result.error)}`);
    return result.text;
  };
  file("lib.mjs", "export const v = 1; export let count = 0; export function inc() { count++ } export default 'dflt'; console.log('loaded')");
  file("dep.mjs", "import {v} from './lib.mjs'; export const w = v * 10;");
  file("c.cjs", "exports.a = 1; exports.file = __filename; exports.again = require('./c.cjs') === exports");
  file("d.json", '{"j": [1]}');
  value("import fs from 'node:fs'; import d, {v, inc, count as n} from './lib.mjs'; import * as ns from './lib.mjs'");
  assert.equal(value("[typeof fs.readFileSync, d, v, n, ns.v]"), "[ 'function', 'dflt', 1, 0, 1 ]");
  assert.equal(value("inc(); n"), "1");
  assert.equal(engine.run("n = 5").error.name, "TypeError");
  assert.equal(value("import {w} from './dep.mjs'; w"), "10");
  assert.equal(engine.run("import {v} from './lib.mjs'").stdout, "");
  file("lib.mjs", "export const v = 22; export default 'new';");
  assert.equal(value("v"), "1");
  assert.equal(value("import {w} from './dep.mjs'; w"), "220");
  assert.equal(value("import {v} from './lib.mjs'; v"), "22");
  assert.equal(value("(await import('./lib.mjs')).default"), "'new'");
  assert.equal(value("const c = require('./c.cjs'); [c.a, c.file, c.again]"), "[ 1, '/workspace/c.cjs', true ]");
  file("c.cjs", "module.exports = class K {}");
  assert.equal(value("require('./c.cjs').name"), "'K'");
  assert.equal(value("import K from './c.cjs'; K.name"), "'K'");
  assert.equal(value("require('./d.json').j"), "[ 1 ]");
  assert.equal(value("import j from './d.json' with {type: 'json'}; j.j"), "[ 1 ]");
  assert.equal(value("export const q = 1; export default 7"), "7");
  assert.equal(value("export function named() { return q }\nexport { q as r }; named()"), "1");
  assert.equal(value("module.exports = {x: 1}; module.exports.x"), "1");
  file("ca.mjs", "import {b} from './cb.mjs'; export const a = 'a'; export const ab = () => a + b;");
  file("cb.mjs", "import {a} from './ca.mjs'; export const b = 'b'; export const ba = () => b + a;");
  assert.equal(value("import {ab} from './ca.mjs'; import {ba} from './cb.mjs'; ab() + ba()"), "'abba'");
  file("bad.mjs", "throw new Error('first')");
  const bad = engine.run("import './bad.mjs'").error;
  assert.equal(bad.message, "first");
  assert.match(bad.traceback[1], /\/workspace\/bad\.mjs:1:/);
  file("bad.mjs", "export const ok = 1");
  assert.equal(value("import {ok} from './bad.mjs'; ok"), "1");
  file("meta.mjs", "export const url = import.meta.url, dir = import.meta.dirname");
  assert.equal(value("import {url, dir} from './meta.mjs'; [url, dir]"), "[ 'file:///workspace/meta.mjs', '/workspace' ]");
  assert.match(value("import.meta.url"), /^'file:\/\/\/workspace\//);
  const missing = engine.run("import x from 'lodash'").error;
  assert.match(missing.message, /Cannot find package 'lodash'.*assert.*zlib/s);
  assert.match(engine.run("import './none.mjs'").error.message, /Cannot find module '\/workspace\/none\.mjs'/);
  assert.match(engine.run("require('nope')").error.message, /Cannot find package 'nope'/);
  assert.match(engine.run("import {nope} from './meta.mjs'").error.message, /nope/);
  assert.equal(engine.run("await import('./none.mjs')").error.name, "Error");
  file("tla.mjs", "export const t = await new Promise((r) => setTimeout(r, 2, 'waited'))");
  assert.equal(value("import {t} from './tla.mjs'; t"), "'waited'");
  assert.equal(value("const z = 1; import {v as vv} from './lib.mjs'; z + vv"), "23");
  file("syntax.mjs", "export const a = 1;\nlet b = ;");
  assert.match(engine.run("import './syntax.mjs'").error.traceback[1], /\/workspace\/syntax\.mjs:2:/);
  mkdirSync(join(engine.workspace, "node_modules/pkg"), { recursive: true });
  file("node_modules/pkg/package.json", '{"name":"pkg","exports":{".":{"import":"./m.mjs","require":"./c.cjs"}}}');
  file("node_modules/pkg/m.mjs", "export default 'esm'");
  file("node_modules/pkg/c.cjs", "module.exports = 'cjs'");
  assert.equal(value("import p from 'pkg'; [p, require('pkg')]"), "[ 'esm', 'cjs' ]");
  assert.equal(value("import {readFileSync as rf} from 'fs'; import * as fp from 'node:fs/promises'; [typeof rf, typeof fp.readFile]"), "[ 'function', 'function' ]");
});
