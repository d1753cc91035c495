// SPDX-License-Identifier: Apache-2.0
// What leaves a run besides its two streams: the result, display(), the error.
import { emit } from "dormouse:native";
import { toWellFormed } from "dormouse:primordials";
import { withIntrinsics } from "dormouse:intrinsics";
import { inspect } from "dormouse:inspect/inspect";
import { errorHeader, errorStack } from "dormouse:inspect/errors";
import { isError } from "dormouse:types";
import { plainJson } from "dormouse:json";
import { asTable, findTable, isFrame, kFewCells, resourceJson, tableHtml, tableText } from "dormouse:records";
import { Chart } from "dormouse:charts/chart";
import { chartOf, ownChart, specificationType } from "dormouse:charts/specifications";

const { stringify } = JSON;
const kMaxText = 1 << 20;

const quote = (text) => stringify(toWellFormed(text));

// The beginning and the end of a text that is too long; `show` writes each.
function clip(text, show = (part) => part) {
  const leftOut = text.length - kMaxText;
  if (leftOut <= 0) return show(text);
  return `${show(text.slice(0, kMaxText / 2))}\n... ${leftOut} characters left out ...\n${show(text.slice(-kMaxText / 2))}`;
}

// One output event. `parts` is a list of [mime, JSON text]; `options` are those of display().
function emitOutput(parts, isResult, options) {
  let data = "";
  for (let i = 0; i < parts.length; i++) data += `${i === 0 ? "" : ","}${quote(parts[i][0])}:${parts[i][1]}`;
  const metadata = options?.metadata === undefined ? "{}" : plainJson(options.metadata) ?? "{}";
  const id = options?.displayId === undefined ? ""
    : `,"displayId":${quote(`${options.displayId}`)},"update":${options.update === true}`;
  emit(1, `{"data":{${data}},"metadata":${metadata},"isResult":${isResult}${id}}`);
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
  if (typeof value === "string") return clip(value, (part) => safeInspect(part, { maxStringLength: kMaxText }));
  return clip(safeInspect(value));
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

function emitValue(value, isResult, options) {
  const parts = [["text/plain", quote(textOf(value))]];
  let forms = [];
  try {
    forms = withIntrinsics(() => moreForms(value));
  } catch {
    // Then there is only the text.
  }
  for (let i = 0; i < forms.length; i++) parts[parts.length] = forms[i];
  emitOutput(parts, isResult, options);
}

const kTable = "application/vnd.dataresource+json";

// Beside the text: JSON, and what an array of records, a data frame or an object that describes a chart is.
function moreForms(value) {
  const json = plainJson(value);
  const mime = json !== undefined && !Array.isArray(value) ? specificationType(value) : undefined;
  if (mime !== undefined) return chartForms(value, mime, json);
  const forms = json === undefined ? [] : [["application/json", json]];
  const table = findTable(value) ?? (isFrame(value) ? asTable(value, kFewCells) : undefined);
  if (table !== undefined) forms.push(...tableForms(table));
  return forms;
}

const tableForms = (table, orient) => [["text/html", quote(tableHtml(table))], [kTable, resourceJson(table, orient)]];

// An object that describes a chart: as it is, and drawn if it is understood.
function chartForms(value, mime, json) {
  const chart = chartOf(value);
  return [[mime, json], ...chart === undefined ? [] : partsOf(chart[kDisplay]()).slice(1)];
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

const partsOf = (bundle) => Object.keys(bundle).map((mime) => [mime, bundleValue(mime, bundle[mime])]);

function emitBundle(bundle, isResult, value, options) {
  const parts = partsOf(bundle);
  if (!("text/plain" in bundle)) parts.unshift(["text/plain", quote(textOf(value))]);
  const size = value instanceof Chart ? { "image/svg+xml": { width: value.width, height: value.height } } : {};
  emitOutput(parts, isResult, { ...options, metadata: { ...size, ...options?.metadata } });
}

const kFormats = {
  __proto__: null,
  text: "text/plain", plain: "text/plain", html: "text/html", markdown: "text/markdown", md: "text/markdown",
  json: "application/json", svg: "image/svg+xml", png: "image/png", jpeg: "image/jpeg",
  jpg: "image/jpeg", gif: "image/gif", webp: "image/webp", pdf: "application/pdf", latex: "text/latex",
  javascript: "text/javascript", csv: "text/csv",
};

// display(value, {format, raw, metadata, displayId, update, orient}): format is data, chart, a MIME type or a short name
// of one; raw says that the value is a bundle {mime: data} itself. With a displayId the output may be shown anew: what
// comes later under the same id, with update: true, stands for it.
export function display(value, options = {}) {
  options = typeof options === "string" ? { format: options } : { ...options };
  if (options.displayId === undefined) options.displayId = options.display_id;
  const { format, raw } = options;
  if (raw === true) {
    emitBundle(value, false, value, options);
  } else if (format === "data" || format === "table") {
    const table = asTable(value);
    emitOutput([["text/plain", quote(tableText(table))], ...tableForms(table, options.orient)], false, options);
  } else if (format === "chart") {
    displayChart(value, options);
  } else if (format !== undefined) {
    emitOutput(partsOf(formatted(format, value)), false, options);
  } else {
    const bundle = mimeBundle(value);
    if (bundle !== undefined) emitBundle(bundle, false, value, options);
    else emitValue(value, false, options);
  }
}

function displayChart(value, options) {
  const json = value instanceof Chart ? undefined : plainJson(value);
  const mime = json === undefined ? undefined : specificationType(value);
  if (mime !== undefined) {
    emitOutput([["text/plain", quote(textOf(value))], ...chartForms(value, mime, json)], false, options);
  } else {
    const made = value instanceof Chart ? value : ownChart(value);
    emitBundle(made[kDisplay](), false, made, options);
  }
}

// The bundle of a value in one format; text stands beside what is no text to read.
function formatted(format, value) {
  const mime = kFormats[format] ?? String(format);
  if (!mime.includes("/")) {
    const known = Object.keys(kFormats).join(", ");
    throw new TypeError(`display: '${mime}' is neither a MIME type nor a known format: ${known}, data, chart`);
  }
  if (mime === "text/plain" && typeof value !== "string") return { [mime]: textOf(value) };
  const bundle = { [mime]: value };
  if (!["text/plain", "text/markdown", "text/latex"].includes(mime)) bundle["text/plain"] = labelOf(mime, value);
  return bundle;
}

function labelOf(mime, value) {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `<${mime}, ${value.byteLength} bytes>`;
  return typeof value === "string" && mime !== "application/json" ? `<${mime}, ${value.length} characters>` : textOf(value);
}

for (const format of ["html", "markdown", "json", "svg", "png", "jpeg", "latex", "data", "chart"]) {
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
