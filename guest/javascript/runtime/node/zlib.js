// SPDX-License-Identifier: Apache-2.0
// node:zlib over fflate: gzip, deflate and raw deflate; no Brotli.
import { gunzipSync as gunzip_, gzipSync as gzip_, inflateSync as inflateRaw_, deflateSync as deflateRaw_, unzlibSync, zlibSync } from "dormouse:vendor/fflate";
import { Buffer } from "node:buffer";
import { Transform } from "node:stream";
import { check, codedError } from "dormouse:errors";
import { setImmediate } from "dormouse:timers";

const bytesOf = (data) => (typeof data === "string" ? Buffer.from(data)
  : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data));

const wrap = (operation) => (data, options) => {
  const level = options?.level ?? -1;
  try {
    return Buffer.from(operation(bytesOf(data), level >= 0 ? { level } : {}));
  } catch (error) {
    throw Object.assign(codedError(Error, "Z_DATA_ERROR", error.message), { errno: -3 });
  }
};

const unzipAny = (bytes) => (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzip_(bytes) : unzlibSync(bytes));

export const gzipSync = wrap((bytes, options) => gzip_(bytes, { mtime: 0, ...options }));
export const gunzipSync = wrap((bytes) => gunzip_(bytes));
export const deflateSync = wrap((bytes, options) => zlibSync(bytes, options));
export const inflateSync = wrap((bytes) => unzlibSync(bytes));
export const deflateRawSync = wrap((bytes, options) => deflateRaw_(bytes, options));
export const inflateRawSync = wrap((bytes) => inflateRaw_(bytes));
export const unzipSync = wrap(unzipAny);

const later = (operation) => (data, ...rest) => {
  const callback = rest.pop();
  check.func(callback, "callback");
  let error = null;
  let result;
  try {
    result = operation(data, rest[0]);
  } catch (problem) {
    error = problem;
  }
  setImmediate(() => callback(error, result));
};
export const gzip = later(gzipSync);
export const gunzip = later(gunzipSync);
export const deflate = later(deflateSync);
export const inflate = later(inflateSync);
export const deflateRaw = later(deflateRawSync);
export const inflateRaw = later(inflateRawSync);
export const unzip = later(unzipSync);

// Collects the whole input: the library works on complete data.
const streaming = (operation) => (options) => {
  const chunks = [];
  return new Transform({
    transform(chunk, encoding, callback) {
      chunks.push(Buffer.from(chunk));
      callback();
    },
    flush(callback) {
      try {
        callback(null, operation(Buffer.concat(chunks), options));
      } catch (error) {
        callback(error);
      }
    },
  });
};
export const createGzip = streaming(gzipSync);
export const createGunzip = streaming(gunzipSync);
export const createDeflate = streaming(deflateSync);
export const createInflate = streaming(inflateSync);
export const createDeflateRaw = streaming(deflateRawSync);
export const createInflateRaw = streaming(inflateRawSync);
export const createUnzip = streaming(unzipSync);

const noBrotli = () => {
  throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "Brotli is not available here; use gzip or deflate");
};
export const brotliCompressSync = noBrotli;
export const brotliDecompressSync = noBrotli;
export const constants = {
  Z_NO_FLUSH: 0, Z_FINISH: 4, Z_OK: 0, Z_DATA_ERROR: -3, Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9,
  Z_DEFAULT_COMPRESSION: -1,
};

export function crc32(data, value = 0) {
  let crc = ~value;
  for (const byte of bytesOf(data)) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export default {
  brotliCompressSync, brotliDecompressSync, constants, crc32, createDeflate, createDeflateRaw, createGunzip, createGzip,
  createInflate, createInflateRaw, createUnzip, deflate, deflateRaw, deflateRawSync, deflateSync, gunzip, gunzipSync,
  gzip, gzipSync, inflate, inflateRaw, inflateRawSync, inflateSync, unzip, unzipSync,
};
