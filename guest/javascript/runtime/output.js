// SPDX-License-Identifier: Apache-2.0
// What leaves a run besides its two streams: the result, display(), the error.
import { emit } from "dormouse:native";
import { toWellFormed } from "dormouse:primordials";
import { withIntrinsics } from "dormouse:intrinsics";
import { inspect } from "dormouse:inspect/inspect";
import { errorHeader, errorStack } from "dormouse:inspect/errors";
import { isError } from "dormouse:types";
import { plainJson } from "dormouse:json";

const { stringify } = JSON;
const kMaxText = 1 << 20;

const quote = (text) => stringify(toWellFormed(text));

function clip(text) {
  if (text.length <= kMaxText) return text;
  return `${text.slice(0, kMaxText)}... ${text.length - kMaxText} more characters`;
}

// One output event. `parts` is a list of [mime, JSON text].
function emitOutput(parts, isResult, metadata = "{}") {
  let data = "";
  for (let i = 0; i < parts.length; i++) data += `${i === 0 ? "" : ","}${quote(parts[i][0])}:${parts[i][1]}`;
  emit(1, `{"data":{${data}},"metadata":${metadata},"isResult":${isResult}}`);
}

export function safeInspect(value, options) {
  try {
    return withIntrinsics(() => inspect(value, options));
  } catch (error) {
    let reason = "";
    try {
      reason = isError(error) ? errorHeader(error) : String(error);
    } catch {
      reason = "unknown";
    }
    return `[value that cannot be shown: ${reason}]`;
  }
}

function textOf(value) {
  return clip(safeInspect(value, { maxStringLength: typeof value === "string" ? kMaxText : 10000 }));
}

export function showResult(value) {
  withIntrinsics(() => emitResult(value));
}

function emitResult(value) {
  const bundle = mimeBundle(value);
  if (bundle !== undefined) {
    try {
      emitBundle(bundle, true, value);
      return;
    } catch {
      // The bundle cannot be read; the value itself may be.
    }
  }
  emitValue(value, true);
}

function emitValue(value, isResult, metadata) {
  const parts = [["text/plain", quote(textOf(value))]];
  let json;
  try {
    json = plainJson(value);
  } catch {
    // Then there is only the text.
  }
  if (json !== undefined) parts.push(["application/json", json]);
  emitOutput(parts, isResult, metadata === undefined ? "{}" : plainJson(metadata) ?? "{}");
}

// An object may say how it is displayed, by Symbol.for("Jupyter.display") as in Deno.
const kDisplay = Symbol.for("Jupyter.display");

function mimeBundle(value) {
  if (typeof value !== "object" || value === null) return undefined;
  let method;
  try {
    method = value[kDisplay];
    if (typeof method !== "function") return undefined;
    const bundle = method.call(value);
    return typeof bundle === "object" && bundle !== null ? bundle : undefined;
  } catch {
    return undefined;
  }
}

function bytesToBase64(bytes) {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).toBase64();
}

function bundleValue(mime, value) {
  if (mime === "application/json" || mime.endsWith("+json")) {
    const json = plainJson(value) ?? stringify(value);
    return json === undefined ? "null" : json.replace(/\\ud[89a-f][0-9a-f]{2}/gi, "\\ufffd");
  }
  if (value instanceof ArrayBuffer) return quote(new Uint8Array(value).toBase64());
  if (ArrayBuffer.isView(value)) return quote(bytesToBase64(value));
  return quote(typeof value === "string" ? value : String(value));
}

function emitBundle(bundle, isResult, value, metadata) {
  const parts = [];
  for (const mime of Object.keys(bundle)) parts.push([mime, bundleValue(mime, bundle[mime])]);
  if (!("text/plain" in bundle)) parts.unshift(["text/plain", quote(textOf(value))]);
  emitOutput(parts, isResult, metadata === undefined ? "{}" : plainJson(metadata) ?? "{}");
}

const kFormats = {
  __proto__: null,
  text: "text/plain", plain: "text/plain", html: "text/html", markdown: "text/markdown", md: "text/markdown",
  json: "application/json", svg: "image/svg+xml", png: "image/png", jpeg: "image/jpeg",
  jpg: "image/jpeg", gif: "image/gif", webp: "image/webp", pdf: "application/pdf", latex: "text/latex",
  javascript: "text/javascript", csv: "text/csv",
};

// display(value, {format, raw, metadata}): format is a MIME type or a short name of one; raw says
// that the value is a bundle {mime: data} itself.
export function display(value, options = {}) {
  const { format, raw, metadata } = options ?? {};
  if (raw === true) {
    emitBundle(value, false, value, metadata);
  } else if (format !== undefined) {
    const mime = kFormats[format] ?? String(format);
    const bundle = { [mime]: value };
    if (mime !== "text/plain") bundle["text/plain"] = plainLabel(mime, value);
    emitBundle(bundle, false, value, metadata);
  } else {
    const bundle = mimeBundle(value);
    if (bundle !== undefined) {
      emitBundle(bundle, false, value, metadata);
    } else {
      emitValue(value, false, metadata);
    }
  }
}

function plainLabel(mime, value) {
  if (typeof value === "string" && /^text\//.test(mime)) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return `<${mime}, ${value.byteLength} bytes>`;
  }
  return textOf(value);
}

for (const format of ["html", "markdown", "json", "svg", "png", "jpeg", "latex"]) {
  display[format] = (value, metadata) => display(value, { format, metadata });
}

// The parts of an error event: what the class, the message and the stack say, without running any
// code of the program beyond what inspect runs.
function describeError(error) {
  if (!isError(error)) {
    const text = safeInspect(error);
    return { name: "Uncaught", message: text, lines: [`Uncaught ${text}`] };
  }
  const header = errorHeader(error);
  const name = plainName(error);
  const message = header.startsWith(`${name}: `) ? header.slice(name.length + 2)
    : header === name ? "" : header;
  const text = safeInspect(error);
  return { name, message, lines: text.split("\n") };
}

function plainName(error) {
  const stack = errorStack(error) ?? "";
  for (let object = error, i = 0; object !== null && i < 100; object = Object.getPrototypeOf(object), i++) {
    const descriptor = Object.getOwnPropertyDescriptor(object, "name");
    if (descriptor !== undefined) {
      if (typeof descriptor.value === "string" && descriptor.value !== "") return descriptor.value;
      break;
    }
  }
  return /^([A-Za-z]+)/.exec(stack)?.[1] ?? "Error";
}

export function reportError(error) {
  withIntrinsics(() => emitError(error));
}

function emitError(error) {
  const { name, message, lines } = describeError(error);
  const frame = /^\s+at (?:.*\()?cell-\d+:(\d+):\d+\)?$/.exec(lines.find((line) => /^\s+at /.test(line)) ?? "");
  const lineNumber = frame === null ? "" : `,"lineNumber":${frame[1]}`;
  let traceback = "";
  for (let i = 0; i < lines.length; i++) traceback += `${i === 0 ? "" : ","}${quote(clip(lines[i]))}`;
  emit(2, `{"name":${quote(name)},"message":${quote(clip(message))},"traceback":[${traceback}]${lineNumber}}`);
}
