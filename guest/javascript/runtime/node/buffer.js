// SPDX-License-Identifier: Apache-2.0
// node:buffer: the `buffer` package, with encodings done natively (base64url is ours).
import { latin1Decode, utf16Decode, utf16Encode, utf8Decode, utf8Encode, utf8Length } from "dormouse:native";
import { Buffer as Base, kMaxLength } from "dormouse:vendor/buffer";
import { argumentTypeError, codedError } from "dormouse:errors";
import { customSymbol } from "dormouse:inspect/value";
import { inspect } from "dormouse:inspect/inspect";
import { nonIndexKeys } from "dormouse:native";

const kEncodings = {
  __proto__: null,
  utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", latin1: "latin1",
  binary: "latin1", ascii: "ascii", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
};

function encodingOf(name) {
  if (name === undefined || name === null || name === "") return "utf8";
  const encoding = kEncodings[`${name}`.toLowerCase()];
  if (encoding === undefined) throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${name}`);
  return encoding;
}

function wrap(bytes) {
  return Object.setPrototypeOf(bytes, Base.prototype);
}

// Node takes what it can: both alphabets, no padding, junk skipped, an odd hex digit dropped.
function fromBase64(text) {
  let clean = text.replace(/[^A-Za-z0-9+/_-][^]*?(?==)|=[^]*$|[^A-Za-z0-9+/_-]/g, "").replace(/-/g, "+").replace(/_/g, "/");
  if (clean.length % 4 === 1) clean = clean.slice(0, -1);
  return Uint8Array.fromBase64(clean, { lastChunkHandling: "loose" });
}

function fromHex(text) {
  const clean = /^(?:[0-9a-fA-F]{2})*/.exec(text)[0];
  return Uint8Array.fromHex(clean);
}

function encode(text, encoding) {
  switch (encoding) {
    case "utf8": return utf8Encode(text);
    case "hex": return fromHex(text);
    case "base64": case "base64url": return fromBase64(text);
    case "utf16le": return utf16Encode(text, 2);
    default: return utf16Encode(text, 1);
  }
}

function decode(bytes, encoding, start, end) {
  switch (encoding) {
    case "utf8": return utf8Decode(bytes, start, end);
    case "hex": return bytes.subarray(start, end).toHex();
    case "base64": return Uint8Array.prototype.toBase64.call(bytes.subarray(start, end));
    case "base64url":
      return Uint8Array.prototype.toBase64.call(bytes.subarray(start, end), { alphabet: "base64url", omitPadding: true });
    case "utf16le": return utf16Decode(bytes, start, end);
    case "ascii": return latin1Decode(bytes, start, end, 0x7f);
    default: return latin1Decode(bytes, start, end);
  }
}

const baseFrom = Base.from;
export const Buffer = Base;

Buffer.from = function from(value, encodingOrOffset, length) {
  if (typeof value === "string") return wrap(encode(value, encodingOf(encodingOrOffset)));
  return baseFrom.call(Buffer, value, encodingOrOffset, length);
};
Buffer.byteLength = function byteLength(value, encoding) {
  if (typeof value !== "string") {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
      return value.byteLength;
    }
    throw argumentTypeError("string", "of type string or an instance of Buffer or ArrayBuffer", value);
  }
  const known = kEncodings[`${encoding ?? "utf8"}`.toLowerCase()] ?? "utf8";
  switch (known) {
    case "utf8": return utf8Length(value);
    case "hex": return value.length >>> 1;
    case "utf16le": return value.length * 2;
    case "base64": case "base64url": return fromBase64(value).length;
    default: return value.length;
  }
};
Buffer.isEncoding = (name) => typeof name === "string" && kEncodings[name.toLowerCase()] !== undefined;
Buffer.allocUnsafe = (size) => Buffer.alloc(size);
Buffer.allocUnsafeSlow = Buffer.allocUnsafe;
Buffer.copyBytesFrom = (view, offset = 0, length = view.length - offset) => {
  const part = view.subarray(offset, offset + length);
  return Buffer.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
};
Buffer.of = (...items) => wrap(Uint8Array.of(...items));
Buffer.poolSize = 8192;
Buffer.constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 2 ** 30 - 1 };

const { prototype } = Buffer;
const clampIndex = (value, fallback, size) => {
  const number = value === undefined ? fallback : Math.trunc(+value) || 0;
  return Math.min(Math.max(number, 0), size);
};
prototype.toString = function toString(encoding, start, end) {
  const from = clampIndex(start, 0, this.length);
  const to = clampIndex(end, this.length, this.length);
  return from >= to ? "" : decode(this, encodingOf(encoding), from, to);
};
prototype.toLocaleString = prototype.toString;
const baseWrite = prototype.write;
prototype.write = function write(text, offset, length, encoding) {
  if (typeof text !== "string") throw argumentTypeError("string", "of type string", text);
  if (typeof offset === "string") return this.write(text, 0, this.length, offset);
  if (typeof length === "string") return this.write(text, offset, this.length - offset, length);
  const at = offset === undefined ? 0 : Math.trunc(offset);
  if (at < 0 || at > this.length) return baseWrite.call(this, text, offset, length);
  const room = Math.min(length === undefined ? this.length - at : length, this.length - at);
  const known = encodingOf(encoding);
  let bytes = encode(text, known);
  if (bytes.length > room) {
    let size = room;
    if (known === "utf8") while (size > 0 && (bytes[size] & 0xc0) === 0x80) size--;
    else if (known === "utf16le") size -= size % 2;
    bytes = bytes.subarray(0, size);
  }
  this.set(bytes, at);
  return bytes.length;
};
// Node takes any Uint8Array.
prototype.equals = function equals(other) {
  if (!(other instanceof Uint8Array)) throw argumentTypeError("otherBuffer", "an instance of Buffer or Uint8Array", other);
  return this === other || (this.length === other.length && Buffer.compare(this, other) === 0);
};
prototype[customSymbol] = function custom(depth, options) {
  const shown = Math.min(INSPECT_MAX_BYTES, this.length);
  let text = decode(this, "hex", 0, shown).replace(/..(?=.)/g, "$& ");
  if (this.length > shown) {
    const rest = this.length - shown;
    text += ` ... ${rest} more byte${rest > 1 ? "s" : ""}`;
  }
  const extras = nonIndexKeys(this, true).map((key) => `${key}: ${inspect(this[key], options)}`);
  if (extras.length > 0) text += `${this.length > 0 ? ", " : ""}${extras.join(", ")}`;
  return `<Buffer ${text}>`;
};
delete prototype.inspect;
for (const name of ["UIntBE", "UIntLE", "UInt8", "UInt16BE", "UInt16LE", "UInt32BE", "UInt32LE", "BigUInt64LE", "BigUInt64BE"]) {
  for (const verb of ["read", "write"]) {
    const method = prototype[`${verb}${name}`];
    const alias = `${verb}${name.replace("UInt", "Uint")}`;
    if (method !== undefined && prototype[alias] === undefined) prototype[alias] = method;
  }
}
Object.defineProperty(Buffer, "name", { value: "Buffer" });

export const INSPECT_MAX_BYTES = 50;
export const SlowBuffer = Buffer;
export const constants = Buffer.constants;
export { kMaxLength };
export const kStringMaxLength = 2 ** 30 - 1;
export const atob = globalThis.atob;
export const btoa = globalThis.btoa;
export const isUtf8 = (bytes) => utf8Decode(new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength), 0, bytes.byteLength, true) !== undefined;
export const isAscii = (bytes) => new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength).every((byte) => byte < 0x80);
export function transcode(source, from, to) {
  return Buffer.from(Buffer.from(source).toString(from), to);
}
export { Blob, File } from "dormouse:web/blob";
import { Blob, File } from "dormouse:web/blob";
export default {
  Buffer, SlowBuffer, constants, kMaxLength, kStringMaxLength, INSPECT_MAX_BYTES, atob, btoa, isUtf8, isAscii,
  transcode, Blob, File,
};
