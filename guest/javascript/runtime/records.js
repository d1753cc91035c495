// SPDX-License-Identifier: Apache-2.0
// Tables: arrays of equal objects, as text, as HTML and as data.
import { className } from "dormouse:native";
import { dateGetTime, dateToISOString, getOwnPropertyDescriptor, getPrototypeOf, keys, toWellFormed } from "dormouse:primordials";
import { escape } from "dormouse:charts/svg";
import { inspect } from "dormouse:inspect/inspect";
import { width as widthOf } from "dormouse:inspect/strings";

// Cells that are looked at and shown without being asked for, and at most.
export const kFewCells = 10_000;
const kMostCells = 200_000;
const kText = { head: 40, tail: 10, width: 120, cell: 40 };
const kHtml = { head: 150, tail: 50, cell: 500, columns: 200 };

export const isSequence = (value) => Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

// Objects that hold values by name: plain ones, and Maps.
export function isRecord(value) {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Map) return true;
  return className(value) === "Object" && !isSequence(value);
}

const isCell = (value) => typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol"
  || value === null || className(value) === "Date";

// The own values of a plain object by name; undefined if it is something else, or would run code.
function plainRecord(value) {
  if (typeof value !== "object" || value === null || className(value) !== "Object") return undefined;
  const prototype = getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return undefined;
  const record = new Map();
  for (const key of keys(value)) {
    const descriptor = getOwnPropertyDescriptor(value, key);
    if (!("value" in descriptor) || !isCell(descriptor.value)) return undefined;
    record.set(key, descriptor.value);
  }
  return record;
}

// The table that an array of equal records plainly is, as far as its first rows tell: {names, rows, count}, where rows are
// the first of `count`; else undefined. Runs no code of the program.
export function findTable(value) {
  if (className(value) !== "Array" || value.length === 0) return undefined;
  const names = [...plainRecord(getOwnPropertyDescriptor(value, 0)?.value)?.keys() ?? []];
  if (names.length === 0 || names.length > 100) return undefined;
  const few = Math.max(Math.floor(kFewCells / names.length), 1);
  const rows = [];
  for (let i = 0; i < value.length && i < few; i++) {
    const record = plainRecord(getOwnPropertyDescriptor(value, i)?.value);
    if (record === undefined || record.size !== names.length || !names.every((name) => record.has(name))) return undefined;
    rows.push(names.map((name) => record.get(name)));
  }
  return { names, rows, count: value.length };
}

function ofColumns(entries, limit) {
  const names = entries.map(([name]) => `${name}`);
  const columns = entries.map(([, column]) => isSequence(column) ? column : Object.values(column));
  const count = columns.reduce((most, column) => Math.max(most, column.length), 0);
  const few = Math.min(count, Math.max(Math.floor(limit / Math.max(names.length, 1)), 1));
  return { names, rows: Array.from({ length: few }, (_, i) => columns.map((column) => column[i])), count };
}

function ofRecords(values, limit) {
  const records = values.map((value) => {
    if (!isRecord(value)) throw new TypeError(`${value === null ? "null" : `a ${typeof value}`} is no record of a table`);
    return new Map(value instanceof Map ? value : Object.entries(value));
  });
  const names = [...new Set(records.flatMap((record) => [...record.keys()]))];
  const few = Math.max(Math.floor(limit / Math.max(names.length, 1)), 1);
  const rows = records.slice(0, few).map((record) => names.map((name) => record.get(name)));
  return { names: names.map(String), rows, count: records.length };
}

// The table of a value that its owner calls one: records, columns, rows, or a data frame with toColumns() or toRecords()
// or, as Arrow and Danfo have it, toArray().
export function asTable(value, limit = kMostCells) {
  if (isRecord(value) || typeof value === "object" && value !== null && !isSequence(value)) {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    if (entries.length > 0 && entries.every(([, column]) => isSequence(column))) return ofColumns(entries, limit);
    for (const name of ["toRecords", "objects", "toArray"]) {
      if (typeof value[name] === "function") return asTable([...value[name]()], limit);
    }
    return ofRecords([value], limit);
  }
  if (!isSequence(value)) throw new TypeError(`a ${typeof value} is no table`);
  const rows = Array.from(value);
  if (rows.length > 0 && rows.every(isSequence)) {
    const count = rows.reduce((most, row) => Math.max(most, row.length), 0);
    return ofColumns(Array.from({ length: count }, (_, i) => [`${i}`, rows.map((row) => row[i])]), limit);
  }
  return ofRecords(rows, limit);
}

// Data frames by their methods.
export function isFrame(value) {
  return typeof value === "object" && value !== null && className(value) !== "Proxy" && !isSequence(value) &&
    !(value instanceof Map) && typeof value.toRecords === "function" && value.columns !== undefined;
}

function kindOf(cells) {
  const found = new Set();
  for (const cell of cells) {
    if (cell === null || cell === undefined) continue;
    found.add(typeof cell === "number" ? Number.isInteger(cell) ? "integer" : "number" : typeof cell === "bigint" ? "integer"
      : typeof cell === "boolean" || typeof cell === "string" ? typeof cell : className(cell) === "Date" ? "datetime" : "any");
  }
  if (found.size === 2 && found.has("integer") && found.has("number")) return "number";
  return found.size === 1 ? [...found][0] : found.size === 0 ? "string" : "any";
}

