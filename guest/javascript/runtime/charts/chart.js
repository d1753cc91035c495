// SPDX-License-Identifier: Apache-2.0
// chart(): data to the dictionary of a chart, which clients can draw, and to a picture (svg.js).
//
// The dictionary always has all keys of its type, null where there is nothing to say. docs/outputs.md lists them.
import { least, linearTicks, logTicks, most, numberText, timeMs, timeText, timeTicks } from "dormouse:charts/scales";
import { draw, px } from "dormouse:charts/svg";
import { asTable, isRecord, isSequence } from "dormouse:records";

export const kChartMime = "application/vnd.dormouse.chart.v1+json";
const kMostPoints = 20_000;
const kMostSeries = 100;

const kKinds = {
  __proto__: null,
  line: "line", scatter: "scatter", bar: "bar", pie: "pie", histogram: "histogram", hist: "histogram",
  box: "box_and_whisker", box_and_whisker: "box_and_whisker", heatmap: "heatmap",
};
const kOptions = [
  "x", "y", "title", "x_label", "y_label", "x_scale", "y_scale", "bins", "x_labels", "y_labels", "columns", "width", "height",
];
const kScales = ["linear", "log", "datetime", "categorical"];

const isNumber = (value) => typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";

// The number that a value is; null where there is none to draw.
function numberOf(value) {
  if (!isNumber(value)) return null;
  const number = Number(value);
  return Math.abs(number) < 1e300 ? number : null;
}

// A value along the x axis: a number or a text.
function placeOf(value) {
  if (value instanceof Date) {
    const text = Number.isNaN(value.getTime()) ? "" : value.toISOString();
    return text.replace(/\.000Z$|Z$/, "");
  }
  return isNumber(value) ? numberOf(value) : `${typeof value === "symbol" ? String(value) : value}`;
}

const entriesOf = (value) => value instanceof Map ? [...value] : Object.entries(value);
const isPair = (value) => isSequence(value) && value.length === 2;

// What the values of one series say: pairs as they are, an object's members, or numbers by their position.
function pointsOf(values) {
  let pairs;
  if (isRecord(values)) {
    pairs = entriesOf(values);
  } else {
    const items = Array.from(values);
    pairs = items.length > 0 && items.every(isPair) ? items : items.map((value, i) => [i, value]);
  }
  return pairs.map(([x, y]) => [placeOf(x), numberOf(y)]);
}

function seriesOfTable({ names, rows }, x, y) {
  const column = (name) => rows.map((row) => row[names.indexOf(name)]);
  const numeric = names.filter((name) => column(name).some(isNumber));
  if (x === undefined && names.length > 1) {
    x = names.find((name) => !numeric.includes(name)) ?? (y === undefined ? names[0] : undefined);
  }
  const series = y === undefined ? numeric.filter((name) => name !== x) : Array.isArray(y) ? y : [y];
  for (const name of x === undefined ? series : [x, ...series]) {
    if (!names.includes(name)) throw new TypeError(`chart: there is no column '${name}'; there are ${names.join(", ")}`);
  }
  const along = x === undefined ? rows.map((_, i) => i) : column(x);
  return series.map((name) => [name, column(name).map((value, i) => [placeOf(along[i]), numberOf(value)])]);
}

// [[name, [[x, y], …]], …] of whatever form of data.
function seriesOf(data, x, y) {
  if (x !== undefined || y !== undefined || (isSequence(data) && data.length > 0 && isRecord(data[0]))) {
    return seriesOfTable(asTable(data), x, y);
  }
  if (isRecord(data)) {
    const entries = entriesOf(data);
    const isNested = entries.every(([, values]) => isRecord(values) || isSequence(values));
    return isNested ? entries.map(([name, values]) => [`${name}`, pointsOf(values)]) : [["", pointsOf(data)]];
  }
  if (isSequence(data)) return [["", pointsOf(data)]];
  throw new TypeError(`chart: no data in a value of type ${data === null ? "null" : typeof data}`);
}

// What an axis' label has in parentheses or brackets.
function unitOf(label) {
  const match = /\(([^()]*)\)|\[([^[\]]*)\]/.exec(label ?? "");
  return match === null ? null : match[1] ?? match[2];
}

const labelsOf = ({ x_label = null, y_label = null }) =>
  ({ x_label, y_label, x_unit: unitOf(x_label), y_unit: unitOf(y_label) });

function scaleOf(values) {
  if (values.every((value) => typeof value !== "string")) return "linear";
  const isTime = (value) => typeof value === "string" && timeMs(value) !== undefined;
  return values.every(isTime) ? "datetime" : "categorical";
}

