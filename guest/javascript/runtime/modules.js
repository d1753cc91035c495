// SPDX-License-Identifier: Apache-2.0
// import and require for programs.
//
// The rule for edited files: whenever a cell imports or requires something, every file module whose
// content changed since it was loaded is forgotten, with all modules that depend on it, and so
// evaluated anew. Modules that failed are forgotten at the end of their run.
import {
  evalScript, forgetModule, hashDigest, hashInit, hashUpdate, looksLikeModule, setCellMeta, stat, utf8Encode,
} from "dormouse:native";
import { builtinName, builtinNames, builtins } from "dormouse:builtin-names";
import { codedError } from "dormouse:errors";
import { normalize } from "dormouse:files/path";
import { directoryOf, installedPackages, readPackage, readText, resolveFile, resolvePackage } from "dormouse:files/resolve";
import { state } from "dormouse:state";
import { transpileModule } from "dormouse:typescript";

// path → {mtime, size, digest, dependencies}
const records = new Map();
// path → module object
const commonModules = new Map();

const isFilePath = (name) => name.startsWith("/");

function digestOf(text) {
  const hash = hashInit("sha1");
  hashUpdate(hash, utf8Encode(text));
  return hashDigest(hash).toHex();
}

function recordOf(path) {
  let record = records.get(path);
  if (record === undefined) records.set(path, record = { mtime: 0, size: -1, digest: "", dependencies: new Set() });
  return record;
}

// Reads a module's file and remembers what it was.
function readTracked(path) {
  const info = stat(path, true);
  const text = readText(path);
  const record = recordOf(path);
  record.dependencies.clear();
  if (typeof info !== "number") [record.mtime, record.size] = [info[6], info[4]];
  record.digest = digestOf(text);
  return text;
}

function isStale(path, record) {
  if (record.size === -1) return false;
  const info = stat(path, true);
  if (typeof info === "number") return true;
  if (info[6] === record.mtime && info[4] === record.size) return false;
  if (info[4] === record.size && digestOf(readText(path)) === record.digest) {
    record.mtime = info[6];
    return false;
  }
  return true;
}

function refresh() {
  if (records.size === 0) return;
  const stale = new Set();
  for (const [path, record] of records) if (isStale(path, record)) stale.add(path);
  if (stale.size === 0) return;
  for (let grown = true; grown;) {
    grown = false;
    for (const [path, record] of records) {
      if (!stale.has(path) && [...record.dependencies].some((name) => stale.has(name))) {
        stale.add(path);
        grown = true;
      }
    }
  }
  for (const path of stale) {
    forgetModule(path);
    commonModules.delete(path);
    records.delete(path);
  }
}

const describeBase = (base) => (isFilePath(base) ? base : base);

function notFound(specifier, base, isPackage) {
  const what = isPackage ? `Cannot find package '${specifier}'` : `Cannot find module '${specifier}'`;
  const hint = isPackage
    ? `. Installed packages: ${installedPackages().join(", ") || "none"}; others can be put under /workspace/node_modules, or added for all by `
      + `who runs the server (dormouse packages add -l javascript ${specifier}). Built-in modules: ${builtinNames().join(", ")}`
    : "";
  return codedError(Error, "ERR_MODULE_NOT_FOUND", `${what} imported from ${describeBase(base)}${hint}`);
}

