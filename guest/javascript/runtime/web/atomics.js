// SPDX-License-Identifier: Apache-2.0
// Atomics for one thread: every operation is atomic, and a wait only ever times out.
import { monotonicMs, sleep } from "dormouse:native";

const kIntegers = [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];

function check(array, index) {
  if (!kIntegers.some((type) => array instanceof type)) throw new TypeError("[object Array] is not an integer typed array.");
  const place = Math.trunc(Number(index)) || 0;
  if (place < 0 || place >= array.length) throw new RangeError("Invalid atomic access index");
  return place;
}

const update = (name, compute) => ({
  [name](array, index, value) {
    const place = check(array, index);
    const old = array[place];
    array[place] = compute(old, typeof old === "bigint" ? BigInt(value) : Math.trunc(Number(value)) || 0);
    return old;
  },
})[name];

export const Atomics = {
  add: update("add", (a, b) => a + b),
  and: update("and", (a, b) => a & b),
  exchange: update("exchange", (a, b) => b),
  or: update("or", (a, b) => a | b),
  sub: update("sub", (a, b) => a - b),
  xor: update("xor", (a, b) => a ^ b),
  compareExchange(array, index, expected, replacement) {
    const place = check(array, index);
    const old = array[place];
    if (old === expected) array[place] = replacement;
    return old;
  },
  isLockFree: (size) => [1, 2, 4, 8].includes(size),
  load: (array, index) => array[check(array, index)],
  notify(array, index) {
    check(array, index);
    return 0;
  },
  store(array, index, value) {
    array[check(array, index)] = value;
    return value;
  },
  wait(array, index, value, timeout = Infinity) {
    if (array[check(array, index)] !== value) return "not-equal";
    const end = monotonicMs() + (Number.isNaN(Number(timeout)) ? Infinity : Math.max(0, Number(timeout)));
    for (let now; (now = monotonicMs()) < end;) sleep(Math.min(end - now, 1e9));
    return "timed-out";
  },
};
for (const key of Object.keys(Atomics)) Object.defineProperty(Atomics, key, { enumerable: false });
Object.defineProperty(Atomics, Symbol.toStringTag, { value: "Atomics", configurable: true });
