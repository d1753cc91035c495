// SPDX-License-Identifier: Apache-2.0
// structuredClone.
import { className } from "dormouse:native";
import { isArray, regExpToString } from "dormouse:primordials";

const kErrors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

function refuse(value) {
  const text = typeof value === "symbol" ? value.toString() : typeof value === "function"
    ? Function.prototype.toString.call(value) : "#<Object>";
  throw new DOMException(`${text} could not be cloned.`, "DataCloneError");
}

export function structuredClone(value, options) {
  if (arguments.length === 0) throw new TypeError("The \"value\" argument must be specified");
  const seen = new Map();
  for (const item of options?.transfer ?? []) {
    if (!(item instanceof ArrayBuffer)) {
      throw new DOMException("Value not transferable", "DataCloneError");
    }
    seen.set(item, item.transfer());
  }
  return clone(value, seen);
}

function clone(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") refuse(value);
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const copy = shell(value, seen);
  if (copy.filled) return copy.value;
  const target = copy.value;
  if (copy.entries !== undefined) copy.entries(target);
  if (copy.properties) {
    for (const key of Object.keys(value)) target[key] = clone(value[key], seen);
  }
  return target;
}

// An empty object of the right kind, entered in `seen`, and what is still to be copied into it.
function shell(value, seen) {
  const enter = (target) => (seen.set(value, target), target);
  if (isArray(value)) return { value: enter(new Array(value.length)), properties: true };
  const kind = className(value);
  switch (kind) {
    case "Date": return { value: enter(new Date(value.getTime())), filled: true };
    case "RegExp": {
      const text = regExpToString(value);
      const end = text.lastIndexOf("/");
      return { value: enter(new RegExp(text.slice(1, end), text.slice(end + 1))), filled: true };
    }
    case "Boolean": case "Number": case "String": case "BigInt":
      return { value: enter(Object(value.valueOf())), filled: true };
    case "ArrayBuffer": return { value: enter(value.slice(0)), filled: true };
    case "SharedArrayBuffer": return { value: enter(value), filled: true };
    case "Map":
      return { value: enter(new Map()), entries: (target) => {
        for (const [key, item] of [...value]) target.set(clone(key, seen), clone(item, seen));
      } };
    case "Set":
      return { value: enter(new Set()), entries: (target) => {
        for (const item of [...value]) target.add(clone(item, seen));
      } };
    case "Error": return { value: enter(cloneError(value, seen)), filled: true };
    case "Object": return { value: enter({}), properties: true };
    default: break;
  }
  if (ArrayBuffer.isView(value)) return { value: enter(cloneView(value, kind, seen)), filled: true };
  if (kind === "Arguments") return { value: enter({}), properties: true };
  return refuse(value);
}

const kViews = {
  __proto__: null, Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array,
  BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array,
};

function cloneView(view, kind, seen) {
  const buffer = clone(view.buffer, seen);
  if (kind === "DataView") return new DataView(buffer, view.byteOffset, view.byteLength);
  return new kViews[kind](buffer, view.byteOffset, view.length);
}

function cloneError(error, seen) {
  const name = `${error.name}`;
  const Base = Object.hasOwn(kErrors, name) ? kErrors[name] : Error;
  const copy = Object.create(Base.prototype);
  const made = new Base(`${error.message}`);
  Object.setPrototypeOf(made, Object.getPrototypeOf(copy));
  if (!Object.hasOwn(error, "message")) delete made.message;
  Object.defineProperty(made, "stack", { value: error.stack, writable: true, configurable: true });
  if (Object.hasOwn(error, "cause")) {
    seen.set(error, made);
    Object.defineProperty(made, "cause", { value: clone(error.cause, seen), writable: true, configurable: true });
  }
  return made;
}
