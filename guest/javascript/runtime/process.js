// SPDX-License-Identifier: Apache-2.0
// process: environment, working directory, streams, exit.
import {
  exit as nativeExit, memoryUsage, monotonicMs, monotonicNs, read, runNumber, stat, writeText, write,
} from "dormouse:native";
import { EventEmitter } from "dormouse:emitter";
import { argumentTypeError, codedError, systemError, unsupported } from "dormouse:errors";
import { resolvePath } from "dormouse:files/path";
import { state } from "dormouse:state";
import { activeResources, nextTick } from "dormouse:timers";
import { utf8Decode } from "dormouse:native";

const version = "v22.0.0";

function environment(values) {
  return new Proxy(values, {
    set(target, key, value) {
      if (typeof key === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
      target[key] = `${value}`;
      return true;
    },
    defineProperty(target, key, descriptor) {
      return Reflect.defineProperty(target, key, {
        configurable: true, enumerable: true, writable: true, value: `${descriptor.value}`,
      });
    },
  });
}

class Output extends EventEmitter {
  constructor(fd) {
    super();
    this.fd = fd;
    this.writable = true;
    this.isTTY = false;
    this.columns = undefined;
  }

  write(chunk, encoding, callback) {
    const done = typeof encoding === "function" ? encoding : callback;
    if (typeof chunk === "string") {
      writeText(this.fd, chunk);
    } else if (ArrayBuffer.isView(chunk)) {
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = 0; at < bytes.length;) {
        const count = write(this.fd, bytes, at, bytes.length - at, -1);
        if (count <= 0) break;
        at += count;
      }
    } else {
      throw argumentTypeError("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
    }
    if (typeof done === "function") nextTick(done);
    return true;
  }

  end(chunk, encoding, callback) {
    if (typeof chunk === "function") nextTick(chunk);
    else if (chunk !== undefined && chunk !== null) this.write(chunk, encoding, callback);
    return this;
  }

  cork() {}
  uncork() {}
  getColorDepth() { return 1; }
  hasColors() { return false; }
}

// Reads standard input up to a line end (true) or to its end (false). null at the end of file.
// What one run leaves unread is not there for the next.
let inputRest = new Uint8Array(0);
let inputRun = 0;
export function readInput(line) {
  if (inputRun !== runNumber()) {
    inputRun = runNumber();
    inputRest = new Uint8Array(0);
  }
  const chunks = [inputRest];
  inputRest = new Uint8Array(0);
  for (;;) {
    const last = chunks[chunks.length - 1];
    const end = line ? last.indexOf(10) : -1;
    if (end !== -1) {
      inputRest = last.slice(end + 1);
      chunks[chunks.length - 1] = last.subarray(0, end);
      return decodeChunks(chunks).replace(/\r$/, "");
    }
    const buffer = new Uint8Array(65536);
    const count = read(0, buffer, 0, buffer.length, -1);
    if (count <= 0) break;
    chunks.push(buffer.subarray(0, count));
  }
  if (chunks.every((chunk) => chunk.length === 0)) return null;
  return decodeChunks(chunks);
}

function decodeChunks(chunks) {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return utf8Decode(bytes);
}

class Input extends EventEmitter {
  fd = 0;
  isTTY = false;
  #started = false;
  setEncoding() { return this; }
  resume() {
    if (!this.#started) {
      this.#started = true;
      nextTick(() => {
        this.#started = false;
        const text = readInput(false);
        if (text !== null) this.emit("data", text);
        this.emit("end");
        this.emit("close");
      });
    }
    return this;
  }
  pause() { return this; }
  ref() { return this; }
  unref() { return this; }
  read() { return readInput(false); }
  on(name, listener) {
    super.on(name, listener);
    if (name === "data" || name === "end") this.resume();
    return this;
  }
  async* [Symbol.asyncIterator]() {
    const text = readInput(false);
    if (text !== null) yield text;
  }
}

class Process extends EventEmitter {}
export const process = new Process();
Object.defineProperty(Process, "name", { value: "process" });
Object.defineProperty(Process.prototype, Symbol.toStringTag, { value: "process", configurable: true });

let exiting = false;

function exitCodeOf(code) {
  if (code === undefined || code === null) return 0;
  const number = typeof code === "string" && code !== "" ? Number(code) : code;
  if (!Number.isInteger(number)) throw argumentTypeError("code", "an integer", code);
  return number & 0xff;
}

const milliseconds = () => monotonicMs() - state.birth;

Object.assign(process, {
  title: "node",
  version,
  versions: { node: version.slice(1), quickjs: "0.16.2", dormouse: "1" },
  arch: "wasm32",
  platform: "linux",
  release: { name: "node" },
  pid: 1,
  ppid: 0,
  argv: ["/usr/bin/node", "/workspace/cell"],
  argv0: "node",
  execArgv: [],
  execPath: "/usr/bin/node",
  exitCode: undefined,
  env: environment(state.env),
  features: {},
  config: { variables: {} },
  stdout: new Output(1),
  stderr: new Output(2),
  stdin: new Input(),
  cwd: () => state.cwd,
  chdir(directory) {
    if (typeof directory !== "string") throw argumentTypeError("directory", "of type string", directory);
    const path = resolvePath(directory);
    const info = stat(path, true);
    if (typeof info === "number") throw systemError(info, "chdir", state.cwd, directory);
    if (info[2] !== 0o040000) throw systemError(-54, "chdir", state.cwd, directory);
    state.cwd = path;
  },
  exit(code) {
    const number = exitCodeOf(code ?? process.exitCode);
    if (!exiting) {
      exiting = true;
      try {
        process.emit("exit", number);
      } finally {
        exiting = false;
      }
    }
    nativeExit(number);
  },
  reallyExit(code) { nativeExit(exitCodeOf(code)); },
  abort() { nativeExit(134); },
  kill() {
    throw unsupported("process.kill", "Use process.exit() to end the run.");
  },
  nextTick,
  getActiveResourcesInfo: activeResources,
  hrtime: Object.assign((previous) => {
    const now = monotonicNs();
    const time = [Number(now / 1000000000n), Number(now % 1000000000n)];
    if (previous === undefined) return time;
    let [seconds, nanoseconds] = [time[0] - previous[0], time[1] - previous[1]];
    if (nanoseconds < 0) [seconds, nanoseconds] = [seconds - 1, nanoseconds + 1e9];
    return [seconds, nanoseconds];
  }, { bigint: () => monotonicNs() }),
  uptime: () => milliseconds() / 1000,
  memoryUsage: Object.assign(() => {
    const [heapUsed, total] = memoryUsage();
    return { rss: total, heapTotal: total, heapUsed, external: 0, arrayBuffers: 0 };
  }, { rss: () => memoryUsage()[1] }),
  cpuUsage: () => ({ user: Math.round(milliseconds() * 1000), system: 0 }),
  resourceUsage: () => ({ userCPUTime: Math.round(milliseconds() * 1000), systemCPUTime: 0 }),
  umask: () => 0o022,
  getuid: () => 1000,
  geteuid: () => 1000,
  getgid: () => 1000,
  getegid: () => 1000,
  getgroups: () => [1000],
  emitWarning(warning, type = "Warning") {
    const name = typeof type === "object" ? type?.type ?? "Warning" : type;
    const text = warning instanceof Error ? `${warning.name}: ${warning.message}` : `${name}: ${warning}`;
    writeText(2, `(node:1) ${text}\n`);
  },
  binding() {
    throw codedError(Error, "ERR_INVALID_MODULE", "No such binding");
  },
  getBuiltinModule: undefined,
  setUncaughtExceptionCaptureCallback() {},
  hasUncaughtExceptionCaptureCallback: () => false,
  setSourceMapsEnabled() {},
  allowedNodeEnvironmentFlags: new Set(),
});
