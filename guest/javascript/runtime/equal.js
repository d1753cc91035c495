// SPDX-License-Identifier: Apache-2.0
// Deep equality, strict as in assert.deepStrictEqual or loose as in assert.deepEqual.
import { className } from "dormouse:native";
import { isArray, propertyIsEnumerable } from "dormouse:primordials";

export function isDeepEqual(a, b, strict) {
  return equal(a, b, strict, []);
}

const isObject = (value) => typeof value === "object" && value !== null;

function equal(a, b, strict, pairs) {
  if (a === b) return strict ? Object.is(a, b) : true;
  if (!isObject(a) || !isObject(b)) {
    if (typeof a === "function" || typeof b === "function") return false;
    if (strict) return Object.is(a, b);
    if (isObject(a) || isObject(b)) return false;
    return a == b || (Number.isNaN(a) && Number.isNaN(b)); // eslint-disable-line eqeqeq
  }
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const kind = className(a);
  if (kind !== className(b) || isArray(a) !== isArray(b)) return false;
  if (!sameContent(a, b, kind)) return false;
  for (const [left, right] of pairs) {
    if (left === a) return right === b;
  }
  pairs.push([a, b]);
  const result = sameProperties(a, b, strict, pairs) && sameItems(a, b, kind, strict, pairs);
  pairs.pop();
  return result;
}

// What is in an object besides properties and items.
function sameContent(a, b, kind) {
  switch (kind) {
    case "Date": return Object.is(a.getTime(), b.getTime());
    case "RegExp": return String(a) === String(b) && a.lastIndex === b.lastIndex;
    case "Number": case "String": case "Boolean": case "BigInt": case "Symbol":
      return Object.is(a.valueOf(), b.valueOf());
    case "Error":
      return a.message === b.message && a.name === b.name;
    case "ArrayBuffer": case "SharedArrayBuffer":
      return sameBytes(new Uint8Array(a), new Uint8Array(b));
    case "WeakMap": case "WeakSet": case "Promise": return false;
    default: break;
  }
  if (ArrayBuffer.isView(a)) {
    if (kind === "Float32Array" || kind === "Float64Array") {
      return a.length === b.length && a.every((value, i) => Object.is(value, b[i]));
    }
    return sameBytes(new Uint8Array(a.buffer, a.byteOffset, a.byteLength), new Uint8Array(b.buffer, b.byteOffset, b.byteLength));
  }
  return true;
}

function sameBytes(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function keysOf(value, strict) {
  const keys = Object.keys(value);
  if (!strict) return keys;
  const symbols = Object.getOwnPropertySymbols(value).filter((key) => propertyIsEnumerable(value, key));
  return [...keys, ...symbols];
}

function sameProperties(a, b, strict, pairs) {
  if (ArrayBuffer.isView(a)) return true;
  if (isArray(a) && a.length !== b.length) return false;
  const keys = keysOf(a, strict);
  if (keys.length !== keysOf(b, strict).length) return false;
  for (const key of keys) {
    if (!propertyIsEnumerable(b, key) || !equal(a[key], b[key], strict, pairs)) return false;
  }
  if (className(a) === "Error" && Object.hasOwn(a, "cause") !== Object.hasOwn(b, "cause")) return false;
  return className(a) !== "Error" || equal(a.cause, b.cause, strict, pairs);
}

function sameItems(a, b, kind, strict, pairs) {
  if (kind === "Set") {
    if (a.size !== b.size) return false;
    const left = [...b];
    for (const item of a) {
      if (!isObject(item) && b.has(item)) continue;
      const index = left.findIndex((candidate) => equal(item, candidate, strict, pairs));
      if (index === -1) return false;
      left.splice(index, 1);
    }
  } else if (kind === "Map") {
    if (a.size !== b.size) return false;
    const left = [...b];
    for (const [key, value] of a) {
      if (!isObject(key) && b.has(key)) {
        if (!equal(value, b.get(key), strict, pairs)) return false;
        continue;
      }
      const index = left.findIndex(([other, item]) =>
        equal(key, other, strict, pairs) && equal(value, item, strict, pairs));
      if (index === -1) return false;
      left.splice(index, 1);
    }
  }
  return true;
}
