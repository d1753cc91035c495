// SPDX-License-Identifier: Apache-2.0
// The synchronous half of fs. Everything else in fs is built on it: nothing here ever waits.
import * as native from "dormouse:native";
import { Buffer } from "node:buffer";
import { argumentTypeError, argumentValueError, check, codedError, rangeError, systemError } from "dormouse:errors";
import { constants, openFlags } from "dormouse:files/constants";
import { normalize, resolvePath, systemPath, toPath } from "dormouse:files/path";
import { Dirent, Stats } from "dormouse:files/stats";

const kDirectory = 0o040000;
const kLink = 0o120000;

const isMissing = (status) => status === -44 || status === -54;

function demand(status, syscall, path, destination) {
  if (typeof status === "number" && status < 0) throw systemError(status, syscall, path, destination);
  return status;
}

const optionsOf = (options) => (typeof options === "string" ? { encoding: options } : options ?? {});

function decode(buffer, options) {
  const { encoding } = optionsOf(options);
  return encoding && encoding !== "buffer" ? buffer.toString(encoding) : buffer;
}

const isFd = (value) => typeof value === "number";

function checkFd(fd) {
  check.integer(fd, "fd", 0, 2147483647);
  return fd;
}

// A number, or its octal digits.
function modeOf(mode, fallback, name = "mode") {
  if (mode === undefined || mode === null) {
    if (fallback !== undefined) return fallback;
  } else if (typeof mode === "string") {
    if (/^[0-7]+$/.test(mode)) return Number.parseInt(mode, 8);
    throw argumentValueError(name, mode, "must be a 32-bit unsigned integer or an octal string");
  }
  check.integer(mode, name, 0, 4294967295);
  return mode;
}

export function openSync(path, flags = "r", mode = 0o666) {
  return demand(native.open(systemPath(path), openFlags(flags), modeOf(mode, 0o666)), "open", toPath(path));
}

export function closeSync(fd) {
  demand(native.close(checkFd(fd)), "close");
}

