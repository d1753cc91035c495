// SPDX-License-Identifier: Apache-2.0
// console, with Node's text and streams. A failing stream is nobody's concern: writes never throw.
import { monotonicMs, writeText } from "dormouse:native";
import { formatWithOptions } from "dormouse:inspect/format";
import { inspect } from "dormouse:inspect/inspect";
import { withIntrinsics } from "dormouse:intrinsics";
import { renderTable } from "dormouse:table";

const kOptions = { breakLength: 80 };

export class Console {
  #write;
  #indent = "";
  #counts = new Map();
  #timers = new Map();
  #step;

  // As in Node: new Console(stdout, stderr) or new Console({stdout, stderr, groupIndentation}).
  constructor(first, second) {
    const options = typeof first?.write === "function" ? { stdout: first, stderr: second } : first ?? {};
    this.#step = " ".repeat(options.groupIndentation ?? 2);
    const { stdout, stderr = stdout } = options;
    this.#write = stdout === undefined
      ? (fd, text) => void writeText(fd, text)
      : (fd, text) => void (fd === 1 ? stdout : stderr).write(text);
    for (const name of kMethods) this[name] = this[name].bind(this);
  }

  #print(fd, text) {
    const body = this.#indent === "" ? text
      : this.#indent + text.replaceAll("\n", `\n${this.#indent}`);
    this.#write(fd, `${body}\n`);
  }

  log(...items) {
    this.#print(1, withIntrinsics(() => formatWithOptions(kOptions, ...items)));
  }

  error(...items) {
    this.#print(2, withIntrinsics(() => formatWithOptions(kOptions, ...items)));
  }

  dir(value, options) {
    this.#print(1, inspect(value, { customInspect: false, ...kOptions, ...options }));
  }

  table(data, columns) {
    const text = renderTable(data, columns);
    if (text === undefined) this.log(data);
    else this.#print(1, text);
  }

  trace(...items) {
    const error = { name: "Trace", message: formatWithOptions(kOptions, ...items) };
    Error.captureStackTrace(error, this.trace);
    this.#print(2, String(error.stack));
  }

  assert(condition, ...items) {
    if (condition) return;
    if (typeof items[0] === "string") items[0] = `Assertion failed: ${items[0]}`;
    else items.unshift(items.length > 0 ? "Assertion failed:" : "Assertion failed");
    this.warn(...items);
  }

  count(label = "default") {
    const key = `${label}`;
    const value = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, value);
    this.log(`${key}: ${value}`);
  }

  countReset(label = "default") {
    if (!this.#counts.delete(`${label}`)) this.#print(2, `Warning: Count for '${label}' does not exist`);
  }

  group(...items) {
    if (items.length > 0) this.log(...items);
    this.#indent += this.#step;
  }

  groupEnd() {
    this.#indent = this.#indent.slice(0, this.#indent.length - this.#step.length);
  }

  time(label = "default") {
    const key = `${label}`;
    if (this.#timers.has(key)) {
      this.#print(2, `Warning: Label '${key}' already exists for console.time()`);
    } else {
      this.#timers.set(key, monotonicMs());
    }
  }

  timeLog(label = "default", ...items) {
    const start = this.#timers.get(`${label}`);
    if (start === undefined) this.#print(2, `Warning: No such label '${label}' for console.timeLog()`);
    else this.log(`${label}: ${duration(monotonicMs() - start)}`, ...items);
  }

  timeEnd(label = "default") {
    const start = this.#timers.get(`${label}`);
    if (start === undefined) {
      this.#print(2, `Warning: No such label '${label}' for console.timeEnd()`);
    } else {
      this.#timers.delete(`${label}`);
      this.log(`${label}: ${duration(monotonicMs() - start)}`);
    }
  }

  clear() {}
  profile() {}
  profileEnd() {}
  timeStamp() {}
}

for (const [alias, name] of Object.entries({
  info: "log", debug: "log", warn: "error", dirxml: "log", groupCollapsed: "group",
})) {
  Console.prototype[alias] = Console.prototype[name];
}

const kMethods = Object.getOwnPropertyNames(Console.prototype).filter((name) => name !== "constructor");

function duration(milliseconds) {
  if (milliseconds >= 60000) {
    const minutes = Math.floor(milliseconds / 60000);
    const seconds = (milliseconds % 60000) / 1000;
    return `${minutes}:${seconds.toFixed(3).padStart(6, "0")} (m:ss.mmm)`;
  }
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(3)}s`;
  return `${Number(milliseconds.toFixed(3))}ms`;
}

export const console = Object.assign(new Console(), { Console });