const quote = (text) => JSON.stringify(toWellFormed(text));

function cellJson(cell) {
  switch (typeof cell) {
    case "number": return Number.isFinite(cell) ? `${cell === 0 ? 0 : cell}` : "null";
    case "boolean": case "bigint": return `${cell}`;
    case "string": return quote(cell);
    case "undefined": return "null";
    default: return cell === null ? "null" : quote(cellText(cell, 2000));
  }
}

// JSON text: a tabular data resource; with orient "columns" its data is an object of columns.
export function resourceJson({ names, rows, count }, orient) {
  const column = (i) => rows.map((row) => row[i]);
  const quoted = names.map(quote);
  const fields = quoted.map((name, i) => `{"name":${name},"type":"${kindOf(column(i))}"}`);
  const data = orient === "columns"
    ? `{${quoted.map((name, i) => `${name}:[${column(i).map(cellJson).join(",")}]`).join(",")}}`
    : `[${rows.map((row) => `{${quoted.map((name, i) => `${name}:${cellJson(row[i])}`).join(",")}}`).join(",")}]`;
  const cut = count > rows.length ? ',"truncated":true' : "";
  return `{"schema":{"fields":[${fields.join(",")}]},"data":${data},"rowCount":${count}${cut}}`;
}

function cellText(cell, limit) {
  let text = "";
  if (typeof cell === "string") text = cell.slice(0, limit + 1);
  else if (typeof cell === "number") text = Number.isInteger(cell) ? `${cell}` : `${Number(cell.toPrecision(6))}`;
  else if (className(cell) === "Date" && !Number.isNaN(dateGetTime(cell))) text = dateToISOString(cell);
  else if (cell !== undefined && cell !== null) text = inspect(cell, { depth: 0, breakLength: Infinity, maxStringLength: limit });
  text = text.replaceAll("\r", "\\r").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

// The rows to be shown, with their numbers: those before and those after the gap.
function endsOf({ rows, count }, { head, tail }) {
  const all = rows.map((row, i) => [i, row]);
  if (count <= head + tail && count === all.length) return [all, []];
  return [all.slice(0, head), all.length < count ? [] : all.slice(-tail)];
}

const grouped = (number) => `${number}`.replace(/\B(?=(\d{3})+$)/g, ",");

// Aligned columns; the middle of many rows, and columns that do not fit, are counted.
export function tableText(table) {
  const [before, after] = endsOf(table, kText);
  const shown = [...before, ...after];
  const numbers = ["", ...shown.map(([i]) => `${i}`)];
  let width = Math.max(...numbers.map(widthOf));
  let lines = numbers.map((text) => text.padEnd(width));
  let columns = 0;
  for (const [i, name] of table.names.entries()) {
    const cells = [cellText(name, kText.cell), ...shown.map(([, row]) => cellText(row[i], kText.cell))];
    const size = Math.max(...cells.map(widthOf));
    if (columns > 0 && width + 2 + size > kText.width) break;
    width += 2 + size;
    columns++;
    const isNumber = ["integer", "number"].includes(kindOf(shown.map(([, row]) => row[i])));
    lines = lines.map((line, j) => {
      const pad = " ".repeat(size - widthOf(cells[j]));
      return `${line}  ${isNumber ? pad + cells[j] : cells[j] + pad}`;
    });
  }
  lines = lines.map((line) => line.trimEnd());
  const leftOut = table.count - shown.length;
  if (leftOut > 0) lines.splice(1 + before.length, 0, `… ${grouped(leftOut)} more rows …`);
  if (leftOut > 0 || columns < table.names.length) {
    const some = columns < table.names.length ? `, ${columns} shown` : "";
    lines.push(`[${grouped(table.count)} rows × ${grouped(table.names.length)} columns${some}]`);
  }
  return lines.join("\n");
}

export function tableHtml(table) {
  const [before, after] = endsOf(table, kHtml);
  const names = table.names.slice(0, kHtml.columns);
  const leftOut = table.count - before.length - after.length;
  const line = ([i, row]) =>
    `<tr><th>${i}</th>${row.slice(0, names.length).map((cell) => `<td>${escape(cellText(cell, kHtml.cell))}</td>`).join("")}</tr>`;
  const gap = leftOut > 0 ? `<tr><td colspan="${names.length + 1}">… ${grouped(leftOut)} more rows …</td></tr>` : "";
  const isCut = leftOut > 0 || names.length < table.names.length;
  return `<table><thead><tr><th></th>${names.map((name) => `<th>${escape(name)}</th>`).join("")}</tr></thead><tbody>` +
    `${before.map(line).join("")}${gap}${after.map(line).join("")}</tbody></table>` +
    (isCut ? `<p>${grouped(table.count)} rows × ${grouped(table.names.length)} columns</p>` : "");
}