function bytesOf(buffer, name = "buffer") {
  if (!ArrayBuffer.isView(buffer)) {
    throw argumentTypeError(name, "an instance of Buffer, TypedArray, or DataView", buffer);
  }
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

const positionOf = (position) =>
  typeof position === "number" || typeof position === "bigint" ? Number(position) : -1;

function range(bytes, offset, length) {
  const start = offset ?? 0;
  const count = length ?? bytes.length - start;
  check.integer(start, "offset", 0);
  check.integer(count, "length", 0);
  if (start > bytes.length) throw rangeError("offset", `<= ${bytes.length}`, start);
  if (count > bytes.length - start) throw rangeError("length", `<= ${bytes.length - start}`, count);
  return [start, count];
}

export function readSync(fd, buffer, offset, length, position) {
  let parameters = { offset, length, position };
  if (typeof offset === "object" && offset !== null) parameters = offset;
  const bytes = bytesOf(buffer);
  const [start, count] = range(bytes, parameters.offset, parameters.length);
  return demand(native.read(checkFd(fd), bytes, start, count, positionOf(parameters.position)), "read");
}

export function writeSync(fd, data, offset, length, position) {
  checkFd(fd);
  if (typeof data === "string") {
    const bytes = Buffer.from(data, typeof length === "string" ? length : "utf8");
    return demand(native.write(fd, bytes, 0, bytes.length, positionOf(offset)), "write");
  }
  let parameters = { offset, length, position };
  if (typeof offset === "object" && offset !== null) parameters = offset;
  const bytes = bytesOf(data);
  const [start, count] = range(bytes, parameters.offset, parameters.length);
  return demand(native.write(fd, bytes, start, count, positionOf(parameters.position)), "write");
}

export function readvSync(fd, buffers, position) {
  let total = 0;
  for (const buffer of buffers) {
    const at = typeof position === "number" ? position + total : null;
    const count = readSync(fd, buffer, 0, buffer.byteLength, at);
    total += count;
    if (count < buffer.byteLength) break;
  }
  return total;
}

export function writevSync(fd, buffers, position) {
  let total = 0;
  for (const buffer of buffers) {
    writeAll(fd, bytesOf(buffer), typeof position === "number" ? position + total : -1);
    total += buffer.byteLength;
  }
  return total;
}

function writeAll(fd, bytes, position = -1) {
  for (let at = 0; at < bytes.length;) {
    at += demand(native.write(fd, bytes, at, bytes.length - at, position < 0 ? -1 : position + at), "write");
  }
}

function readAll(fd) {
  const info = native.stat(fd);
  const size = typeof info === "number" ? 0 : info[4];
  const chunks = [];
  let total = 0;
  for (;;) {
    const buffer = Buffer.allocUnsafeSlow(chunks.length === 0 && size > 0 ? size + 1 : 65536);
    const count = demand(native.read(fd, buffer, 0, buffer.length, -1), "read");
    if (count === 0) break;
    chunks.push(count === buffer.length ? buffer : buffer.subarray(0, count));
    total += count;
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, total);
}

export function readFileSync(path, options) {
  if (isFd(path)) return decode(readAll(path), options);
  const fd = openSync(path, optionsOf(options).flag ?? "r");
  try {
    const info = native.stat(fd);
    if (typeof info !== "number" && info[2] === kDirectory) throw systemError(-31, "read");
    return decode(readAll(fd), options);
  } finally {
    native.close(fd);
  }
}

function toBytes(data, encoding) {
  if (typeof data === "string") return Buffer.from(data, encoding ?? "utf8");
  if (!ArrayBuffer.isView(data)) {
    throw argumentTypeError("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
  }
  return bytesOf(data);
}

export function writeFileSync(path, data, options) {
  const { encoding, flag, mode } = optionsOf(options);
  const bytes = toBytes(data, encoding);
  if (isFd(path)) {
    writeAll(path, bytes);
    return;
  }
  const fd = openSync(path, flag ?? "w", mode);
  try {
    writeAll(fd, bytes);
  } finally {
    native.close(fd);
  }
}

export function appendFileSync(path, data, options) {
  writeFileSync(path, data, { flag: "a", ...optionsOf(options) });
}

function statWith(path, options, follow, syscall) {
  const info = native.stat(systemPath(path), follow);
  if (typeof info === "number") {
    if (options?.throwIfNoEntry === false && isMissing(info)) return undefined;
    throw systemError(info, syscall, toPath(path));
  }
  return new Stats(info, options?.bigint === true);
}

export const statSync = (path, options) => statWith(path, options, true, "stat");
export const lstatSync = (path, options) => statWith(path, options, false, "lstat");
export function fstatSync(fd, options) {
  return new Stats(demand(native.stat(checkFd(fd)), "fstat"), options?.bigint === true);
}

export function statfsSync(path) {
  statSync(path);
  return { type: 0, bsize: 4096, blocks: 262144, bfree: 131072, bavail: 131072, files: 0, ffree: 0 };
}

export function existsSync(path) {
  try {
    return typeof native.stat(systemPath(path), true) !== "number";
  } catch {
    return false;
  }
}

export function accessSync(path, mode = constants.F_OK) {
  const info = demand(native.stat(systemPath(path), true), "access", toPath(path));
  const owner = info[8] < 0 ? 7 : info[8] >> 6;
  if ((mode & 7 & ~owner) !== 0) throw systemError(-2, "access", toPath(path));
}

function entriesOf(absolute, given) {
  const flat = demand(native.readdir(absolute), "scandir", given);
  const entries = [];
  for (let i = 0; i < flat.length; i += 2) entries.push([flat[i], flat[i + 1]]);
  return entries.sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

export function readdirSync(path, options) {
  const { withFileTypes = false, recursive = false, encoding } = optionsOf(options);
  const result = [];
  const root = toPath(path);
  const walk = (absolute, relative) => {
    for (const [name, type] of entriesOf(absolute, root)) {
      const below = relative === "" ? name : `${relative}/${name}`;
      if (withFileTypes) {
        const parent = relative === "" ? root : `${root.replace(/\/+$/, "")}/${relative}`;
        result.push(new Dirent(name, parent, type));
      } else {
        result.push(encoding === "buffer" ? Buffer.from(below) : below);
      }
      if (recursive && type === kDirectory) walk(`${absolute}/${name}`, below);
    }
  };
  walk(systemPath(path), "");
  return result;
}

export function mkdirSync(path, options) {
  const mode = modeOf(typeof options === "object" ? options?.mode : options, 0o777);
  if (typeof options !== "object" || options?.recursive !== true) {
    demand(native.mkdir(systemPath(path).replace(/(?<=.)\/+$/, ""), mode), "mkdir", toPath(path));
    return undefined;
  }
  const parts = normalize(systemPath(path)).split("/").slice(1);
  let current = "";
  let first;
  for (const part of parts) {
    current += `/${part}`;
    const status = native.mkdir(current, mode);
    if (status === 0) {
      first ??= current;
      continue;
    }
    const info = native.stat(current, true);
    if (typeof info === "number") demand(status, "mkdir", toPath(path));
    else if (info[2] !== kDirectory) demand(current === `/${parts.join("/")}` ? -20 : -54, "mkdir", toPath(path));
  }
  return first;
}

export function rmdirSync(path, options) {
  if (options?.recursive === true) {
    rmSync(path, { recursive: true });
    return;
  }
  demand(native.rmdir(systemPath(path)), "rmdir", toPath(path));
}

export function unlinkSync(path) {
  demand(native.unlink(systemPath(path)), "unlink", toPath(path));
}

function removeTree(absolute, given) {
  for (const [name, type] of entriesOf(absolute, given)) {
    const child = `${absolute}/${name}`;
    if (type === kDirectory) removeTree(child, given);
    else demand(native.unlink(child), "unlink", given);
  }
  demand(native.rmdir(absolute), "rmdir", given);
}

export function rmSync(path, options = {}) {
  const absolute = systemPath(path).replace(/(?<=.)\/+$/, "");
  const info = native.stat(absolute, false);
  if (typeof info === "number") {
    if (options?.force === true && isMissing(info)) return;
    throw systemError(info, "rm", toPath(path));
  }
  if (info[2] !== kDirectory) {
    demand(native.unlink(absolute), "rm", toPath(path));
  } else if (options?.recursive === true) {
    removeTree(absolute, toPath(path));
  } else {
    const error = codedError(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${toPath(path)}`);
    throw Object.assign(error, { errno: 21, syscall: "rm", path: toPath(path) });
  }
}

export function renameSync(from, to) {
  demand(native.rename(systemPath(from, "oldPath"), systemPath(to, "newPath")), "rename", toPath(from), toPath(to));
}

export function copyFileSync(from, to, mode = 0) {
  const source = openSync(from);
  try {
    const info = native.stat(source);
    if (typeof info !== "number" && info[2] === kDirectory) throw systemError(-31, "copyfile", toPath(from), toPath(to));
    const permissions = typeof info === "number" || info[8] < 0 ? 0o666 : info[8];
    const target = demand(native.open(systemPath(to),
      openFlags(mode & constants.COPYFILE_EXCL ? "wx" : "w"), permissions), "copyfile", toPath(from), toPath(to));
    try {
      writeAll(target, readAll(source));
      if (info[8] >= 0) native.chmod(target, permissions);
    } finally {
      native.close(target);
    }
  } finally {
    native.close(source);
  }
}

export function cpSync(from, to, options = {}) {
  const info = lstatSync(from);
  if (options.filter !== undefined && !options.filter(toPath(from), toPath(to))) return;
  if (info.isSymbolicLink() && options.dereference !== true) {
    if (existsSync(to)) unlinkSync(to);
    symlinkSync(readlinkSync(from), to);
  } else if (info.isDirectory()) {
    if (options.recursive !== true) {
      throw codedError(Error, "ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: ${toPath(from)}`);
    }
    if (resolvePath(`${toPath(to)}/`).startsWith(`${resolvePath(toPath(from))}/`)) {
      throw codedError(Error, "ERR_FS_CP_EINVAL", `cannot copy ${toPath(from)} to a subdirectory of self ${toPath(to)}`);
    }
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) cpSync(`${toPath(from)}/${name}`, `${toPath(to)}/${name}`, options);
    chmodSync(to, info.mode & 0o7777);
  } else if (options.force === false && existsSync(to)) {
    if (options.errorOnExist === true) throw codedError(Error, "ERR_FS_CP_EEXIST", `Target already exists: ${toPath(to)}`);
  } else {
    mkdirSync(`${systemPath(to)}/..`, { recursive: true });
    copyFileSync(from, to);
    if (options.preserveTimestamps === true) utimesSync(to, info.atime, info.mtime);
  }
}

export function symlinkSync(target, path) {
  demand(native.symlink(toPath(target, "target"), systemPath(path)), "symlink", toPath(target), toPath(path));
}

export function linkSync(existing, path) {
  demand(native.link(systemPath(existing, "existingPath"), systemPath(path, "newPath")), "link", toPath(existing), toPath(path));
}

export function readlinkSync(path, options) {
  return decode(Buffer.from(demand(native.readlink(systemPath(path)), "readlink", toPath(path))), { encoding: "utf8", ...optionsOf(options) });
}

export function realpathSync(path, options) {
  let rest = normalize(systemPath(path)).split("/").slice(1).filter((part) => part !== "");
  let done = "";
  for (let hops = 0; rest.length > 0;) {
    const part = rest.shift();
    if (part === "..") {
      done = done.slice(0, done.lastIndexOf("/"));
      continue;
    }
    const info = demand(native.stat(`${done}/${part}`, false), "lstat", toPath(path));
    if (info[2] !== kLink) {
      done += `/${part}`;
      continue;
    }
    if (++hops > 40) throw systemError(-32, "realpath", toPath(path));
    const target = demand(native.readlink(`${done}/${part}`), "readlink", toPath(path));
    if (target.startsWith("/")) done = "";
    rest = [...target.split("/").filter((name) => name !== "" && name !== "."), ...rest];
  }
  return decode(Buffer.from(done === "" ? "/" : done), { encoding: "utf8", ...optionsOf(options) });
}
realpathSync.native = realpathSync;

function toNanoseconds(time) {
  if (time instanceof Date) return time.getTime() * 1e6;
  const seconds = typeof time === "string" ? Number(time) : time;
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) throw argumentValueError("time", time, "must be a time");
  return seconds * 1e9;
}

