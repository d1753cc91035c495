// SPDX-License-Identifier: Apache-2.0
// console.table.
import { inspect } from "dormouse:inspect/inspect";
import { width } from "dormouse:inspect/strings";
import { isMap, isSet } from "dormouse:types";

const kRows = 1000;

const show = (value) => inspect(value, {
  maxArrayLength: 3, breakLength: Infinity,
  depth: value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0,
});

const hasColumns = (value) => typeof value === "object" && value !== null;

// The text of the table; undefined when the data is no table.
export function renderTable(data, filter) {
  if (typeof data !== "object" || data === null) return undefined;
  let indexName = "(index)";
  let rows;
  if (isMap(data)) {
    indexName = "(iteration index)";
    let i = 0;
    rows = [...data].map(([key, value]) => [`${i++}`, { Key: key, Values: value }]);
  } else if (isSet(data)) {
    indexName = "(iteration index)";
    let i = 0;
    rows = [...data].map((value) => [`${i++}`, value]);
  } else {
    rows = Object.keys(data).slice(0, kRows).map((key) => [key, data[key]]);
  }
  const columns = [];
  let hasValues = false;
  for (const [, row] of rows) {
    if (!hasColumns(row)) {
      hasValues = true;
      continue;
    }
    for (const key of filter ?? Object.keys(row)) {
      if (!columns.includes(key)) columns.push(key);
    }
  }
  const head = [indexName, ...columns, ...(hasValues ? ["Values"] : [])];
  const body = rows.map(([index, row]) => {
    const cells = columns.map((key) =>
      hasColumns(row) && Object.hasOwn(row, key) ? show(row[key]) : "");
    return [index, ...cells, ...(hasValues ? [hasColumns(row) ? "" : show(row)] : [])];
  });
  return draw(head, body);
}

function draw(head, body) {
  const widths = head.map((cell, i) =>
    Math.max(width(cell), ...body.map((row) => width(row[i]))) + 2);
  const line = (left, middle, right) =>
    left + widths.map((size) => "─".repeat(size)).join(middle) + right;
  const row = (cells) => `│${cells.map((cell, i) => ` ${cell}${" ".repeat(widths[i] - width(cell) - 1)}`).join("│")}│`;
  return [
    line("┌", "┬", "┐"), row(head), line("├", "┼", "┤"), ...body.map(row), line("└", "┴", "┘"),
  ].join("\n");
}
