// SPDX-License-Identifier: Apache-2.0
// Joining the parts of a value: on one line when short, arrays in columns, else a line for each.
import { removeColors, width } from "dormouse:inspect/strings";

// `braces` are the opening and closing text, `base` what stands before them.
export function combine(context, output, base, braces, isList, level, value) {
  let parts = output;
  if (typeof context.compact === "number" && context.compact >= 1) {
    const count = parts.length;
    if (isList && count > 6) parts = toColumns(context, parts, value);
    if (context.currentDepth - level < context.compact && count === parts.length) {
      const line = onOneLine(context, parts, base, braces);
      if (line !== undefined) return line;
    }
    return onManyLines(context, parts, base, braces, "\n" + " ".repeat(context.indentation));
  }
  if (context.compact === true) {
    const line = onOneLine(context, parts, base, braces, 0);
    if (line !== undefined) return line;
  }
  return onManyLines(context, parts, base, braces, "\n" + " ".repeat(context.indentation));
}

function onOneLine(context, output, base, braces) {
  const start = output.length + context.indentation + braces[0].length + base.length + 10;
  let total = output.length + start;
  if (total + output.length > context.breakLength) return undefined;
  for (const part of output) {
    total += context.colors ? removeColors(part).length : part.length;
    if (total > context.breakLength) return undefined;
  }
  if (base.includes("\n")) return undefined;
  const joined = output.join(", ");
  if (joined.includes("\n")) return undefined;
  return `${base === "" ? "" : `${base} `}${braces[0]} ${joined} ${braces[1]}`;
}

function onManyLines(context, output, base, braces, newline) {
  return `${base === "" ? "" : `${base} `}${braces[0]}${newline}  ` +
    `${output.join(`,${newline}  `)}${newline}${braces[1]}`;
}

// The rows of a list whose elements are short and of like length.
function toColumns(context, output, value) {
  const spacing = 2;
  const hasMore = context.maxArrayLength < output.length;
  const count = hasMore ? output.length - 1 : output.length;
  const lengths = new Array(count);
  let total = 0;
  let longest = 0;
  for (let i = 0; i < count; i++) {
    lengths[i] = width(output[i]);
    total += lengths[i] + spacing;
    if (longest < lengths[i]) longest = lengths[i];
  }
  const cell = longest + spacing;
  if (cell * 3 + context.indentation >= context.breakLength) return output;
  if (total / cell <= 5 && longest > 6) return output;
  // About as wide as high on screen, where a character is 2.5 times as high as wide.
  const typical = Math.max(cell - 3 - Math.sqrt(cell - total / output.length), 1);
  const columns = Math.min(
    Math.round(Math.sqrt(2.5 * typical * count) / typical),
    Math.floor((context.breakLength - context.indentation) / cell),
    context.compact * 4,
    15,
  );
  if (columns <= 1) return output;
  return makeRows(output, lengths, columns, count, hasMore, alignRight(value, output.length));
}

function alignRight(value, count) {
  if (value === undefined) return true;
  for (let i = 0; i < count; i++) {
    if (typeof value[i] !== "number" && typeof value[i] !== "bigint") return false;
  }
  return true;
}

function makeRows(output, lengths, columns, count, hasMore, right) {
  const spacing = 2;
  const widths = [];
  for (let i = 0; i < columns; i++) {
    let widest = 0;
    for (let j = i; j < count; j += columns) widest = Math.max(widest, lengths[j]);
    widths.push(widest + spacing);
  }
  const rows = [];
  for (let i = 0; i < count; i += columns) {
    const end = Math.min(i + columns, count);
    let row = "";
    let j = i;
    for (; j < end - 1; j++) {
      const cell = `${output[j]}, `;
      const size = widths[j - i] + output[j].length - lengths[j];
      row += right ? cell.padStart(size) : cell.padEnd(size);
    }
    row += right ? output[j].padStart(widths[j - i] + output[j].length - lengths[j] - spacing) : output[j];
    rows.push(row);
  }
  if (hasMore) rows.push(output[count]);
  return rows;
}
