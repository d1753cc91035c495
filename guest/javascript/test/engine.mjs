// SPDX-License-Identifier: Apache-2.0
// A stand-in for the worker: runs engine.wasm under node's WASI, one Engine per context.
import { readFileSync, readdirSync, openSync, writeFileSync, readSync, closeSync, mkdtempSync, mkdirSync, ftruncateSync, existsSync, cpSync, chmodSync, statSync, lstatSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { WASI } from "node:wasi";
import { tmpdir } from "node:os";
import { join } from "node:path";

const modules = new Map();
const images = new Map();
function compiled(path) {
  if (!modules.has(path)) modules.set(path, new WebAssembly.Module(readFileSync(path)));
  return modules.get(path);
}

// Boot images may be kept between processes (ENGINE_CACHE), by the engine's contents.
function cacheName(wasmPath, rootfs) {
  const hash = createHash("sha1").update(readFileSync(wasmPath));
  for (const name of rootfs && existsSync(rootfs) ? readdirSync(rootfs, { recursive: true }) : []) hash.update(name);
  return `boot-${hash.digest("hex")}`;
}

export class Engine {
  constructor(wasmPath, { rootfs, language = "javascript" } = {}) {
    this.language = language;
    this.root = mkdtempSync(join(tmpdir(), "engine-"));
    process.once("exit", () => rmSync(this.root, { recursive: true, force: true }));
    for (const name of ["workspace", "tmp", "dev"]) mkdirSync(join(this.root, name));
    if (rootfs && existsSync(rootfs)) cpSync(rootfs, this.root, { recursive: true });
    const stream = (name) => openSync(join(this.root, "dev", name), "w+");
    this.stdin = stream("stdin");
    this.stdout = stream("stdout");
    this.stderr = stream("stderr");
    this.wasi = new WASI({
      version: "preview1", preopens: { "/": this.root }, returnOnExit: false,
      stdin: this.stdin, stdout: this.stdout, stderr: this.stderr,
    });
    this.emitted = [];
    const imports = this.wasi.getImportObject();
    if (process.env.ENGINE_TRACE) {
      for (const [name, call] of Object.entries(imports.wasi_snapshot_preview1)) {
        imports.wasi_snapshot_preview1[name] = (...parameters) => {
          const result = call(...parameters);
          console.error("wasi", name, parameters.join(","), "->", result);
          return result;
        };
      }
    }
    // The interrupt: set through shared memory by a stopAfterCalls count or by `stopAt` (ms).
    this.polls = imports.wasi_snapshot_preview1.poll_oneoff;
    imports.dormouse = {
      emit: (kind, address, length) => {
        const text = Buffer.from(this.memory.buffer, address, length).toString("utf8");
        this.emitted.push({ kind, ...JSON.parse(text) });
      },
      ...this.permissions(),
    };
    this.instance = new WebAssembly.Instance(compiled(wasmPath), imports);
    this.wasi.initialize(this.instance);
    this.memory = this.instance.exports.memory;
    this.boot(wasmPath, rootfs);
    this.runs = 0;
  }

  // Permission bits, by path; node's WASI does not tell which file a descriptor is.
  permissions() {
    const kNoSys = 52;
    const at = (path, length) => join(this.root, Buffer.from(this.memory.buffer, path, length).toString("utf8"));
    const attempt = (action) => {
      try {
        action();
        return 0;
      } catch (error) {
        return error.code === "ENOENT" ? 44 : 63;
      }
    };
    return {
      fd_dup: () => kNoSys,
      fd_chmod: () => 0,
      fd_mode_get: () => kNoSys,
      path_chmod: (directory, flags, path, length, mode) => attempt(() => chmodSync(at(path, length), mode)),
      path_mode_get: (directory, flags, path, length, result) => attempt(() => {
        const { mode } = (flags & 1 ? statSync : lstatSync)(at(path, length));
        new DataView(this.memory.buffer).setUint32(result, mode & 0o7777, true);
      }),
    };
  }

  // Boots once for each engine; later contexts start from a copy of that memory, as under the worker.
  boot(wasmPath, rootfs) {
    const key = `${wasmPath} ${rootfs ?? ""}`;
    const { dormouse_boot, dormouse_reseed } = this.instance.exports;
    const cache = process.env.ENGINE_CACHE && join(process.env.ENGINE_CACHE, cacheName(wasmPath, rootfs));
    if (!images.has(key) && cache && existsSync(cache)) images.set(key, readFileSync(cache));
    const image = images.get(key);
    if (image === undefined) {
      const start = performance.now();
      this.status = dormouse_boot();
      this.bootMs = performance.now() - start;
      if (this.status !== 0) throw new Error(`boot: ${this.status}\n${this.read(this.stderr)}`);
      images.set(key, Uint8Array.from(new Uint8Array(this.memory.buffer)));
      if (cache) writeFileSync(cache, images.get(key));
    } else {
      const missing = image.length - this.memory.buffer.byteLength;
      if (missing > 0) this.memory.grow(missing / 65536);
      new Uint8Array(this.memory.buffer).set(image);
    }
    dormouse_reseed();
  }

  get workspace() {
    return join(this.root, "workspace");
  }

  read(fd) {
    const chunks = [];
    const buffer = Buffer.alloc(1 << 16);
    let position = 0;
    for (let n; (n = readSync(fd, buffer, 0, buffer.length, position)) > 0; position += n) {
      chunks.push(Buffer.from(buffer.subarray(0, n)));
    }
    return Buffer.concat(chunks);
  }

  // Runs one cell; the result is what a worker would report.
  run(code, fields = {}) {
    const request = Buffer.from(JSON.stringify({
      code, language: this.language, filename: `cell-${++this.runs}`, env: {}, ...fields,
    }));
    for (const name of ["stdin", "stdout", "stderr"]) closeSync(this[name]);
    writeFileSync(join(this.root, "dev", "stdin"), fields.stdin ?? "");
    for (const name of ["stdout", "stderr"]) writeFileSync(join(this.root, "dev", name), "");
    const names = ["stdin", "stdout", "stderr"];
    names.forEach((name) => {
      const fd = openSync(join(this.root, "dev", name), name === "stdin" ? "r" : "r+");
      if (fd !== this[name]) throw new Error("descriptor moved");
    });
    this.emitted.length = 0;
    const { dormouse_alloc, dormouse_run } = this.instance.exports;
    const address = dormouse_alloc(request.length);
    request.copy(Buffer.from(this.memory.buffer, address, request.length));
    const start = performance.now();
    const status = dormouse_run(address, request.length);
    const ms = performance.now() - start;
    const emitted = this.emitted.slice();
    const result = emitted.find((e) => e.kind === 1 && e.isResult);
    return {
      status, ms, emitted,
      stdout: this.read(this.stdout).toString("utf8"),
      stderr: this.read(this.stderr).toString("utf8"),
      text: result?.data["text/plain"],
      data: result?.data,
      displays: emitted.filter((e) => e.kind === 1 && !e.isResult),
      error: emitted.find((e) => e.kind === 2),
      exit: emitted.find((e) => e.kind === 3),
    };
  }
}

// The engine under test: ENGINE_OUT is the folder that the build script filled.
export function newEngine(language = "javascript") {
  const out = process.env.ENGINE_OUT ?? "out";
  return new Engine(join(out, "engine.wasm"), { language, rootfs: join(out, `rootfs-${language}`) });
}
