// SPDX-License-Identifier: Apache-2.0
// TextEncoder and TextDecoder: UTF-8, UTF-16LE/BE and windows-1252 (of which latin1 is a label).
import { latin1Decode, utf16Decode, utf8Decode, utf8Encode } from "dormouse:native";
import { codedError } from "dormouse:errors";

export class TextEncoder {
  get encoding() { return "utf-8"; }

  encode(text = "") {
    return utf8Encode(`${text}`);
  }

  encodeInto(text, target) {
    if (!(target instanceof Uint8Array)) throw new TypeError('The "dest" argument must be an instance of Uint8Array.');
    let read = 0;
    let written = 0;
    for (const c of `${text}`) {
      const bytes = utf8Encode(c);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += c.length;
    }
    return { read, written };
  }
}

const kLabels = {
  __proto__: null,
  "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8", unicode11utf8: "utf-8",
  "utf-16le": "utf-16le", "utf-16": "utf-16le", ucs2: "utf-16le", "ucs-2": "utf-16le", unicode: "utf-16le",
  "utf-16be": "utf-16be", unicodefffe: "utf-16be",
  "windows-1252": "windows-1252", latin1: "windows-1252", "iso-8859-1": "windows-1252",
  ascii: "windows-1252", "us-ascii": "windows-1252", cp1252: "windows-1252", l1: "windows-1252",
};

// Bytes 0x80 to 0x9f of windows-1252.
const k1252 = "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

function bytesOf(input) {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input);
  throw codedError(TypeError, "ERR_INVALID_ARG_TYPE",
    'The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.');
}

// How many bytes at the end may be the start of a UTF-8 sequence.
function incompleteTail(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

export class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #rest = new Uint8Array(0);
  #started = false;

  constructor(label = "utf-8", options = {}) {
    const encoding = kLabels[`${label}`.trim().toLowerCase()];
    if (encoding === undefined) {
      throw codedError(RangeError, "ERR_ENCODING_NOT_SUPPORTED", `The "${label}" encoding is not supported`);
    }
    this.#encoding = encoding;
    this.#fatal = !!options?.fatal;
    this.#ignoreBOM = !!options?.ignoreBOM;
  }

  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#ignoreBOM; }

  decode(input, options = {}) {
    const stream = !!options?.stream;
    let bytes = bytesOf(input);
    if (this.#rest.length > 0) {
      const joined = new Uint8Array(this.#rest.length + bytes.length);
      joined.set(this.#rest);
      joined.set(bytes, this.#rest.length);
      bytes = joined;
    }
    let keep = 0;
    if (stream) {
      if (this.#encoding === "utf-8") keep = incompleteTail(bytes);
      else if (this.#encoding.startsWith("utf-16")) keep = bytes.length % 2;
    }
    this.#rest = bytes.slice(bytes.length - keep);
    let text = this.#convert(bytes.subarray(0, bytes.length - keep));
    if (!this.#started && !this.#ignoreBOM && this.#encoding !== "windows-1252" && text.startsWith("\ufeff")) {
      text = text.slice(1);
    }
    this.#started = stream && (this.#started || text.length > 0);
    return text;
  }

  #convert(bytes) {
    if (this.#encoding === "utf-8") {
      const text = utf8Decode(bytes, 0, bytes.length, this.#fatal);
      if (text !== undefined) return text;
      throw codedError(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA", "The encoded data was not valid for encoding utf-8");
    }
    if (this.#encoding === "windows-1252") {
      return latin1Decode(bytes).replace(/[\x80-\x9f]/g, (c) => k1252[c.charCodeAt(0) - 0x80]);
    }
    let source = bytes;
    if (this.#encoding === "utf-16be") {
      source = bytes.slice();
      for (let i = 0; i + 1 < source.length; i += 2) [source[i], source[i + 1]] = [source[i + 1], source[i]];
    }
    const text = utf16Decode(source) + (source.length % 2 === 1 ? "\ufffd" : "");
    if (this.#fatal && (!text.isWellFormed() || source.length % 2 === 1)) {
      throw codedError(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA",
        `The encoded data was not valid for encoding ${this.#encoding}`);
    }
    return text.toWellFormed();
  }
}
