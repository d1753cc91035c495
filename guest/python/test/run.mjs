// SPDX-License-Identifier: Apache-2.0
// Runs cells on engine.wasm under node, before and beside the real host: a development aid.
//
//   node --no-warnings --stack-size=60000 --no-liftoff --no-turbo-fast-api-calls run.mjs DIR CELLS.json
//
// DIR holds engine.wasm and root/ (the tree mounted at /). CELLS.json is a list of requests (docs/engine-abi.md,
// section 2; only `code` is needed; `stdin` adds standard input; `stopAfterEmits` applies the interrupt table).
// Prints one JSON object per cell: the exit status, events in order, and milliseconds.
import { readFileSync, writeFileSync, openSync } from "node:fs";
import { WASI } from "node:wasi";

const [dir, cellsFile] = process.argv.slice(2);
const cells = JSON.parse(readFileSync(cellsFile, "utf8"));
const module = new WebAssembly.Module(readFileSync(`${dir}/engine.wasm`));
writeFileSync(`${dir}/stdin`, "");
const wasi = new WASI({ version: "preview1", preopens: { "/": `${dir}/root` } });

let events = [];
let stdin = Buffer.alloc(0);
let instance;
let stopping = false;
const decoder = new TextDecoder();
const memory = () => new DataView(instance.exports.memory.buffer);
const imports = { ...wasi.wasiImport };

function output(fd, iovs, count) {
  const view = memory();
  const parts = [];
  for (let i = 0; i < count; i++) {
    const at = view.getUint32(iovs + 8 * i, true);
    parts.push(Buffer.from(new Uint8Array(view.buffer, at, view.getUint32(iovs + 8 * i + 4, true)).slice()));
  }
  const data = Buffer.concat(parts);
  const last = events.at(-1);
  const stream = fd === 1 ? "stdout" : "stderr";
  if (last && last[0] === stream) last[1] = Buffer.concat([last[1], data]);
  else events.push([stream, data]);
  return data.length;
}

imports.fd_write = (fd, iovs, count, written) => {
  if (fd !== 1 && fd !== 2) return wasi.wasiImport.fd_write(fd, iovs, count, written);
  memory().setUint32(written, output(fd, iovs, count), true);
  return 0;
};
imports.fd_read = (fd, iovs, count, read) => {
  if (fd !== 0) return wasi.wasiImport.fd_read(fd, iovs, count, read);
  const view = memory();
  let total = 0;
  for (let i = 0; i < count && stdin.length > 0; i++) {
    const target = new Uint8Array(view.buffer, view.getUint32(iovs + 8 * i, true), view.getUint32(iovs + 8 * i + 4, true));
    const size = Math.min(target.length, stdin.length);
    target.set(stdin.subarray(0, size));
    stdin = stdin.subarray(size);
    total += size;
  }
  view.setUint32(read, total, true);
  return 0;
};
imports.poll_oneoff = (subscriptions, out, count, events_) => {
  const view = memory();
  if (stopping) {
    stop();
    return 27; // EINTR
  }
  let left = Number.POSITIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const at = subscriptions + 48 * i;
    if (view.getUint8(at + 8) === 0) left = Math.min(left, Number(view.getBigUint64(at + 24, true)));
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left / 1e6);
  view.setUint32(events_, 1, true);
  view.setBigUint64(out, view.getBigUint64(subscriptions, true), true);
  view.setUint16(out + 8, 0, true);
  view.setUint8(out + 10, 0);
  return 0;
};

// Exports that are called when the cell prints "stop!" on standard error stand in for the worker's signal.
function stop() {
  const table = instance.exports.dormouse_interrupt_table();
  const view = memory();
  for (let i = 0, at = table + 4; i < view.getUint32(table, true); i++, at += 16) {
    const address = view.getUint32(at, true);
    const value = view.getUint32(at + 12, true);
    view.setUint32(address, view.getUint32(at + 8, true) === 1 ? view.getUint32(address, true) | value : value, true);
  }
}
const plainWrite = imports.fd_write;
imports.fd_write = (fd, iovs, count, written) => {
  const status = plainWrite(fd, iovs, count, written);
  const last = events.at(-1);
  if (fd === 2 && last && last[1].includes("stop!")) stop();
  if (fd === 2 && last && last[1].includes("stop on wait!")) stopping = true;
  return status;
};

// Pages of 4 KiB that differ, and bytes in them.
function dirty(before) {
  const after = new Uint8Array(instance.exports.memory.buffer);
  const pages = [];
  let bytes = 0;
  for (let page = 0; page < after.length; page += 4096) {
    let differing = 0;
    for (let i = page; i < page + 4096; i++) if (before[i] !== after[i]) differing++;
    if (differing > 0) pages.push(page);
    bytes += differing;
  }
  return process.env.DIRTY === "2" ? pages.map((page) => page.toString(16)).join(" ") : `${pages.length} pages, ${bytes} bytes`;
}

const dormouse = {
  emit(kind, address, size) {
    const text = decoder.decode(new Uint8Array(memory().buffer, address, size));
    events.push([["", "output", "error", "exit"][kind], JSON.parse(text)]);
  },
};
// What the host has beyond WASI; here it is missing.
for (const name of ["fd_dup", "fd_chmod", "path_chmod", "fd_mode_get", "path_mode_get", "fd_statvfs",
                    "path_statvfs"]) dormouse[name] = () => 52; // ENOSYS
// The flags that the engine raises itself; the CPU's are not to be had.
let floatFlags = 0;
dormouse.float_flags = (clear, raise) => {
  const before = floatFlags;
  floatFlags = (floatFlags & ~clear) | raise;
  return before;
};

instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports, dormouse });
wasi.initialize(instance);
const api = instance.exports;
const started = performance.now();
const booted = api.dormouse_boot();
const shown = () => events.map(([kind, data]) => [kind, Buffer.isBuffer(data) ? data.toString() : data]);
console.log(JSON.stringify({ boot: booted, ms: Math.round(performance.now() - started), bytes: api.memory.buffer.byteLength, table: memory().getUint32(api.dormouse_interrupt_table(), true), events: shown() }));
if (booted !== 0) process.exit(1);
events = [];
api.dormouse_reseed();
let number = 0;
for (const cell of cells) {
  number++;
  events = [];
  stopping = false;
  const { stdin: input, ...rest } = typeof cell === "string" ? { code: cell } : cell;
  stdin = Buffer.from(input ?? "");
  const request = Buffer.from(JSON.stringify({ language: "python", filename: `cell-${number}`, ...rest }));
  const address = api.dormouse_alloc(request.length);
  new Uint8Array(api.memory.buffer, address, request.length).set(request);
  const before = process.env.DIRTY ? new Uint8Array(api.memory.buffer).slice() : undefined;
  const start = performance.now();
  let status;
  try {
    status = api.dormouse_run(address, request.length);
  } catch (error) {
    status = String(error.stack).slice(0, 1500);
  }
  if (before) console.log(JSON.stringify({ boot: status, ms: 0, events: [["dirty", dirty(before)]] }));
  console.log(JSON.stringify({ cell: number, status, ms: Math.round((performance.now() - start) * 1000) / 1000, events: shown() }));
  if (status !== 0) break;
}
