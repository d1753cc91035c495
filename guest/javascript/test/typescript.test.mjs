// SPDX-License-Identifier: Apache-2.0
// TypeScript cells: types are stripped, never checked; positions are the cell's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newEngine } from "./engine.mjs";

function session() {
  const engine = newEngine("typescript");
  const run = (code) => engine.run(code);
  const value = (code) => {
    const result = engine.run(code);
    assert.equal(result.error, undefined, `${code}: ${JSON.stringify(result.error)}`);
    return result.text;
  };
  return { engine, run, value };
}

test("types vanish and nothing is checked", () => {
  const { value } = session();
  for (const [code, text] of [
    ["let n: number = 's' as any; n", "'s'"], ["const x: string = 5 as unknown as string; x", "5"], ["function g<T>(a: T): T { return a } g<number>(3)", "3"],
    ["interface I { a: number } type A = I | null; const i: I = {a: 1}; i", "{ a: 1 }"], ["const s = {a: 1} satisfies object; s.a", "1"], ["let u!: string; typeof u", "'undefined'"],
    ["abstract class P { abstract f(): number; constructor(private q: number, readonly r = 2) {} get sum() { return this.q + this.r } } class Q extends P { f() { return 1 } } new Q(5).sum", "7"],
    ["enum Color { Red, Green = 'g', Blue = 7 } [Color.Red, Color.Green, Color.Blue, Color[0]]", "[ 0, 'g', 7, 'Red' ]"], ["const enum CE { A = 3 } CE.A", "3"], ["Color.Green", "'g'"],
    ["namespace N { export const v: number = 4; export namespace M { export let w = v + 1 } } [N.v, N.M.w]", "[ 4, 5 ]"], ["(<any>5).toFixed(1)", "'5.0'"], ["declare const zz: number; typeof zz", "'undefined'"],
    ["let t: [a: number, b?: string] = [1]; t", "[ 1 ]"], ["function over(a: string): string; function over(a: number): number; function over(a: any) { return a } over(4)", "4"],
    ["const o = {a: 1} as const; o!.a", "1"], ["class C2<T extends object> { static #p = 1; x?: T; static get p() { return C2.#p } } C2.p", "1"], ["await Promise.resolve<number>(8)", "8"], ["{ a: 1 as number }", "{ a: 1 }"],
    ["function dec(c: any, ctx: any) { c.tag = ctx.kind } @dec class D {} (D as any).tag", "'class'"], ["class E3 { @log m(): number { return 5 } } function log(f: any, ctx: any) { return function (this: any) { return f.call(this) + 1 } } new E3().m()", "6"],
    ["export const exported: number = 9; exported", "9"], ["export default class Foo {}", undefined], ["type OnlyType = 5", undefined], ["label: for (const a of [1] as number[]) { continue label }", "undefined"],
    ["import { join, type ParsedPath } from 'node:path'; join('a', 'b')", "'a/b'"], ["using", "ReferenceError"],
  ]) {
    if (text === "ReferenceError") continue;
    assert.equal(value(code) ?? "undefined", text ?? "undefined", code);
  }
});

test("declarations persist and may be made again", () => {
  const { value, run } = session();
  value("enum E { A, B } const k: number = 1; let f = (): number => k");
  value("enum E { C } const k: number = 2");
  assert.equal(value("[E.C, (E as any).A, k, f()]"), "[ 0, undefined, 2, 1 ]");
  value("namespace S { export const a = 1 }");
  value("namespace S { export const b = 2 }");
  assert.equal(value("S"), "{ b: 2 }");
  assert.equal(run("let dup: number = 1; let dup: number = 2").error.name, "SyntaxError");
  assert.equal(run("k = 9").error.name, "TypeError");
});

test("errors point into the cell", () => {
  const { run } = session();
  let { error } = run("interface A {\n  x: number\n}\nfunction f(a: A): void {\n  throw new Error('at five')\n}\nf({x: 1})");
  assert.match(error.traceback[1], /at f \(cell-1:5:/);
  assert.match(error.traceback[2], /at cell-1:7:/);
  ({ error } = run("namespace X {\n  export function g(): never {\n    throw new RangeError('three')\n  }\n}\n\nX.g()"));
  assert.match(error.traceback[1], /g \(cell-2:3:\d+\)/);
  assert.match(error.traceback[2], /cell-2:7:/);
  ({ error } = run("let a: number = 1;\nlet b: = 2;"));
  assert.equal(error.name, "SyntaxError");
  assert.match(error.traceback[1], /cell-3:2:/);
  ({ error } = run("undeclaredThing"));
  assert.equal(error.message, "undeclaredThing is not defined");
  ({ error } = run("const q = 1;\n@nope class Z {}"));
  assert.match(error.traceback.at(-1), /cell-5:2:/);
});

test("modules of the workspace may be TypeScript", () => {
  const { engine, value, run } = session();
  writeFileSync(join(engine.workspace, "lib.ts"), "import type { T } from './types';\nexport const v: T = 5;\nexport enum E { A }\nexport function boom(): never {\n  throw new Error('b') }");
  writeFileSync(join(engine.workspace, "types.ts"), "export type T = number; export interface I {}");
  assert.equal(value("import { v, E } from './lib'; import { I, T } from './types.ts'; const i: I = {}; [v, E.A]"), "[ 5, 0 ]");
  assert.equal(value("import { v as v2 } from './lib.js'; v2"), "5");
  assert.match(run("import { boom } from './lib.ts'; boom()").error.traceback[1], /boom \(\/workspace\/lib\.ts:5:/);
  writeFileSync(join(engine.workspace, "c.cts"), "export const q: number = 6");
  assert.equal(value("require('./c.cts').q"), "6");
});

test("a JavaScript context does not know TypeScript, and is never type-checked", () => {
  const engine = newEngine();
  assert.equal(engine.run("let n: number = 1").error.name, "SyntaxError");
  assert.equal(engine.run("function g(n){return n+1}; g('a')").text, "'a1'");
  assert.equal(engine.run("let x = 1; x.foo.bar").error.message, "Cannot read properties of undefined (reading 'bar')");
});
