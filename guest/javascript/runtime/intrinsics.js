// SPDX-License-Identifier: Apache-2.0
// Replies in spite of what a program did to built-in prototypes (Array.prototype.push = null): what failed is
// done once more with the built-ins as they were at boot, and the program's own versions are put back.
//
// Nothing here may call a method of a built-in, iterate, or use an object with a prototype.
import { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } from "dormouse:primordials";

// Linked lists: an array would take part in what happens to Array.prototype.
let intrinsics = null;

function add(object) {
  for (let known = intrinsics; known !== null; known = known.next) if (known.object === object) return;
  const properties = { __proto__: null };
  for (const key of ownKeys(object)) properties[key] = setPrototypeOf(getOwnPropertyDescriptor(object, key), null);
  intrinsics = { __proto__: null, object, properties, next: intrinsics };
}

// Called at the end of boot.
export function captureIntrinsics() {
  for (const name of ownKeys(globalThis)) {
    const value = globalThis[name];
    if (typeof value !== "function") continue;
    add(value);
    if (typeof value.prototype === "object" && value.prototype !== null) add(value.prototype);
  }
  for (const object of [Math, JSON, Reflect]) add(object);
  const iterators = [[].values(), new Map().values(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/a/g)];
  for (const iterator of iterators) add(getPrototypeOf(iterator));
  for (const sample of [function* () {}, async function* () {}, async function () {}, Uint8Array]) {
    add(getPrototypeOf(sample));
    if (typeof getPrototypeOf(sample).prototype === "object") add(getPrototypeOf(sample).prototype);
  }
  add(getPrototypeOf(getPrototypeOf([].values())));
}

const isSame = (a, b) => a !== undefined && a.value === b.value && a.get === b.get && a.set === b.set;

function change(object, key, descriptor) {
  try {
    if (descriptor === undefined) delete object[key];
    else defineProperty(object, key, descriptor);
  } catch {
    // Frozen: it stays as the program made it.
  }
}

function ownDescriptor(object, key) {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor === undefined ? undefined : setPrototypeOf(descriptor, null);
}

// Undoes what the program changed; gives the list of it, newest first.
function restore() {
  let changes = null;
  for (let item = intrinsics; item !== null; item = item.next) {
    const { object, properties } = item;
    const expected = ownKeys(properties);
    for (let i = 0; i < expected.length; i++) {
      const key = expected[i];
      const current = ownDescriptor(object, key);
      if (isSame(current, properties[key])) continue;
      changes = { __proto__: null, object, key, descriptor: current, next: changes };
      change(object, key, properties[key]);
    }
    const present = ownKeys(object);
    for (let i = 0; i < present.length; i++) {
      const key = present[i];
      if (properties[key] !== undefined) continue;
      changes = { __proto__: null, object, key, descriptor: ownDescriptor(object, key), next: changes };
      change(object, key, undefined);
    }
  }
  return changes;
}

// The result of `action`.
export function withIntrinsics(action) {
  try {
    return action();
  } catch (error) {
    let changes = restore();
    if (changes === null) throw error;
    try {
      return action();
    } finally {
      for (; changes !== null; changes = changes.next) change(changes.object, changes.key, changes.descriptor);
    }
  }
}
