// SPDX-License-Identifier: Apache-2.0
// node:crypto: randomness, hashes, HMAC, PBKDF2 and comparison. Ciphers and keys are not there.
import { hashDigest, hashInit, hashUpdate, randomFill as fill } from "dormouse:native";
import { Buffer } from "node:buffer";
import { crypto as webcrypto, getRandomValues, randomUUID as uuid } from "dormouse:web/crypto";
import { argumentTypeError, check, codedError, rangeError } from "dormouse:errors";
import { nextTick } from "dormouse:timers";

const answer = (callback, compute) => {
  if (callback === undefined) return compute();
  check.func(callback, "callback");
  const value = compute();
  nextTick(callback, null, value);
  return undefined;
};

export function randomBytes(size, callback) {
  check.integer(size, "size", 0, 2 ** 31 - 1);
  return answer(callback, () => {
    const bytes = Buffer.alloc(size);
    fill(bytes);
    return bytes;
  });
}

export function randomFillSync(buffer, offset = 0, size = buffer.byteLength - offset) {
  fill(new Uint8Array(buffer.buffer ?? buffer, (buffer.byteOffset ?? 0) + offset, size));
  return buffer;
}

export function randomFill(buffer, ...rest) {
  const callback = rest.pop();
  answer(callback, () => randomFillSync(buffer, ...rest));
}

export function randomInt(low, high, callback) {
  let [min, max, done] = [low, high, callback];
  if (high === undefined || typeof high === "function") [min, max, done] = [0, low, high];
  check.integer(min, "min");
  check.integer(max, "max");
  const range = max - min;
  if (range <= 0 || range > 2 ** 48) throw rangeError("max", `greater than the value of "min" (${min})`, max);
  return answer(done, () => {
    const limit = 2 ** 48 - (2 ** 48 % range);
    const bytes = new Uint8Array(6);
    for (;;) {
      fill(bytes);
      const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
      if (value < limit) return min + (value % range);
    }
  });
}

export const randomUUID = () => uuid();

const kNames = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
export const getHashes = () => [...kNames];
export const getCiphers = () => [];
export const getCurves = () => [];

function toBytes(data, encoding, name = "data") {
  if (typeof data === "string") return Buffer.from(data, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw argumentTypeError(name, "of type string or an instance of Buffer, TypedArray, or DataView", data);
}

function newState(algorithm) {
  check.string(algorithm, "algorithm");
  const state = hashInit(algorithm.replace(/^rsa-/i, ""));
  if (state === undefined) {
    throw codedError(Error, "ERR_OSSL_EVP_UNSUPPORTED",
      `Digest method not supported: ${algorithm}. Available: ${kNames.join(", ")}`);
  }
  return state;
}

const output = (bytes, encoding) => {
  const buffer = Buffer.from(bytes);
  return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding);
};

const finished = () => codedError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");