export function utimesSync(path, atime, mtime) {
  demand(native.utimes(systemPath(path), toNanoseconds(atime), toNanoseconds(mtime), true), "utime", toPath(path));
}

export function lutimesSync(path, atime, mtime) {
  demand(native.utimes(systemPath(path), toNanoseconds(atime), toNanoseconds(mtime), false), "lutime", toPath(path));
}

export function futimesSync(fd, atime, mtime) {
  demand(native.utimes(checkFd(fd), toNanoseconds(atime), toNanoseconds(mtime)), "futime");
}

export function ftruncateSync(fd, length = 0) {
  demand(native.ftruncate(checkFd(fd), Math.max(0, length)), "ftruncate");
}

export function truncateSync(path, length = 0) {
  const fd = openSync(path, "r+");
  try {
    ftruncateSync(fd, length);
  } finally {
    native.close(fd);
  }
}

export const fsyncSync = (fd) => void demand(native.fsync(checkFd(fd)), "fsync");
export const fdatasyncSync = (fd) => void demand(native.fsync(checkFd(fd)), "fdatasync");

export const chmodSync = (path, mode) =>
  void demand(native.chmod(systemPath(path), modeOf(mode), true), "chmod", toPath(path));
export const lchmodSync = (path, mode) =>
  void demand(native.chmod(systemPath(path), modeOf(mode), false), "lchmod", toPath(path));
