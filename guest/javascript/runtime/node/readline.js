// SPDX-License-Identifier: Apache-2.0
// node:readline over any readable stream; over process.stdin it reads the run's input line by line.
import { EventEmitter } from "dormouse:emitter";
import { process, readInput } from "dormouse:process";
import { nextTick } from "dormouse:timers";
import * as promises from "node:readline/promises";

export class Interface extends EventEmitter {
  #input;
  #output;
  #prompt;
  #waiting = [];
  #lines = [];
  #reading = false;
  closed = false;
  terminal = false;
  line = "";

  constructor(input, output) {
    super();
    const options = typeof input?.on === "function" ? { input, output } : input ?? {};
    this.#input = options.input ?? process.stdin;
    this.#output = options.output;
    this.#prompt = options.prompt ?? "> ";
    if (options.crlfDelay !== undefined) this.crlfDelay = options.crlfDelay;
    nextTick(() => this.#start());
  }

  #start() {
    if (this.#reading || this.closed) return;
    if (this.#waiting.length === 0 && this.listenerCount("line") === 0) return;
    this.#reading = true;
    if (this.#input === process.stdin) nextTick(() => this.#readStdin());
    else this.#readStream();
  }

  #readStdin() {
    this.#reading = false;
    if (this.closed) return;
    const line = readInput(true);
    if (line === null) this.close();
    else this.#deliver(line);
    nextTick(() => this.#start());
  }

  async #readStream() {
    let rest = "";
    for await (const chunk of this.#input) {
      const lines = (rest + chunk).split(/\r?\n/);
      rest = lines.pop();
      for (const line of lines) this.#deliver(line);
    }
    if (rest !== "") this.#deliver(rest);
    this.close();
  }

  #deliver(line) {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) waiting(line);
    else this.emit("line", line);
  }

  on(name, listener) {
    super.on(name, listener);
    if (name === "line") nextTick(() => this.#start());
    return this;
  }

  question(query, options, callback) {
    const done = typeof options === "function" ? options : callback;
    this.#output?.write(query);
    this.#waiting.push(done);
    nextTick(() => this.#start());
  }

  setPrompt(prompt) { this.#prompt = prompt; }
  getPrompt() { return this.#prompt; }
  prompt() {
    this.#output?.write(this.#prompt);
    nextTick(() => this.#start());
  }
  write() {}
  pause() { return this; }
  resume() { return this; }
  close() {
    if (this.closed) return;
    this.closed = true;
    this.emit("close");
  }
  [Symbol.dispose]() { this.close(); }

  async* [Symbol.asyncIterator]() {
    if (this.#input === process.stdin) {
      for (let line; !this.closed && (line = readInput(true)) !== null;) yield line;
    } else {
      let rest = "";
      this.#reading = true;
      for await (const chunk of this.#input) {
        const lines = (rest + chunk).split(/\r?\n/);
        rest = lines.pop();
        yield* lines;
      }
      if (rest !== "") yield rest;
    }
    this.close();
  }
}

export const createInterface = (input, output) => new Interface(input, output);
export const clearLine = () => true;
export const clearScreenDown = () => true;
export const cursorTo = () => true;
export const moveCursor = () => true;
export const emitKeypressEvents = () => {};
export { promises };
export default { Interface, createInterface, clearLine, clearScreenDown, cursorTo, moveCursor, emitKeypressEvents, promises };
