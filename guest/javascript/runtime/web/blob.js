// SPDX-License-Identifier: Apache-2.0
// Blob and File, held in memory.
import { utf8Decode, utf8Encode } from "dormouse:native";

const bytesOf = Symbol("bytes");

function join(parts) {
  const chunks = [];
  for (const part of parts) {
    if (part instanceof Blob) chunks.push(part[bytesOf]);
    else if (ArrayBuffer.isView(part)) chunks.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    else if (part instanceof ArrayBuffer) chunks.push(new Uint8Array(part));
    else chunks.push(utf8Encode(`${part}`));
  }
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

export class Blob {
  #type;
  constructor(parts = [], options = {}) {
    Object.defineProperty(this, bytesOf, { value: join(parts) });
    this.#type = /[^\x20-\x7e]/.test(`${options?.type ?? ""}`) ? "" : `${options?.type ?? ""}`.toLowerCase();
  }
  get size() { return this[bytesOf].length; }
  get type() { return this.#type; }
  slice(start, end, type = "") {
    const part = this[bytesOf].subarray(start ?? 0, end ?? this.size);
    return new Blob([part], { type });
  }
  async arrayBuffer() { return this[bytesOf].slice().buffer; }
  async bytes() { return this[bytesOf].slice(); }
  async text() { return utf8Decode(this[bytesOf]); }
}

export class File extends Blob {
  #name;
  #lastModified;
  constructor(parts, name, options = {}) {
    super(parts, options);
    this.#name = `${name}`;
    this.#lastModified = options?.lastModified ?? Date.now();
  }
  get name() { return this.#name; }
  get lastModified() { return this.#lastModified; }
}
for (const [constructor, name] of [[Blob, "Blob"], [File, "File"]]) {
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
}
