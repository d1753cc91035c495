// SPDX-License-Identifier: Apache-2.0
// util.format: the %-directives of console.log.
import { className } from "dormouse:native";
import { hasOwn, jsonStringify } from "dormouse:primordials";
import { inspect } from "dormouse:inspect/inspect";
import { errorHeader } from "dormouse:inspect/errors";

export function format(...items) {
  return formatWithOptions({}, ...items);
}

export function formatWithOptions(options, ...items) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError('The "inspectOptions" argument must be of type object.');
  }
  const [first] = items;
  let text = "";
  let next = 0;
  if (typeof first === "string") {
    if (items.length === 1) return first;
    [text, next] = directives(first, items, options);
  }
  for (; next < items.length; next++) {
    const item = items[next];
    const part = typeof item === "string" ? item
      : inspect(item, { ...options, compact: 3, colors: options.colors ?? false, depth: options.depth ?? 2 });
    text += next === 0 ? part : ` ${part}`;
  }
  return text;
}

// The text of the template and the index of the first item that it did not use.
function directives(template, items, options) {
  let text = "";
  let next = 1;
  let last = 0;
  for (let i = 0; i < template.length - 1; i++) {
    if (template[i] !== "%") continue;
    const kind = template[i + 1];
    if (kind === "%") {
      text += `${template.slice(last, i)}%`;
      last = i + 2;
      i++;
      continue;
    }
    if (next === items.length) continue;
    const part = directive(kind, items[next], options);
    if (part === undefined) continue;
    text += template.slice(last, i) + part;
    last = i + 2;
    next++;
    i++;
  }
  return [text + template.slice(last), next];
}

function directive(kind, item, options) {
  switch (kind) {
    case "s": return asString(item, options);
    case "d": return asNumber(item, Number);
    case "i": return asNumber(item, (value) => Math.trunc(Number.parseFloat(value)));
    case "f": return typeof item === "symbol" ? "NaN" : formatNumber(Number.parseFloat(item));
    case "j": return asJson(item);
    case "o": return inspect(item, { ...options, showHidden: true, showProxy: true, depth: 4 });
    case "O": return inspect(item, options);
    case "c": return "";
    default: return undefined;
  }
}

function formatNumber(value) {
  return Object.is(value, -0) ? "-0" : `${value}`;
}

function asNumber(item, convert) {
  if (typeof item === "bigint") return `${item}n`;
  if (typeof item === "symbol") return "NaN";
  if (typeof item === "object" && item !== null) return formatNumber(convert(Number(item)));
  return formatNumber(convert(item));
}

function asString(item, options) {
  if (typeof item === "number") return formatNumber(item);
  if (typeof item === "bigint") return `${item}n`;
  if (typeof item === "string") return item;
  if (typeof item !== "object" || item === null) return String(item);
  if (hasUserToString(item)) return String(item);
  return inspect(item, { ...options, depth: 0, colors: false, compact: 3 });
}

// Whether the program, not the language, gave the object its toString.
function hasUserToString(item) {
  if (className(item) === "Proxy") return false;
  if (className(item) === "Error") return errorHeader(item) !== "" && typeof item.toString === "function";
  if (typeof item.toString !== "function") return false;
  if (hasOwn(item, "toString")) return true;
  let object = Object.getPrototypeOf(item);
  while (object !== null && !hasOwn(object, "toString")) object = Object.getPrototypeOf(object);
  if (object === null) return false;
  const constructor = object.constructor;
  return !(typeof constructor === "function" && kBuiltIn.has(constructor));
}

const kBuiltIn = new Set(
  Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z][a-zA-Z0-9]+$/.test(name))
    .map((name) => globalThis[name]),
);

function asJson(item) {
  try {
    return jsonStringify(item);
  } catch (error) {
    if (/circular/i.test(error?.message)) return "[Circular]";
    throw error;
  }
}
