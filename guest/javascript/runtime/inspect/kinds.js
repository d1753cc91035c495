// SPDX-License-Identifier: Apache-2.0
// For each kind of object: its braces, what stands before them, and its parts besides properties.
//
// describe() returns {text} for an object that is shown without braces, or
// {base, open, close, keys, parts?, isList}; parts(format, level) makes the texts.
import { className, mapPreview, promiseDetails } from "dormouse:native";
import {
  arrayBufferByteLength, bigintValueOf, booleanValueOf, dateGetTime, dateToISOString,
  getOwnPropertyDescriptor, isArray, mapEntries, mapIteratorNext, mapSize, numberValueOf,
  regExpToString, setIteratorNext, setSize, setValues, sharedArrayBufferByteLength, stringValueOf,
  symbolValueOf, typedArrayLength,
} from "dormouse:primordials";
import { functionText, prefix, visibleKeys } from "dormouse:inspect/names";
import { errorText } from "dormouse:inspect/errors";
import { formatPrimitive } from "dormouse:inspect/value";

const kTyped = /^(Uint8|Uint8Clamped|Int8|Uint16|Int16|Uint32|Int32|BigInt64|BigUint64|Float16|Float32|Float64)Array$/;

const more = (count) => `... ${count} more item${count > 1 ? "s" : ""}`;

export function describe(context, value, constructor, tag) {
  if (isArray(value)) return describeArray(context, value, constructor, tag);
  const kind = className(value);
  if (kTyped.test(kind)) return describeTyped(context, value, constructor, tag, kind);
  const special = kKinds[kind];
  if (special !== undefined) return special(context, value, constructor, tag, kind);
  if (typeof value === "function") return describeFunction(context, value, constructor, tag);
  return describePlain(context, value, constructor, tag);
}

function braced(context, value, open, parts, extra) {
  const keys = extra?.keys ?? visibleKeys(value, context.showHidden, false);
  return { base: "", open, close: "}", keys, parts, isList: false, ...extra };
}

// With a base and no properties, the base alone is the text.
function based(context, value, base, style, given) {
  const keys = given ?? visibleKeys(value, context.showHidden, false);
  if (keys.length === 0) return { text: context.stylize(base, style) };
  return { base: context.stylize(base, style), open: "{", close: "}", keys, isList: false };
}

function describePlain(context, value, constructor, tag) {
  const keys = visibleKeys(value, context.showHidden, false);
  let open = "{";
  if (className(value) === "Arguments") open = "[Arguments] {";
  else if (constructor !== "Object" || tag !== "") open = `${prefix(constructor, tag, "Object")}{`;
  if (keys.length === 0) return { text: `${open}}` };
  return { base: "", open, close: "}", keys, isList: false };
}

function describeFunction(context, value, constructor, tag) {
  return based(context, value, functionText(value, constructor, tag), "special");
}

function list(context, value, open, length, element, keys) {
  if (length === 0 && keys.length === 0) return { text: `${open}]` };
  const parts = (format, level) => {
    const shown = Math.min(Math.max(0, context.maxArrayLength), length);
    const output = [];
    context.indentation += 2;
    let i = 0;
    for (; i < shown && output.length < shown; i = element(output, i, format, level));
    context.indentation -= 2;
    if (i < length) output.push(more(length - i));
    return output;
  };
  return { base: "", open, close: "]", keys, parts, isList: true };
}