// [[value, text], …] of an axis.
function ticksOf(scale, values) {
  if (scale === "categorical") return [...new Set(values)].map((name) => [name, name]);
  if (scale === "datetime") {
    const times = values.map(timeMs);
    return times.length === 0 ? [] : timeTicks(least(times), most(times)).map(([ms, text]) => [timeText(ms), text]);
  }
  const usable = scale === "log" ? values.filter((value) => value > 0) : values;
  if (usable.length === 0) return [];
  return (scale === "log" ? logTicks : linearTicks)(least(usable), most(usable));
}

function textOf(value) {
  if (value === null || typeof value === "string") return value ?? "";
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? `${value}` : numberText(value);
}

function makeXy(type, data, options) {
  const { title = null, y_scale = "linear" } = options;
  let series = seriesOf(data, options.x, options.y);
  let along = series.flatMap(([, points]) => points.map(([x]) => x)).filter((x) => x !== null);
  const x_scale = options.x_scale ?? scaleOf(along);
  if (x_scale === "categorical") {
    series = series.map(([name, points]) => [name, points.map(([x, y]) => [x === null ? null : textOf(x), y])]);
    along = along.map(textOf);
  }
  const xTicks = ticksOf(x_scale, along);
  const yTicks = ticksOf(y_scale, series.flatMap(([, points]) => points.map(([, y]) => y)).filter((y) => y !== null));
  return {
    type, title, ...labelsOf(options),
    x_ticks: xTicks.map(([value]) => value), y_ticks: yTicks.map(([value]) => value),
    x_tick_labels: xTicks.map(([, text]) => text), y_tick_labels: yTicks.map(([, text]) => text), x_scale, y_scale,
    elements: series.map(([label, points]) => ({ label, points })),
  };
}

function makeBar(type, data, options) {
  const elements = seriesOf(data, options.x, options.y).flatMap(([group, points]) =>
    points.map(([x, value]) => ({ label: textOf(x), value, group })));
  return { type, title: options.title ?? null, ...labelsOf(options), elements };
}

function makePie(type, data, options) {
  const points = seriesOf(data, options.x, options.y)[0]?.[1] ?? [];
  const values = points.map(([, y]) => Math.max(y ?? 0, 0));
  const total = values.reduce((sum, value) => sum + value, 0) || 1;
  const elements = points.map(([x], i) => ({ label: textOf(x), angle: values[i] / total * 360, radius: 1 }));
  return { type, title: options.title ?? null, elements };
}

// [name, sorted numbers] of each series that has any.
function samplesOf(data, options) {
  return seriesOf(data, options.x, options.y).map(([name, points]) =>
    [name, points.map(([, y]) => y).filter((y) => y !== null).sort((a, b) => a - b)]).filter(([, numbers]) => numbers.length > 0);
}

function quantile(numbers, share) {
  const at = share * (numbers.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, numbers.length - 1);
  return numbers[below] + (numbers[above] - numbers[below]) * (at - below);
}

function makeBoxes(type, data, options) {
  const elements = samplesOf(data, options).map(([label, numbers]) => {
    const [first_quartile, median, third_quartile] = [0.25, 0.5, 0.75].map((share) => quantile(numbers, share));
    const reach = 1.5 * (third_quartile - first_quartile);
    const isInside = (number) => first_quartile - reach <= number && number <= third_quartile + reach;
    const inside = numbers.filter(isInside);
    return {
      label, min: inside[0], first_quartile, median, third_quartile, max: inside.at(-1),
      outliers: numbers.filter((number) => !isInside(number)),
    };
  });
  return { type, title: options.title ?? null, ...labelsOf(options), elements };
}

function makeHistogram(type, data, options) {
  const samples = samplesOf(data, options);
  let low = least(samples.map(([, numbers]) => numbers[0]), 0);
  let high = most(samples.map(([, numbers]) => numbers.at(-1)), 1);
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const count = Math.min(Math.max(Math.trunc(options.bins ?? 10), 1), 1000);
  const bins = Array.from({ length: count + 1 }, (_, i) => low + (high - low) * i / count);
  const elements = samples.flatMap(([group, numbers]) => {
    const heights = Array(count).fill(0);
    for (const number of numbers) heights[Math.min(Math.floor((number - low) / (high - low) * count), count - 1)]++;
    return heights.map((value, i) => ({ label: `${numberText(bins[i])} – ${numberText(bins[i + 1])}`, value, group }));
  });
  return { type: "bar", title: options.title ?? null, ...labelsOf(options), bins, elements };
}

