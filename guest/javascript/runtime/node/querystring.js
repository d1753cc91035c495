// SPDX-License-Identifier: Apache-2.0
import { utf8Decode } from "dormouse:native";

export const escape = (value) => encodeURIComponent(String(value).toWellFormed());

export function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return utf8Decode(unescapeBuffer(text));
  }
}

export function unescapeBuffer(text) {
  const bytes = [];
  for (let i = 0; i < text.length; i++) {
    const hex = text[i] === "%" ? text.slice(i + 1, i + 3) : "";
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    } else {
      bytes.push(text.charCodeAt(i) & 0xff);
    }
  }
  return Uint8Array.from(bytes);
}

const primitive = (value) => {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "";
  return typeof value === "bigint" || typeof value === "boolean" ? `${value}` : "";
};

export function stringify(object, separator = "&", equals = "=", options = {}) {
  if (typeof object !== "object" || object === null) return "";
  const encode = options?.encodeURIComponent ?? escape;
  const parts = [];
  for (const key of Object.keys(object)) {
    for (const value of [object[key]].flat()) {
      parts.push(encode(primitive(key)) + (equals || "=") + encode(primitive(value)));
    }
  }
  return parts.join(separator || "&");
}

export function parse(text, separator = "&", equals = "=", options = {}) {
  const result = { __proto__: null };
  if (typeof text !== "string" || text === "") return result;
  const decode = options?.decodeURIComponent ?? unescape;
  const limit = options?.maxKeys ?? 1000;
  const pairs = text.split(separator || "&");
  for (const pair of limit > 0 ? pairs.slice(0, limit) : pairs) {
    if (pair === "") continue;
    const at = pair.indexOf(equals || "=");
    const [rawKey, rawValue] = at === -1 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + (equals || "=").length)];
    const [key, value] = [decode(rawKey.replace(/\+/g, " ")), decode(rawValue.replace(/\+/g, " "))];
    if (!(key in result)) result[key] = value;
    else if (Array.isArray(result[key])) result[key].push(value);
    else result[key] = [result[key], value];
  }
  return result;
}

export { parse as decode, stringify as encode };
export default { decode: parse, encode: stringify, escape, parse, stringify, unescape, unescapeBuffer };
