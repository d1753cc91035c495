// SPDX-License-Identifier: Apache-2.0
// The application/json form of a result: plain data only, small, and strict JSON.
import { className } from "dormouse:native";
import { getOwnPropertyDescriptor, getPrototypeOf, isArray, join, keys, toWellFormed } from "dormouse:primordials";

const kMaxItems = 5000;
const kMaxDepth = 32;
const kMaxCharacters = 256 * 1024;

const kNotJson = Symbol("not JSON");

// The JSON text of a plain object or array; undefined when the value is something else, too large,
// circular or deep. NaN and infinities become null, undefined members vanish, as in JSON.stringify.
export function plainJson(value) {
  if (!isPlain(value)) return undefined;
  const budget = { items: kMaxItems, characters: kMaxCharacters };
  const text = write(value, budget, []);
  return text === kNotJson ? undefined : text;
}

function isPlain(value) {
  if (typeof value !== "object" || value === null || className(value) === "Proxy") return false;
  if (isArray(value)) return true;
  if (className(value) !== "Object") return false;
  const prototype = getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return false;
}

function write(value, budget, parents) {
  switch (typeof value) {
    case "string": {
      budget.characters -= value.length;
      return budget.characters < 0 ? kNotJson : JSON.stringify(toWellFormed(value));
    }
    case "number": return Number.isFinite(value) ? `${Object.is(value, -0) ? 0 : value}` : "null";
    case "boolean": return `${value}`;
    case "undefined": return undefined;
    case "object": break;
    default: return kNotJson;
  }
  if (value === null) return "null";
  if (!isPlain(value) || parents.includes(value) || parents.length >= kMaxDepth) return kNotJson;
  if (--budget.items < 0) return kNotJson;
  parents.push(value);
  const text = isArray(value) ? writeArray(value, budget, parents) : writeObject(value, budget, parents);
  parents.pop();
  return text;
}

function writeArray(array, budget, parents) {
  if (array.length > budget.items) return kNotJson;
  const parts = [];
  for (let i = 0; i < array.length; i++) {
    const descriptor = getOwnPropertyDescriptor(array, i);
    if (descriptor !== undefined && !("value" in descriptor)) return kNotJson;
    const text = write(descriptor?.value, budget, parents) ?? "null";
    if (text === kNotJson) return kNotJson;
    budget.items--;
    parts.push(text);
  }
  return `[${join(parts, ",")}]`;
}

function writeObject(object, budget, parents) {
  const parts = [];
  for (const key of keys(object)) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    if (!("value" in descriptor)) return kNotJson;
    const text = write(descriptor.value, budget, parents);
    if (text === kNotJson) return kNotJson;
    if (text === undefined) continue;
    budget.items--;
    budget.characters -= key.length;
    if (budget.items < 0 || budget.characters < 0) return kNotJson;
    parts.push(`${JSON.stringify(toWellFormed(key))}:${text}`);
  }
  return `{${join(parts, ",")}}`;
}
