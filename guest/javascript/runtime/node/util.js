// SPDX-License-Identifier: Apache-2.0
import { TextDecoder, TextEncoder } from "dormouse:web/encoding";
import { check } from "dormouse:errors";
import { errnoNames } from "dormouse:errors";
import { format, formatWithOptions } from "dormouse:inspect/format";
import { inspect } from "dormouse:inspect/inspect";
import { isDeepEqual } from "dormouse:equal";
import { process } from "dormouse:process";
import { types } from "dormouse:types";
import { writeText } from "dormouse:native";

const kPromisify = Symbol.for("nodejs.util.promisify.custom");

export function promisify(original) {
  check.func(original, "original");
  if (typeof original[kPromisify] === "function") return original[kPromisify];
  function promised(...parameters) {
    return new Promise((resolve, reject) => {
      original.call(this, ...parameters, (error, ...values) => {
        if (error) reject(error);
        else resolve(values[0]);
      });
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = kPromisify;

export function callbackify(original) {
  check.func(original, "original");
  function called(...parameters) {
    const callback = parameters.pop();
    check.func(callback, "last argument");
    original.apply(this, parameters).then(
      (value) => process.nextTick(callback, null, value),
      (reason) => process.nextTick(callback, reason ?? new Error("Promise was rejected with a falsy value")));
  }
  return called;
}

export function inherits(constructor, parent) {
  Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

export function deprecate(original, message, code) {
  let warned = false;
  return function deprecated(...parameters) {
    if (!warned) {
      warned = true;
      writeText(2, `(node:1) ${code ? `[${code}] ` : ""}DeprecationWarning: ${message}\n`);
    }
    return new.target ? Reflect.construct(original, parameters, new.target) : original.apply(this, parameters);
  };
}

export const debuglog = () => Object.assign(() => {}, { enabled: false });
export const debug = debuglog;
export const isDeepStrictEqual = (a, b) => isDeepEqual(a, b, true);
export const stripVTControlCharacters = (text) =>
  `${text}`.replace(/[\u001b\u009b][[\]()#;?]*(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~])/g, "");
export const toUSVString = (text) => `${text}`.toWellFormed();
export const isArray = Array.isArray;
export const getSystemErrorName = (number) => Object.keys(errnoNames).find((name) => errnoNames[name] === -number);
export const getSystemErrorMap = () => new Map(Object.entries(errnoNames).map(([name, number]) => [-number, [name, name]]));
export function styleText(style, text) {
  let result = `${text}`;
  for (const name of [style].flat()) {
    const codes = inspect.colors[name];
    if (codes !== undefined) result = `\x1b[${codes[0]}m${result}\x1b[${codes[1]}m`;
  }
  return result;
}

// Options after the fashion of Node's util.parseArgs.
export function parseArgs({ args = process.argv.slice(2), options = {}, allowPositionals = false, strict = true } = {}) {
  const values = { __proto__: null };
  const positionals = [];
  const byShort = Object.fromEntries(Object.entries(options).filter(([, o]) => o.short).map(([name, o]) => [o.short, name]));
  const store = (name, value) => {
    if (options[name] === undefined && strict) throw new TypeError(`Unknown option '--${name}'`);
    if (options[name]?.multiple) (values[name] ??= []).push(value);
    else values[name] = value;
  };
  const rest = [...args];
  while (rest.length > 0) {
    const item = rest.shift();
    const long = /^--([^=]+)(?:=([^]*))?$/.exec(item);
    const short = /^-([^-])([^]*)$/.exec(item);
    if (item === "--") {
      positionals.push(...rest.splice(0));
    } else if (long !== null || short !== null) {
      const name = long === null ? byShort[short[1]] ?? short[1] : long[1];
      const given = long === null ? (short[2] === "" ? undefined : short[2]) : long[2];
      if (options[name]?.type === "string") store(name, given ?? rest.shift());
      else store(name, true);
      if (long === null && given !== undefined && options[name]?.type !== "string") rest.unshift(`-${given}`);
    } else if (allowPositionals || !strict) {
      positionals.push(item);
    } else {
      throw new TypeError(`Unexpected argument '${item}'. This command does not take positional arguments`);
    }
  }
  for (const [name, option] of Object.entries(options)) {
    if (option.default !== undefined && !(name in values)) values[name] = option.default;
  }
  return { values, positionals };
}

export { TextDecoder, TextEncoder, format, formatWithOptions, inspect, types };
export default {
  TextDecoder, TextEncoder, callbackify, debug, debuglog, deprecate, format, formatWithOptions,
  getSystemErrorMap, getSystemErrorName, inherits, inspect, isArray, isDeepStrictEqual, parseArgs, promisify,
  stripVTControlCharacters, styleText, toUSVString, types,
};
