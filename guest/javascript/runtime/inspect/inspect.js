// SPDX-License-Identifier: Apache-2.0
// util.inspect: options and the entry point.
import { customSymbol, formatValue } from "dormouse:inspect/value";

const kDefaults = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false,
  maxArrayLength: 100, maxStringLength: 10000, breakLength: 128, compact: 3, sorted: false,
  getters: false, numericSeparator: false,
};

const kColors = {
  __proto__: null,
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27],
  black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39],
  magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39], grey: [90, 39],
};
const kStyles = {
  __proto__: null,
  special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey",
  null: "bold", string: "green", symbol: "green", date: "magenta", regexp: "red", module: "underline",
};

const plain = (text) => text;

function colored(text, style) {
  const color = kColors[kStyles[style]];
  return color === undefined ? text : `\x1b[${color[0]}m${text}\x1b[${color[1]}m`;
}

function number(value, fallback) {
  if (value === null || value === Infinity) return Infinity;
  return typeof value === "number" ? value : fallback;
}

export function inspect(value, ...parameters) {
  let options = parameters[0];
  if (typeof options === "boolean" || parameters.length > 1) {
    const [showHidden, depth, colors] = parameters;
    options = { showHidden };
    if (depth !== undefined) options.depth = depth;
    if (colors !== undefined) options.colors = colors;
  }
  const context = { ...kDefaults, breakLength: 80 };
  for (const key in options ?? {}) {
    if ((key in kDefaults || key === "stylize") && options[key] !== undefined) context[key] = options[key];
  }
  if (context.depth === Infinity) context.depth = null;
  context.userOptions = { ...options };
  context.maxArrayLength = number(context.maxArrayLength, 100);
  context.maxStringLength = number(context.maxStringLength, 10000);
  context.breakLength = number(context.breakLength, 80);
  context.seen = [];
  context.circular = undefined;
  context.indentation = 0;
  context.currentDepth = 0;
  context.count = 0;
  context.inspect = inspect;
  context.stylize = typeof options?.stylize === "function" ? options.stylize
    : context.colors ? colored : plain;
  return formatValue(context, value, 0);
}

inspect.custom = customSymbol;
inspect.defaultOptions = kDefaults;
inspect.colors = kColors;
inspect.styles = kStyles;
