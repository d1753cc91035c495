// SPDX-License-Identifier: Apache-2.0
// Which file a module specifier means.
import { open, close, read, readdir, stat, utf8Decode } from "dormouse:native";
import { codedError } from "dormouse:errors";
import { normalize } from "dormouse:files/path";

const kFile = 0o100000;
// Filled by the host with what `dormouse packages add` has installed.
const kInstalled = "/usr/lib/dormouse/packages";
const kExtensions = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".json"];

export function isFile(path) {
  const info = stat(path, true);
  return typeof info !== "number" && info[2] === kFile;
}

export function readText(path) {
  const fd = open(path, 0);
  if (fd < 0) throw codedError(Error, "ERR_MODULE_NOT_FOUND", `Cannot read '${path}'`);
  try {
    const chunks = [];
    let total = 0;
    for (;;) {
      const chunk = new Uint8Array(65536);
      const count = read(fd, chunk, 0, chunk.length, -1);
      if (count < 0) throw codedError(Error, "ERR_MODULE_NOT_FOUND", `Cannot read '${path}'`);
      if (count === 0) break;
      chunks.push(chunk.subarray(0, count));
      total += count;
    }
    const bytes = new Uint8Array(total);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return utf8Decode(bytes);
  } finally {
    close(fd);
  }
}

export const directoryOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

export function readPackage(directory) {
  const path = `${directory === "/" ? "" : directory}/package.json`;
  if (!isFile(path)) return undefined;
  try {
    return JSON.parse(readText(path));
  } catch (error) {
    throw codedError(Error, "ERR_INVALID_PACKAGE_CONFIG", `Invalid package config ${path}: ${error.message}`);
  }
}

// The file itself, with an extension added, as TypeScript for a ".js" that is none, or its index.
export function resolveFile(path) {
  if (isFile(path)) return path;
  for (const extension of kExtensions) {
    if (isFile(path + extension)) return path + extension;
  }
  const typed = /^(.*)\.([cm]?)js$/.exec(path);
  if (typed !== null && isFile(`${typed[1]}.${typed[2]}ts`)) return `${typed[1]}.${typed[2]}ts`;
  const config = readPackage(path);
  if (typeof config?.main === "string") {
    const main = resolveFile(normalize(`${path}/${config.main}`));
    if (main !== undefined) return main;
  }
  for (const extension of kExtensions) {
    if (isFile(`${path}/index${extension}`)) return `${path}/index${extension}`;
  }
  return undefined;
}

// The target of an "exports" entry under the given conditions.
function exportTarget(entry, conditions) {
  if (typeof entry === "string") return entry;
  if (Array.isArray(entry)) {
    for (const item of entry) {
      const target = exportTarget(item, conditions);
      if (target !== undefined) return target;
    }
    return undefined;
  }
  if (typeof entry !== "object" || entry === null) return undefined;
  for (const condition of Object.keys(entry)) {
    if (condition === "default" || conditions.includes(condition)) {
      const target = exportTarget(entry[condition], conditions);
      if (target !== undefined) return target;
    }
  }
  return undefined;
}

function packageExport(exports, subpath, conditions) {
  const isMap = typeof exports === "object" && exports !== null && !Array.isArray(exports) &&
    Object.keys(exports).some((key) => key.startsWith("."));
  const map = isMap ? exports : { ".": exports };
  if (Object.hasOwn(map, subpath)) return exportTarget(map[subpath], conditions);
  for (const key of Object.keys(map)) {
    const star = key.indexOf("*");
    if (star === -1) continue;
    const [head, tail] = [key.slice(0, star), key.slice(star + 1)];
    if (subpath.startsWith(head) && subpath.endsWith(tail) && subpath.length >= head.length + tail.length) {
      const middle = subpath.slice(head.length, subpath.length - tail.length);
      return exportTarget(map[key], conditions)?.replaceAll("*", middle);
    }
  }
  return undefined;
}

// The file that `rest` means in the package in `root`; undefined when there is no such package or file.
function resolveIn(root, rest, conditions) {
  if (typeof stat(root, true) === "number") return undefined;
  const config = readPackage(root);
  if (config?.exports !== undefined) {
    const target = packageExport(config.exports, `.${rest}`, conditions);
    if (target !== undefined) return resolveFile(normalize(`${root}/${target}`));
    throw codedError(Error, "ERR_PACKAGE_PATH_NOT_EXPORTED", `Package subpath '.${rest}' is not defined by "exports" in ${root}/package.json`);
  }
  const main = conditions.includes("import") && rest === "" && typeof config?.module === "string"
    ? resolveFile(normalize(`${root}/${config.module}`)) : undefined;
  return main ?? resolveFile(root + rest);
}

// A package in a node_modules folder above `directory`, or an installed one; undefined when there is none.
export function resolvePackage(specifier, directory, conditions) {
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier);
  for (let current = directory; ; current = directoryOf(current)) {
    const found = resolveIn(`${current === "/" ? "" : current}/node_modules/${name}`, rest, conditions);
    if (found !== undefined) return found;
    if (current === "/") return resolveIn(`${kInstalled}/${name}`, rest, conditions);
  }
}

// NAME VERSION of the packages that every context has.
export function installedPackages() {
  const directories = (path) => {
    const flat = readdir(path);
    return typeof flat === "number" ? [] : flat.filter((name) => typeof name === "string" && /^[^.]/.test(name)).sort();
  };
  const names = directories(kInstalled).flatMap((name) =>
    name.startsWith("@") ? directories(`${kInstalled}/${name}`).map((inner) => `${name}/${inner}`) : [name]);
  return names.map((name) => `${name} ${readPackage(`${kInstalled}/${name}`)?.version ?? ""}`.trim());
}