function describeArray(context, value, constructor, tag) {
  const { length } = value;
  const open = constructor !== "Array" || tag !== ""
    ? `${prefix(constructor, tag, "Array", `(${length})`)}[` : "[";
  let indexes;
  const element = (output, i, format, level) => {
    const descriptor = getOwnPropertyDescriptor(value, i);
    if (descriptor !== undefined) {
      if ("value" in descriptor) {
        output.push(format(context, descriptor.value, level));
      } else {
        output.push(context.stylize(descriptor.set ? "[Getter/Setter]" : "[Getter]", "special"));
      }
      return i + 1;
    }
    indexes ??= Object.keys(value);
    let next = length;
    for (const index of indexes) {
      if (+index > i) {
        if (`${+index}` === index && +index < length) next = +index;
        break;
      }
    }
    const holes = next - i;
    output.push(context.stylize(`<${holes} empty item${holes > 1 ? "s" : ""}>`, "undefined"));
    return next;
  };
  return list(context, value, open, length, element, visibleKeys(value, context.showHidden, true));
}

function describeTyped(context, value, constructor, tag, kind) {
  const length = typedArrayLength(value);
  const open = `${prefix(constructor, tag, kind, `(${length})`)}[`;
  const element = (output, i) => {
    output.push(formatPrimitive(context, value[i]));
    return i + 1;
  };
  return list(context, value, open, length, element, visibleKeys(value, context.showHidden, true));
}

function describeSet(context, value, constructor, tag) {
  const size = setSize(value);
  const open = `${prefix(constructor, tag, "Set", `(${size})`)}{`;
  const keys = visibleKeys(value, context.showHidden, false);
  if (size === 0 && keys.length === 0) return { text: `${open}}` };
  const parts = (format, level) => {
    const output = [];
    const iterator = setValues(value);
    context.indentation += 2;
    for (let step; output.length < context.maxArrayLength && !(step = setIteratorNext(iterator)).done;) {
      output.push(format(context, step.value, level));
    }
    context.indentation -= 2;
    if (output.length < size) output.push(more(size - output.length));
    return output;
  };
  return braced(context, value, open, parts, { keys });
}

function describeMap(context, value, constructor, tag) {
  const size = mapSize(value);
  const open = `${prefix(constructor, tag, "Map", `(${size})`)}{`;
  const keys = visibleKeys(value, context.showHidden, false);
  if (size === 0 && keys.length === 0) return { text: `${open}}` };
  const parts = (format, level) => {
    const output = [];
    const iterator = mapEntries(value);
    context.indentation += 2;
    for (let step; output.length < context.maxArrayLength && !(step = mapIteratorNext(iterator)).done;) {
      const [key, element] = step.value;
      output.push(`${format(context, key, level)} => ${format(context, element, level)}`);
    }
    context.indentation -= 2;
    if (output.length < size) output.push(more(size - output.length));
    return output;
  };
  return braced(context, value, open, parts, { keys });
}

function describePromise(context, value, constructor, tag) {
  const parts = (format, level) => {
    const [state, result] = promiseDetails(value);
    if (state === 0) return [context.stylize("<pending>", "special")];
    context.indentation += 2;
    const text = format(context, result, level);
    context.indentation -= 2;
    return [state === 2 ? `${context.stylize("<rejected>", "special")} ${text}` : text];
  };
  return braced(context, value, `${prefix(constructor, tag, "Promise")}{`, parts);
}

function describeBuffer(context, value, constructor, tag, kind) {
  const size = kind === "ArrayBuffer" ? arrayBufferByteLength(value) : sharedArrayBufferByteLength(value);
  const parts = (format, level) => {
    const shown = Math.min(Math.max(0, context.maxArrayLength), size);
    let hex = "";
    const bytes = new Uint8Array(value, 0, shown);
    for (const byte of bytes) hex += ` ${byte.toString(16).padStart(2, "0")}`;
    const rest = size - shown;
    const tail = rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : "";
    return [
      `[Uint8Contents]: <${hex.slice(1)}${tail}>`,
      `byteLength: ${format(context, size, level)}`,
    ];
  };
  return braced(context, value, `${prefix(constructor, tag, kind)}{`, parts);
}

function describeDataView(context, value, constructor, tag) {
  const parts = (format, level) => ["byteLength", "byteOffset", "buffer"].map((key) => {
    context.indentation += 2;
    const text = format(context, value[key], level);
    context.indentation -= 2;
    return `${key}: ${text}`;
  });
  return braced(context, value, `${prefix(constructor, tag, "DataView")}{`, parts);
}

