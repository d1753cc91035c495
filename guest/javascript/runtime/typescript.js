// SPDX-License-Identifier: Apache-2.0
// TypeScript to JavaScript, by stripping types; nothing is type-checked.
//
// sucrase does nearly all of it, fast and line by line. What it does not know (namespaces,
// decorators, ...) goes to the TypeScript compiler, whose output is mapped back to the source's
// positions. Both are files of the engine that only the TypeScript boot image loads.
import { evalScript, stat } from "dormouse:native";
import { readText } from "dormouse:files/resolve";

const kFolder = "/usr/lib/dormouse";
let sucrase;
let typescript;

function loadCommon(path) {
  const wrapper = evalScript(`(function (exports, require, module, __filename, __dirname, process) {\n${readText(path)}\n})`, `dormouse:${path}`, 0);
  const module = { exports: {} };
  const missing = (name) => {
    throw new Error(`no module ${name}`);
  };
  wrapper.call(undefined, module.exports, missing, module, path, kFolder, undefined);
  return module.exports;
}

export function loadTranspilers() {
  if (typeof stat(`${kFolder}/sucrase.js`, true) === "number") return;
  sucrase = loadCommon(`${kFolder}/sucrase.js`);
  typescript = loadCommon(`${kFolder}/typescript.js`);
  warmUp();
}

// The first use of the compiler builds tables that should be part of the boot image.
function warmUp() {
  transpileCell("type A = 1; interface I { a?: number } abstract class K<T> implements I { declare z: T; constructor(private p: T, readonly q = 1) {} } const o = {} as const satisfies object;", "warm");
  transpileCell("enum A { B } let x: number = A.B as any; import {y} from 'y'; export const z = 1;", "warm");
  transpileCell("namespace N { export const a: number = 1 } function d(c: any, k: any) {} @d class C<T> { @d m(): void {} @d accessor x = 1; constructor(private p: T) {} } import q = require('q')", "warm");
}

export const hasTranspilers = () => sucrase !== undefined;

function syntaxError(message, filename, line, column) {
  const error = new SyntaxError(message);
  Object.defineProperty(error, "stack", {
    value: `SyntaxError: ${message}\n    at ${filename}:${line}:${column}`, writable: true, configurable: true,
  });
  return error;
}

// A name declared by an enum or a namespace starts afresh in each cell; within one cell its
// declarations merge.
function freshNames(code) {
  const seen = new Set();
  return code.replace(/\bvar ([\w$]+);(?=\s*\(function \(\1\)\s*\{)/g, (text, name) => {
    if (seen.has(name)) return text;
    seen.add(name);
    return `var ${name} = void 0;`;
  });
}

// What sucrase would misread or pass through.
const kNeedsCompiler = /(^|[^\w$.])(namespace|module)\s+[\w$.]+\s*\{|(^|[\s;{}(,])@[\w$(]|\bimport\s+[\w$]+\s*=|\bexport\s*=|(^|[\s;{}])accessor\s+[\w$#[]/m;

function bySucrase(code, path, options) {
  return sucrase.transform(code, {
    transforms: ["typescript"], disableESTransforms: true, filePath: path, ...options,
  }).code;
}

function compilerOptions(common) {
  const { ModuleKind, ScriptTarget } = typescript;
  return {
    target: ScriptTarget.ES2022, module: common ? ModuleKind.CommonJS : ModuleKind.ESNext, sourceMap: true,
    isolatedModules: true, preserveConstEnums: true, verbatimModuleSyntax: !common, removeComments: false,
    experimentalDecorators: false, useDefineForClassFields: true, newLine: 1, inlineSources: false,
    esModuleInterop: true,
  };
}

// {code, map}: the map is a flat list of generated line, column, source line, column, from 1.
function byCompiler(code, path, common) {
  const options = compilerOptions(common);
  if (/\(\s*@[\w$]|,\s*@[\w$]+(\([^)]*\))?\s+[\w$]+\s*[:,)]/.test(code)) options.experimentalDecorators = true;
  const output = typescript.transpileModule(code, { compilerOptions: options, fileName: "cell.ts", reportDiagnostics: true });
  const problem = output.diagnostics?.find((diagnostic) => diagnostic.category === 1);
  if (problem !== undefined) {
    const { line, character } = problem.file === undefined ? { line: 0, character: 0 }
      : problem.file.getLineAndCharacterOfPosition(problem.start ?? 0);
    throw syntaxError(typescript.flattenDiagnosticMessageText(problem.messageText, "\n"), path, line + 1, character + 1);
  }
  const text = output.outputText.replace(/\/\/# sourceMappingURL=.*\s*$/, "").replace(/\bexport \{\};\s*$/, "");
  return { code: text, map: decodeMappings(JSON.parse(output.sourceMapText).mappings) };
}

const kDigits = Object.fromEntries([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].map((c, i) => [c, i]));

function decodeMappings(mappings) {
  const map = [];
  let [sourceLine, sourceColumn] = [0, 0];
  mappings.split(";").forEach((line, index) => {
    let column = 0;
    for (const segment of line === "" ? [] : line.split(",")) {
      const fields = [];
      for (let i = 0, value = 0, shift = 0; i < segment.length; i++) {
        const digit = kDigits[segment[i]];
        value += (digit & 31) << shift;
        shift += 5;
        if ((digit & 32) === 0) {
          fields.push(value & 1 ? -(value >> 1) : value >> 1);
          value = 0;
          shift = 0;
        }
      }
      column += fields[0];
      if (fields.length < 4) continue;
      sourceLine += fields[2];
      sourceColumn += fields[3];
      map.push(index + 1, column + 1, sourceLine + 1, sourceColumn + 1);
    }
  });
  return map;
}

function transpile(code, path, common) {
  if (sucrase === undefined) {
    throw new Error("TypeScript is not available in a JavaScript context; use a TypeScript context");
  }
  if (!kNeedsCompiler.test(code)) {
    try {
      const options = common ? { transforms: ["typescript", "imports"] } : { keepUnusedImports: !path.startsWith("/") };
      return { code: bySucrase(code, path, options) };
    } catch {
      // The compiler either knows what this is or says what is wrong with it.
    }
  }
  return byCompiler(code, path, common);
}

// The driver's hook: [JavaScript, map or undefined].
export function transpileCell(code, filename) {
  const { code: text, map } = transpile(code, filename, false);
  return [freshNames(text), map];
}

// The JavaScript of a file; its lines are the file's where sucrase did it.
export function transpileModule(code, path, common) {
  return transpile(code, path, common).code;
}
