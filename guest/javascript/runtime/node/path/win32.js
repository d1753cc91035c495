// SPDX-License-Identifier: Apache-2.0
// path.win32: names as Windows writes them, for programs that only handle such names.
import { argumentTypeError } from "dormouse:errors";
import { state } from "dormouse:state";

export const sep = "\\";
export const delimiter = ";";

const isSlash = (c) => c === "/" || c === "\\";

function checked(path, name = "path") {
  if (typeof path !== "string") throw argumentTypeError(name, "of type string", path);
  return path;
}

// {device, rooted, tail}: "C:" or "\\server\share" or "", whether a slash follows, and the rest without that slash.
function split(path) {
  const unc = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)(?=[\\/]|$)/.exec(path);
  if (unc !== null) {
    const tail = path.slice(unc[0].length);
    return { device: `\\\\${unc[1]}\\${unc[2]}`, rooted: true, tail: tail.replace(/^[\\/]+/, ""), rootLength: path.length - tail.replace(/^[\\/]/, "").length };
  }
  const device = /^[a-zA-Z]:/.exec(path)?.[0] ?? "";
  const rest = path.slice(device.length);
  const rooted = isSlash(rest[0]);
  return { device, rooted, tail: rooted ? rest.replace(/^[\\/]+/, "") : rest, rootLength: device.length + (rooted ? 1 : 0) };
}

function shorten(tail, mayGoUp) {
  const parts = [];
  for (const part of tail.split(/[\\/]+/)) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (mayGoUp) parts.push("..");
  }
  return parts.join("\\");
}

export function normalize(path) {
  if (checked(path) === "") return ".";
  const { device, rooted, tail } = split(path);
  let short = shorten(tail, !rooted);
  if (short === "" && !rooted) short = ".";
  if (short !== "" && isSlash(path.at(-1)) && !(short === "." && tail === "")) short += "\\";
  // What is no device must not become one.
  const isDevice = !rooted && device === "" && (/^[a-zA-Z]:/.test(short) || /:([\\/]|$)/.test(path));
  return `${isDevice ? ".\\" : device}${rooted ? "\\" : ""}${short}`;
}

export function isAbsolute(path) {
  const { rooted } = split(checked(path));
  return rooted;
}

export function join(...paths) {
  const parts = paths.filter((path) => checked(path) !== "");
  if (parts.length === 0) return ".";
  let joined = parts.join("\\");
  // Only a first part that is a network name itself may begin with two slashes.
  if (!/^[\\/]{2}[^\\/]/.test(parts[0])) joined = joined.replace(/^[\\/]{2,}/, "\\");
  return normalize(joined);
}

export function resolve(...paths) {
  let device = "";
  let rooted = false;
  let tail = "";
  for (const path of [state.cwd, ...paths].reverse()) {
    if (checked(path) === "") continue;
    const parts = split(path);
    if (parts.device !== "" && device !== "" && parts.device.toLowerCase() !== device.toLowerCase()) continue;
    device ||= parts.device;
    if (!rooted) {
      tail = `${parts.tail}\\${tail}`;
      ({ rooted } = parts);
    }
    if (rooted && device !== "") break;
  }
  return `${device}${rooted ? "\\" : ""}${shorten(tail, !rooted)}` || ".";
}

export function relative(from, to) {
  const [start, end] = [resolve(checked(from, "from")), resolve(checked(to, "to"))].map(split);
  if (start.device.toLowerCase() !== end.device.toLowerCase()) return resolve(to);
  const [a, b] = [start.tail, end.tail].map((tail) => tail.split("\\").filter((part) => part !== ""));
  let common = 0;
  while (common < a.length && common < b.length && a[common].toLowerCase() === b[common].toLowerCase()) common++;
  return [...a.slice(common).fill(".."), ...b.slice(common)].join("\\");
}

export function dirname(path) {
  if (checked(path) === "") return ".";
  const { rootLength } = split(path);
  const rest = path.slice(rootLength).replace(/[\\/]+$/, "");
  const at = Math.max(rest.lastIndexOf("\\"), rest.lastIndexOf("/"));
  if (at === -1) return path.slice(0, rootLength) || ".";
  return path.slice(0, rootLength) + rest.slice(0, at);
}

export function basename(path, suffix = "") {
  checked(suffix, "suffix");
  const base = checked(path).replace(/^[a-zA-Z]:/, "").replace(/[\\/]+$/, "").replace(/^.*[\\/]/s, "");
  return base !== suffix && base.endsWith(suffix) ? base.slice(0, base.length - suffix.length) : base;
}

export function extname(path) {
  const base = basename(path);
  const at = base.lastIndexOf(".");
  return at <= 0 || base === ".." ? "" : base.slice(at);
}

export function parse(path) {
  const root = checked(path).slice(0, split(path).rootLength);
  const base = path.length > root.length ? basename(path.slice(root.length)) : "";
  const ext = extname(base);
  const dir = /[\\/]/.test(path.slice(root.length).replace(/[\\/]+$/, "")) ? dirname(path) : root;
  return { root, dir, base, ext, name: base.slice(0, base.length - ext.length) };
}

export function format(parts) {
  if (typeof parts !== "object" || parts === null) throw argumentTypeError("pathObject", "of type object", parts);
  const { root = "", dir = root, name = "", ext = "" } = parts;
  const base = parts.base || `${name}${ext && !ext.startsWith(".") ? "." : ""}${ext}`;
  return dir === "" ? base : dir === root ? `${dir}${base}` : `${dir}\\${base}`;
}

export function toNamespacedPath(path) {
  if (typeof path !== "string" || path === "") return path;
  const full = resolve(path);
  if (/^\\\\[^\\?.]/.test(full)) return `\\\\?\\UNC\\${full.slice(2)}`;
  return /^[a-zA-Z]:\\/.test(full) ? `\\\\?\\${full}` : path;
}

const win32 = {
  resolve, normalize, isAbsolute, join, relative, toNamespacedPath, dirname, basename, extname, format, parse, sep,
  delimiter,
};
win32.win32 = win32;
export { win32 };
export default win32;