function makeHeatmap(type, data, options) {
  const isMatrix = isSequence(data) && (data.length === 0 || isSequence(data[0]));
  const table = isMatrix ? undefined : asTable(data);
  const rows = (isMatrix ? Array.from(data) : table.rows).map((row) => Array.from(row));
  const width = most(rows.map((row) => row.length), 0);
  const names = (given, count) =>
    Array.from(given ?? { length: count }, (name, i) => textOf(placeOf(given ? name : i))).slice(0, count);
  const x_tick_labels = names(options.x_labels ?? table?.names, width);
  const y_tick_labels = names(options.y_labels, rows.length);
  if (x_tick_labels.length < width || y_tick_labels.length < rows.length) {
    throw new TypeError(`chart: ${rows.length} rows of ${width} need as many labels`);
  }
  const elements = rows.flatMap((row, i) =>
    x_tick_labels.map((x, j) => ({ x, y: y_tick_labels[i], value: numberOf(row[j]) })));
  return { type, title: options.title ?? null, ...labelsOf(options), x_tick_labels, y_tick_labels, elements };
}

const kMake = {
  __proto__: null,
  line: makeXy, scatter: makeXy, bar: makeBar, pie: makePie, box_and_whisker: makeBoxes, histogram: makeHistogram,
  heatmap: makeHeatmap,
};

// What stands for the picture where there is only text.
export function summary(chart) {
  const kind = chart.type.replace("_and_whisker", "");
  const { elements } = chart;
  const title = `${kind} chart${chart.title ? ` "${chart.title}"` : ""}: `;
  if (kind === "superchart") return title + elements.map(summary).join("; ");
  if (kind === "heatmap") return `${title}${chart.y_tick_labels.length} rows of ${chart.x_tick_labels.length}`;
  if (kind === "line" || kind === "scatter") {
    return title + elements.map(({ label, points }) => `${label || "one series"} (${points.length} points)`).join(", ");
  }
  const shown = elements.map((item) => kind === "bar" ? `${item.label}${item.group ? ` ${item.group}` : ""} ${textOf(item.value)}`
    : kind === "pie" ? `${item.label} ${px(item.angle / 3.6)}%`
    : `${item.label || "one series"} median ${numberText(item.median)}`);
  const more = shown.length > 20 ? [`${shown.length - 20} more`] : [];
  return title + [...shown.slice(0, 20), ...more].join(", ");
}

// `spec` is the dictionary, svg() the picture. Shown as a result or by display().
export class Chart {
  constructor(spec, { width = 640, height = 400, columns = 2 } = {}) {
    const size = (value) => Math.min(Math.max(Math.trunc(value) || 1, 1), 10_000);
    this.spec = spec;
    this.width = size(width);
    this.height = size(height);
    this.columns = size(columns);
  }

  svg() { return draw(this.spec, this.width, this.height, this.columns); }
  toString() { return summary(this.spec); }
  [Symbol.for("nodejs.util.inspect.custom")]() { return summary(this.spec); }
  [Symbol.for("Jupyter.display")]() {
    return { "text/plain": summary(this.spec), [kChartMime]: this.spec, "image/svg+xml": this.svg() };
  }
}

// Options have their names as in the dictionary, or in camel case: x_label or xLabel.
function optionsOf(given) {
  const options = {};
  for (const key of Object.keys(given ?? {})) {
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (!kOptions.includes(name)) throw new TypeError(`chart: unknown option '${key}'; known are ${kOptions.join(", ")}`);
    if (given[key] !== null) options[name] = given[key];
  }
  return options;
}

function checkSize({ elements }) {
  const size = elements.reduce((sum, element) => sum + (element.points?.length || 1), 0);
  if (size > kMostPoints || (elements.length > kMostSeries && elements[0].points !== undefined)) {
    const limit = `the limit is ${kMostPoints} points, ${kMostSeries} series`;
    throw new RangeError(`chart: ${size} points in ${elements.length} elements; ${limit}`);
  }
}

// A line, scatter, bar, pie, box, histogram or heatmap chart of numbers, series, columns or records; of an array of
// charts, one picture of them all: chart("line", { a: [1, 3, 2] }, { title: "A line", yLabel: "speed (m/s)" }).
export function chart(kind, data, given) {
  if (Array.isArray(kind)) {
    const { title = null, columns = 2, width, height } = optionsOf(data);
    const spec = { type: "superchart", title, elements: kind.map((part) => part.spec) };
    return new Chart(spec, {
      columns, width: width ?? 420 * Math.min(columns, Math.max(kind.length, 1)),
      height: height ?? 300 * Math.max(Math.ceil(kind.length / columns), 1),
    });
  }
  const options = optionsOf(given);
  for (const scale of [options.x_scale, options.y_scale]) {
    if (scale !== undefined && !kScales.includes(scale)) {
      throw new TypeError(`chart: unknown scale '${scale}'; known are ${kScales.join(", ")}`);
    }
  }
  const type = kKinds[kind];
  if (type === undefined) {
    throw new TypeError(`chart: unknown type '${String(kind)}'; known are ${Object.keys(kKinds).join(", ")}`);
  }
  const spec = kMake[type](type, data, options);
  checkSize(spec);
  return new Chart(spec, options);
}
