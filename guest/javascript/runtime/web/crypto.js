// SPDX-License-Identifier: Apache-2.0
// The global crypto: randomness from the host, and digests.
import { hashDigest, hashInit, hashUpdate, randomFill } from "dormouse:native";

export function getRandomValues(array) {
  if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array ||
      array instanceof Float64Array) {
    throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
  }
  if (array.byteLength > 65536) {
    throw new DOMException(
      `The ArrayBufferView's byte length (${array.byteLength}) exceeds the number of bytes of entropy ` +
      "available via this API (65536)", "QuotaExceededError");
  }
  randomFill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return array;
}

export function randomUUID() {
  const bytes = new Uint8Array(16);
  randomFill(bytes);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = bytes.toHex();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

async function digest(algorithm, data) {
  const name = typeof algorithm === "string" ? algorithm : `${algorithm?.name}`;
  const state = /^sha-(1|256|384|512)$/i.test(name) ? hashInit(name) : undefined;
  if (state === undefined) throw new DOMException("Unrecognized algorithm name", "NotSupportedError");
  const view = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  hashUpdate(state, view);
  return hashDigest(state).buffer;
}

class SubtleCrypto {
  digest(algorithm, data) { return digest(algorithm, data); }
}
for (const name of ["encrypt", "decrypt", "sign", "verify", "generateKey", "deriveKey", "deriveBits",
  "importKey", "exportKey", "wrapKey", "unwrapKey"]) {
  Object.defineProperty(SubtleCrypto.prototype, name, { configurable: true, writable: true, async value() {
    throw new DOMException(`crypto.subtle.${name} is not available here; only digest is`, "NotSupportedError");
  } });
}

class Crypto {
  subtle = new SubtleCrypto();
  getRandomValues(array) { return getRandomValues(array); }
  randomUUID() { return randomUUID(); }
}
export const crypto = new Crypto();
export { Crypto, SubtleCrypto };
