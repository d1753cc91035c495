// SPDX-License-Identifier: Apache-2.0
import { Buffer } from "node:buffer";

// How many bytes at the end belong to a character that is not complete.
function pendingBytes(bytes, encoding) {
  if (encoding === "utf16le") {
    const odd = bytes.length % 2;
    if (bytes.length - odd < 2) return odd;
    const high = bytes[bytes.length - odd - 1];
    return odd + (high >= 0xd8 && high <= 0xdb ? 2 : 0);
  }
  if (encoding === "base64" || encoding === "base64url") return bytes.length % 3;
  if (encoding !== "utf8") return 0;
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

const kNames = { __proto__: null, "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", "utf-16le": "utf16le", binary: "latin1" };

export class StringDecoder {
  #rest = Buffer.alloc(0);

  constructor(encoding = "utf8") {
    const name = `${encoding}`.toLowerCase();
    if (!Buffer.isEncoding(name)) throw new TypeError(`Unknown encoding: ${encoding}`);
    this.encoding = kNames[name] ?? name;
  }

  write(chunk) {
    if (typeof chunk === "string") return chunk;
    const bytes = Buffer.concat([this.#rest, chunk]);
    const keep = pendingBytes(bytes, this.encoding);
    this.#rest = bytes.subarray(bytes.length - keep);
    return bytes.toString(this.encoding, 0, bytes.length - keep);
  }

  end(chunk) {
    const text = chunk === undefined ? "" : this.write(chunk);
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return text + rest.toString(this.encoding);
  }
}
export default { StringDecoder };