function describeIterator(context, value, constructor, tag, kind) {
  const [entries, isPairs] = mapPreview(value) ?? [[], false];
  const name = kind.slice(0, 3);
  const open = `[${name} ${isPairs ? "Entries" : "Iterator"}] {`;
  const parts = (format, level) => {
    const output = [];
    context.indentation += 2;
    for (const entry of entries) output.push(format(context, entry, level));
    context.indentation -= 2;
    return output;
  };
  const keys = visibleKeys(value, context.showHidden, false);
  if (entries.length === 0 && keys.length === 0) return { text: `${open}  }` };
  return braced(context, value, open, parts, { keys });
}

const unknownItems = (name) => (context, value, constructor, tag) =>
  braced(context, value, `${prefix(constructor, tag, name)}{`,
    () => [context.stylize("<items unknown>", "special")]);

function describeModule(context, value) {
  const keys = Object.getOwnPropertyNames(value);
  const parts = (format, level) => keys.map((key) => {
    context.indentation += 2;
    let text;
    try {
      text = format(context, value[key], level);
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      text = context.stylize("<uninitialized>", "special");
    }
    context.indentation -= 2;
    return `${/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : `'${key}'`}: ${text}`;
  });
  return { base: "", open: "[Module: null prototype] {", close: "}", keys: [], parts, isList: false };
}

const boxed = (type, valueOf, style) => (context, value, constructor, tag) => {
  const inner = valueOf(value);
  let keys = visibleKeys(value, context.showHidden, false);
  if (type === "String") keys = keys.slice(inner.length);
  let base = `[${type}`;
  if (type !== constructor) base += constructor === null ? " (null prototype)" : ` (${constructor})`;
  base += `: ${formatPrimitive({ ...context, stylize: (text) => text }, inner)}]`;
  if (tag !== "" && tag !== constructor) base += ` [${tag}]`;
  return based(context, value, base, style, keys);
};

const kKinds = {
  Set: describeSet,
  Map: describeMap,
  Promise: describePromise,
  ArrayBuffer: describeBuffer,
  SharedArrayBuffer: describeBuffer,
  DataView: describeDataView,
  "Map Iterator": describeIterator,
  "Set Iterator": describeIterator,
  WeakSet: unknownItems("WeakSet"),
  WeakMap: unknownItems("WeakMap"),
  WeakRef: (context, value, constructor, tag) =>
    braced(context, value, `${prefix(constructor, tag, "WeakRef")}{`,
      (format, level) => [format(context, value.deref(), level)]),
  Module: describeModule,
  Number: boxed("Number", numberValueOf, "number"),
  String: boxed("String", stringValueOf, "string"),
  Boolean: boxed("Boolean", booleanValueOf, "boolean"),
  BigInt: boxed("BigInt", bigintValueOf, "bigint"),
  Symbol: boxed("Symbol", symbolValueOf, "symbol"),
  RegExp: (context, value, constructor, tag) => {
    const text = regExpToString(constructor === null ? new RegExp(value) : value);
    const name = prefix(constructor, tag, "RegExp");
    return based(context, value, name === "RegExp " ? text : `${name}${text}`, "regexp");
  },
  Date: (context, value, constructor, tag) => {
    const text = Number.isNaN(dateGetTime(value)) ? "Invalid Date" : dateToISOString(value);
    const name = prefix(constructor, tag, "Date");
    return based(context, value, name === "Date " ? text : `${name}${text}`, "date");
  },
  Error: (context, value, constructor, tag) => {
    const keys = visibleKeys(value, context.showHidden, false);
    const base = errorText(context, value, constructor, tag, keys);
    if (keys.length === 0) return { text: base };
    return { base, open: "{", close: "}", keys, isList: false };
  },
};