export const fchmodSync = (fd, mode) => void demand(native.chmod(checkFd(fd), modeOf(mode)), "fchmod");

// Owners cannot be set from inside; asking for it on a file that exists is no error, so that copying a file
// never fails on account of its metadata.
export const chownSync = (path) => void demand(native.stat(systemPath(path), true), "chown", toPath(path));
export const lchownSync = (path) => void demand(native.stat(systemPath(path), false), "lchown", toPath(path));
export const fchownSync = (fd) => void demand(native.stat(checkFd(fd)), "fchown");

export function mkdtempSync(prefix, options) {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (let attempt = 0; ; attempt++) {
    const bytes = new Uint8Array(6);
    native.randomFill(bytes);
    const path = toPath(prefix, "prefix") + Array.from(bytes, (byte) => letters[byte % letters.length]).join("");
    const status = native.mkdir(systemPath(path), 0o700);
    if (status === 0) return decode(Buffer.from(path), { encoding: "utf8", ...optionsOf(options) });
    if (status !== -20 || attempt === 100) throw systemError(status, "mkdtemp", `${toPath(prefix)}XXXXXX`);
  }
}

export class Dir {
  #entries;
  constructor(path, options) {
    this.path = toPath(path);
    this.#entries = readdirSync(path, { ...options, withFileTypes: true });
  }
  readSync() { return this.#entries.shift() ?? null; }
  async read() { return this.readSync(); }
  closeSync() {}
  async close() {}
  async* [Symbol.asyncIterator]() {
    for (let entry; (entry = this.readSync()) !== null;) yield entry;
  }
  *[Symbol.iterator]() {
    for (let entry; (entry = this.readSync()) !== null;) yield entry;
  }
}

export const opendirSync = (path, options) => new Dir(path, options);