export class Hash {
  #state;
  constructor(state) { this.#state = state; }
  update(data, encoding) {
    if (this.#state === undefined) throw finished();
    hashUpdate(this.#state, toBytes(data, encoding));
    return this;
  }
  digest(encoding) {
    if (this.#state === undefined) throw finished();
    const bytes = hashDigest(this.#state);
    this.#state = undefined;
    return output(bytes, encoding);
  }
  copy() {
    if (this.#state === undefined) throw finished();
    return new Hash(this.#state.slice());
  }
}

export const createHash = (algorithm) => new Hash(newState(algorithm));
export const hash = (algorithm, data, encoding = "hex") => createHash(algorithm).update(data).digest(encoding);

const blockBytes = (algorithm) => (/384|512/.test(algorithm) ? 128 : 64);

// The two states of an HMAC after its padded key.
function hmacStates(algorithm, key) {
  const size = blockBytes(algorithm);
  let bytes = key;
  if (bytes.length > size) {
    const state = newState(algorithm);
    hashUpdate(state, bytes);
    bytes = hashDigest(state);
  }
  return [0x36, 0x5c].map((mask) => {
    const block = new Uint8Array(size).fill(mask);
    for (let i = 0; i < bytes.length; i++) block[i] ^= bytes[i];
    const state = newState(algorithm);
    hashUpdate(state, block);
    return state;
  });
}

export class Hmac {
  #inner;
  #outer;
  constructor(algorithm, key) { [this.#inner, this.#outer] = hmacStates(algorithm, toBytes(key, undefined, "key")); }
  update(data, encoding) {
    if (this.#inner === undefined) throw finished();
    hashUpdate(this.#inner, toBytes(data, encoding));
    return this;
  }
  digest(encoding) {
    if (this.#inner === undefined) throw finished();
    hashUpdate(this.#outer, hashDigest(this.#inner));
    this.#inner = undefined;
    return output(hashDigest(this.#outer), encoding);
  }
}
export const createHmac = (algorithm, key) => {
  newState(algorithm);
  return new Hmac(algorithm, key);
};

export function pbkdf2Sync(password, salt, iterations, length, digest) {
  check.integer(iterations, "iterations", 1);
  check.integer(length, "keylen", 0);
  const [inner, outer] = hmacStates(digest, toBytes(password, undefined, "password"));
  const saltBytes = toBytes(salt, undefined, "salt");
  const mac = (...parts) => {
    const state = inner.slice();
    for (const part of parts) hashUpdate(state, part);
    const result = outer.slice();
    hashUpdate(result, hashDigest(state));
    return hashDigest(result);
  };
  const blocks = [];
  for (let i = 1, size = 0; size < length; i++) {
    let u = mac(saltBytes, Uint8Array.of(i >>> 24, i >>> 16, i >>> 8, i));
    const block = u.slice();
    for (let round = 1; round < iterations; round++) {
      u = mac(u);
      for (let j = 0; j < block.length; j++) block[j] ^= u[j];
    }
    blocks.push(block);
    size += block.length;
  }
  return Buffer.concat(blocks).subarray(0, length);
}
export const pbkdf2 = (password, salt, iterations, length, digest, callback) =>
  answer(callback, () => pbkdf2Sync(password, salt, iterations, length, digest));

export function timingSafeEqual(a, b) {
  const [left, right] = [toBytes(a), toBytes(b)];
  if (left.length !== right.length) {
    throw codedError(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  }
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i];
  return difference === 0;
}

const kMissing = [
  "createCipheriv", "createDecipheriv", "createSign", "createVerify", "createDiffieHellman", "createECDH",
  "createPrivateKey", "createPublicKey", "createSecretKey", "generateKeyPair", "generateKeyPairSync", "generateKey",
  "generateKeySync", "generatePrime", "publicEncrypt", "privateDecrypt", "scrypt", "scryptSync", "sign", "verify", "hkdf", "hkdfSync",
];
const missing = Object.fromEntries(kMissing.map((name) => [name, () => {
  throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    `crypto.${name} is not available here: this build has randomness, hashes, HMAC and PBKDF2, but no ciphers, keys or signatures`);
}]));
export const {
  createCipheriv, createDecipheriv, createSign, createVerify, createDiffieHellman, createECDH, createPrivateKey,
  createPublicKey, createSecretKey, generateKeyPair, generateKeyPairSync, generateKey, generateKeySync,
  generatePrime, publicEncrypt, privateDecrypt, scrypt, scryptSync, sign, verify, hkdf, hkdfSync,
} = missing;

export const { subtle } = webcrypto;
export { getRandomValues, webcrypto };
export const constants = {};
export default {
  ...missing, Hash, Hmac, constants, createHash, createHmac, getCiphers, getCurves, getHashes, getRandomValues, hash,
  pbkdf2, pbkdf2Sync, randomBytes, randomFill, randomFillSync, randomInt, randomUUID, subtle, timingSafeEqual, webcrypto,
};