// `base` is the path of the importing file, or the name of a cell.
function resolve(specifier, base, conditions) {
  const name = builtinName(specifier);
  if (name !== undefined) return `node:${name}`;
  if (specifier.startsWith("node:")) {
    throw codedError(Error, "ERR_UNKNOWN_BUILTIN_MODULE",
      `No such built-in module: ${specifier}. Available: ${builtinNames().join(", ")}`);
  }
  const directory = isFilePath(base) ? directoryOf(base) : state.cwd;
  let path;
  if (specifier.startsWith("file:")) path = normalize(decodeURIComponent(new URL(specifier).pathname));
  else if (specifier.startsWith("/")) path = normalize(specifier);
  else if (/^\.\.?(\/|$)/.test(specifier)) path = normalize(`${directory}/${specifier}`);
  if (path !== undefined) {
    const file = resolveFile(path.replace(/[?#].*$/, (tail) => (resolveFile(path) === undefined ? "" : tail)));
    if (file === undefined) throw notFound(path, base, false);
    return file;
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(specifier)) {
    throw codedError(Error, "ERR_UNSUPPORTED_ESM_URL_SCHEME",
      `Only file: and node: URLs can be imported here, not '${specifier}'`);
  }
  const file = specifier === "" ? undefined : resolvePackage(specifier, directory, conditions);
  if (file === undefined) throw notFound(specifier, base, true);
  return file;
}

// The loader's hook: the name under which the engine knows the module.
export function resolveImport(specifier, base) {
  if (base.startsWith("dormouse:") || base.startsWith("node:")) return specifier;
  if (!isFilePath(base)) refresh();
  const resolved = resolve(specifier, base, ["import", "node"]);
  if (isFilePath(base) && isFilePath(resolved)) recordOf(base).dependencies.add(resolved);
  return resolved;
}

function isModuleFile(path, text) {
  if (/\.(mjs|mts)$/.test(path)) return true;
  if (/\.(cjs|cts)$/.test(path)) return false;
  for (let directory = directoryOf(path); ; directory = directoryOf(directory)) {
    const config = readPackage(directory);
    if (config !== undefined) {
      if (config.type === "module") return true;
      if (config.type === "commonjs") return false;
      break;
    }
    if (directory === "/") break;
  }
  return /\.tsx?$/.test(path) || looksLikeModule(text);
}

const stripBom = (text) => (text.startsWith("\ufeff") ? text.slice(1) : text);

// The loader's hook: the source of an ES module, or the exports of any other kind.
export function loadModule(path, attributes) {
  if (path.endsWith(".json") || attributes?.type === "json") {
    return { default: parseJson(path, readTracked(path)) };
  }
  if (attributes?.type === "text") return { default: readTracked(path) };
  const text = readTracked(path);
  const isTyped = /\.[cm]?tsx?$/.test(path);
  if (isTyped) {
    if (/\.cts$/.test(path)) return exportsOf(requireFile(path));
    return transpileModule(text, path, false);
  }
  if (isModuleFile(path, text)) return text;
  return exportsOf(requireFile(path));
}

function parseJson(path, text) {
  try {
    return JSON.parse(stripBom(text));
  } catch (error) {
    error.message = `${path}: ${error.message}`;
    throw error;
  }
}

function exportsOf(value) {
  const result = { __proto__: null };
  if ((typeof value === "object" && value !== null) || typeof value === "function") {
    for (const key of Object.keys(value)) {
      if (key !== "default") result[key] = value[key];
    }
  }
  result.default = value;
  return result;
}

class Module {
  constructor(id) {
    this.id = id;
    this.path = directoryOf(id);
    this.exports = {};
    this.filename = id;
    this.loaded = false;
    this.children = [];
    this.paths = [];
  }
  require(specifier) { return requireFrom(specifier, this.filename); }
}

function requireFile(path) {
  const known = commonModules.get(path);
  if (known !== undefined) return known.exports;
  const module = new Module(path);
  commonModules.set(path, module);
  try {
    if (path.endsWith(".json")) module.exports = parseJson(path, readTracked(path));
    else runCommonModule(module, path);
    module.loaded = true;
    return module.exports;
  } catch (error) {
    commonModules.delete(path);
    records.delete(path);
    throw error;
  }
}

function runCommonModule(module, path) {
  let text = stripBom(readTracked(path)).replace(/^#!.*/, "");
  if (/\.[cm]?tsx?$/.test(path)) {
    text = transpileModule(text, path, true);
  } else if (isModuleFile(path, text)) {
    throw codedError(Error, "ERR_REQUIRE_ESM",
      `require() of ES Module ${path} is not supported; use import ${JSON.stringify(path)} or await import(...)`);
  }
  // The wrapper is line 0, so that the file's own lines keep their numbers.
  const wrapper = evalScript(`(function (exports, require, module, __filename, __dirname) {\n${text}\n})`, path, 0);
  wrapper.call(module.exports, module.exports, createRequire(path), module, path, directoryOf(path));
}

function requireFrom(specifier, base) {
  if (typeof specifier !== "string") {
    throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", 'The "id" argument must be of type string.');
  }
  if (!isFilePath(base)) refresh();
  const resolved = resolveForRequire(specifier, base);
  if (!isFilePath(resolved)) return builtins[resolved.slice(5)];
  if (isFilePath(base)) recordOf(base).dependencies.add(resolved);
  return requireFile(resolved);
}

function resolveForRequire(specifier, base) {
  try {
    return resolve(specifier, base, ["require", "node"]);
  } catch (error) {
    if (error.code === "ERR_MODULE_NOT_FOUND") error.code = "MODULE_NOT_FOUND";
    throw error;
  }
}

// The program, when the context runs one: whoever runs it puts its path into process.argv. Cells have none.
const mainPath = () => globalThis.process?.argv?.[1];
const mainModule = () => commonModules.get(mainPath());

export function createRequire(base) {
  const from = typeof base === "string" ? base.replace(/^file:\/\//, "") : decodeURIComponent(base.pathname);
  const require = (specifier) => requireFrom(specifier, from);
  require.resolve = (specifier) => {
    const resolved = resolveForRequire(specifier, from);
    return isFilePath(resolved) ? resolved : resolved.slice(5);
  };
  require.cache = new Proxy({}, {
    get: (target, key) => commonModules.get(key),
    has: (target, key) => commonModules.has(key),
    deleteProperty: (target, key) => (commonModules.delete(key), true),
    ownKeys: () => [...commonModules.keys()],
    getOwnPropertyDescriptor: (target, key) => (commonModules.has(key)
      ? { value: commonModules.get(key), enumerable: true, configurable: true, writable: true } : undefined),
  });
  Object.defineProperty(require, "main", { get: mainModule, enumerable: true, configurable: true });
  return require;
}

export function fillImportMeta(meta, path) {
  meta.url = `file://${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}`;
  meta.filename = path;
  meta.dirname = directoryOf(path);
  meta.main = path === mainPath();
  meta.resolve = (specifier) => {
    const resolved = resolve(specifier, path, ["import", "node"]);
    return isFilePath(resolved) ? `file://${encodeURI(resolved)}` : resolved;
  };
}

// What require, module and import.meta are in cells.
export function cellScope() {
  const cell = "[cell]";
  setCellMeta({
    get url() { return `file://${encodeURI(state.cwd)}/${cell}`; },
    get filename() { return `${state.cwd}/${cell}`; },
    get dirname() { return state.cwd; },
    resolve(specifier) {
      const resolved = resolve(specifier, cell, ["import", "node"]);
      return isFilePath(resolved) ? `file://${encodeURI(resolved)}` : resolved;
    },
  });
  const module = new Module(cell);
  module.path = ".";
  return { module, require: createRequire(cell) };
}
