// SPDX-License-Identifier: Apache-2.0
// The globals that Node has and the engine does not.
import { compareStrings } from "dormouse:collation";
import { console } from "dormouse:console";
import { Buffer } from "node:buffer";
import { readInput, process } from "dormouse:process";
import { chart } from "dormouse:charts/chart";
import { display } from "dormouse:output";
import { cellScope } from "dormouse:modules";
import * as timers from "dormouse:timers";
import { AbortController, AbortSignal } from "dormouse:web/abort";
import { Blob, File } from "dormouse:web/blob";
import { structuredClone } from "dormouse:web/clone";
import { Crypto, SubtleCrypto, crypto } from "dormouse:web/crypto";
import { TextDecoder, TextEncoder } from "dormouse:web/encoding";
import { CustomEvent, Event, EventTarget } from "dormouse:web/events";
import { performance } from "dormouse:web/performance";
import { URL, URLSearchParams } from "dormouse:web/url";
import { Atomics } from "dormouse:web/atomics";

// One line of standard input; null at its end, as for a closed window.
function prompt(message, fallback) {
  if (message !== undefined) process.stdout.write(`${message} `);
  const line = readInput(true);
  if (line === null) return fallback === undefined ? null : `${fallback}`;
  return line;
}

function alert(message = "") {
  process.stdout.write(`${message}\n`);
}

function confirm(message) {
  const line = prompt(message === undefined ? "Confirm [y/N]" : `${message} [y/N]`);
  return line !== null && /^y(es)?$/i.test(line.trim());
}

async function fetch() {
  throw new TypeError("fetch failed: code in this sandbox has no network access");
}

function readonly(text) {
  throw new Error(text);
}

class Locale {
  static supportedLocalesOf() { return []; }
  constructor() {
    readonly("Intl is not part of this engine: there is no locale or time zone data. Times are UTC; format numbers and dates with toFixed, toISOString, getUTC...");
  }
}
const Intl = {};
for (const name of ["Collator", "DateTimeFormat", "DisplayNames", "ListFormat", "Locale", "NumberFormat", "PluralRules",
  "RelativeTimeFormat", "Segmenter"]) {
  Intl[name] = { [name]: class extends Locale {} }[name];
}
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });

const hidden = (value) => ({ value, writable: true, configurable: true, enumerable: false });

// Locale-dependent methods must not ignore what they are asked for.
function guardLocale(prototype, name, isPlain) {
  const original = prototype[name];
  Object.defineProperty(prototype, name, { configurable: true, writable: true, value: {
    [name](locales, options) {
      if (!isPlain(locales, options)) {
        throw new RangeError(`${name} with a locale or options needs Intl, which is not part of this engine; only "en-US" without options, in UTC, is there`);
      }
      return original.call(this);
    },
  }[name] });
}

const plainLocale = (locales) => locales === undefined || locales === "en-US" || locales === "en" ||
  (Array.isArray(locales) && (locales.length === 0 || locales[0] === "en-US"));
const plainDate = (locales, options) => plainLocale(locales) &&
  (options === undefined || Object.keys(options).every((key) => key === "timeZone" && options[key] === "UTC"));

function groupedNumber(locales, options = {}) {
  const known = ["minimumFractionDigits", "maximumFractionDigits", "useGrouping"];
  if (!plainLocale(locales) || Object.keys(options ?? {}).some((key) => !known.includes(key))) {
    throw new RangeError('toLocaleString with a locale or style needs Intl, which is not part of this engine; "en-US" with fraction digits is there');
  }
  const value = this.valueOf();
  if (typeof value === "bigint") return value.toString().replace(/\B(?=(\d{3})+$)/g, ",");
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value < 0 ? "-∞" : "∞";
  const low = options?.minimumFractionDigits ?? 0;
  const high = options?.maximumFractionDigits ?? Math.max(3, low);
  let [whole, fraction = ""] = Math.abs(value).toFixed(high).split(".");
  while (fraction.length > low && fraction.endsWith("0")) fraction = fraction.slice(0, -1);
  if (options?.useGrouping !== false) whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

function installLocaleGuards() {
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    guardLocale(Date.prototype, name, plainDate);
  }
  Object.defineProperty(String.prototype, "localeCompare", hidden({
    localeCompare(that, locales, options) { return compareStrings(String(this), `${that}`, locales, options); },
  }.localeCompare));
  for (const prototype of [Number.prototype, BigInt.prototype]) {
    Object.defineProperty(prototype, "toLocaleString", { configurable: true, writable: true, value: {
      toLocaleString(locales, options) { return groupedNumber.call(this, locales, options); },
    }.toLocaleString });
  }
}

export function installGlobals() {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = timers;
  const { module, require } = cellScope();
  const names = {
    console, process, Buffer, global: globalThis, setTimeout, setInterval, setImmediate, clearTimeout, clearInterval,
    clearImmediate, structuredClone, TextEncoder, TextDecoder, URL, URLSearchParams, AbortController, AbortSignal,
    Event, EventTarget, CustomEvent, Blob, File, performance, crypto, Crypto, SubtleCrypto, Atomics, prompt, alert, confirm,
    display, chart, fetch, Intl, require, module, exports: module.exports,
    __filename: "/workspace/[cell]", __dirname: "/workspace",
  };
  for (const name of Object.keys(names)) Object.defineProperty(globalThis, name, hidden(names[name]));
  installLocaleGuards();
}
