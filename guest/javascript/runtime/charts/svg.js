// SPDX-License-Identifier: Apache-2.0
// Draws the dictionary of a chart (chart.js) as an SVG picture: text, lines and areas, nothing that runs.
//
// Every language of Dormouse draws the same picture, byte for byte; tests/charts holds them to it.
import { least, linearTicks, logTicks, most, numberText, timeMs, timeTicks } from "dormouse:charts/scales";

const kColors = [
  "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0",
];
const kRamp = [[239, 246, 253], [66, 146, 198], [8, 48, 107]];
const kEscapes = { __proto__: null, "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const kNotXml = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const kCharacter = 6.2;  // the width of an average one

const { floor, ceil, abs, max, min, log10 } = Math;

export const escape = (text) => text.replace(kNotXml, "\ufffd").replace(/[&<>"]/g, (c) => kEscapes[c]);

const sizeOf = (text) => [...text].length;

export function short(text, limit = 24) {
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join("")}…`;
}

// A length in pixels, to the tenth.
export function px(value) {
  const tenths = floor(value * 10 + 0.5);
  const rest = abs(tenths) % 10;
  return `${tenths < 0 ? "-" : ""}${floor(abs(tenths) / 10)}${rest === 0 ? "" : `.${rest}`}`;
}

// An axis places values between 0 and 1; its ticks are [place, text].
const widthOf = (axis) => most(axis.ticks.map(([, text]) => sizeOf(text)), 0) * kCharacter;

function linear(low, high) {
  const ticks = linearTicks(low, high);
  const first = ticks[0][0];
  const span = ticks.at(-1)[0] - first;
  return { place: (value) => (value - first) / span, ticks: ticks.map(([at, text]) => [(at - first) / span, text]) };
}

// From `low` to `high` exactly, with the ticks in between.
function inner(low, high) {
  const span = high - low;
  const ticks = linearTicks(low, high).map(([at, text]) => [(at - low) / span, text]);
  return { place: (value) => (value - low) / span, ticks: ticks.filter(([at]) => at >= -1e-9 && at <= 1 + 1e-9) };
}

function logarithmic(low, high) {
  const ticks = logTicks(low, high);
  const first = log10(ticks[0][0]);
  const span = log10(ticks.at(-1)[0]) - first;
  const place = (value) => (log10(value) - first) / span;
  return { place, ticks: ticks.map(([at, text]) => [place(at), text]) };
}

function times(low, high) {
  if (low === high) [low, high] = [low - 1000, high + 1000];
  const span = high - low;
  return {
    place: (text) => (timeMs(text) - low) / span,
    ticks: timeTicks(low, high).map(([at, text]) => [(at - low) / span, text]),
  };
}

function bands(names) {
  const count = max(names.length, 1);
  const places = new Map(names.map((name, i) => [name, (i + 0.5) / count]));
  return { place: (name) => places.get(name), ticks: [...places].map(([name, place]) => [place, short(name)]) };
}

function axisOf(scale, values, categories) {
  if (scale === "categorical") return bands(categories);
  if (scale === "datetime") {
    const all = values.map(timeMs);
    return times(least(all, 0), most(all, 0));
  }
  return scale === "log" ? logarithmic(least(values, 1), most(values, 10)) : linear(least(values, 0), most(values, 1));
}

// Each different item and its place among them.
const numbered = (items) => new Map([...new Set(items)].map((item, i) => [item, i]));

// The rectangle that values are drawn in. `parts` is the picture so far.
class Frame {
  constructor(parts, chart, width, height) {
    this.parts = parts;
    this.width = width;
    this.height = height;
    this.left = 16;
    this.right = width - 16;
    this.top = 16;
    this.bottom = height - 16;
    if (chart.title) {
      this.text(width / 2, 24, short(chart.title, 80), "middle", ' font-size="15" font-weight="bold"');
      this.top = 40;
    }
  }

  line(x1, y1, x2, y2, color) {
    this.parts.push(`<line x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}" stroke="${color}"/>`);
  }

  rect(x, y, width, height, fill, more = "") {
    this.parts.push(`<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" fill="${fill}"${more}/>`);
  }

  text(x, y, text, anchor = "middle", more = "") {
    this.parts.push(`<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}"${more}>${escape(text)}</text>`);
  }

  path(data, attributes) {
    this.parts.push(`<path d="${data}" ${attributes}/>`);
  }

  // Names of series at the right; none for a single one without a name.
  legend(names) {
    if (!names.some((name) => name !== "")) return;
    const shown = names.slice(0, 20).map((name) => short(name));
    this.right -= most(shown.map(sizeOf)) * kCharacter + 26;
    for (let i = 0; i < shown.length; i++) {
      this.rect(this.right + 10, this.top + 18 * i, 11, 11, kColors[i % 10]);
      this.text(this.right + 26, this.top + 18 * i + 10, shown[i], "start");
    }
  }

  x(place) { return this.left + place * (this.right - this.left); }
  y(place) { return this.bottom - place * (this.bottom - this.top); }

  // Makes room for the labels of both axes, and draws grid and labels.
  axes(chart, x, y) {
    this.left += widthOf(y) + 8 + (chart.y_label ? 18 : 0);
    const slot = (this.right - this.left) / max(x.ticks.length, 1);
    const slanted = widthOf(x) + 6 > slot;
    if (slanted) this.left = max(this.left, widthOf(x) * 0.82 - slot / 2);
    this.bottom -= (slanted ? widthOf(x) * 0.6 + 14 : 18) + (chart.x_label ? 18 : 0);
    for (const [place, text] of y.ticks) {
      this.line(this.left, this.y(place), this.right, this.y(place), "#e4e4e4");
      this.text(this.left - 6, this.y(place) + 4, text, "end");
    }
    const every = slanted ? max(1, ceil(12 / slot)) : 1;
    for (let i = 0; i < x.ticks.length; i += every) this.xTick(x.ticks[i], slanted);
    this.line(this.left, this.bottom, this.right, this.bottom, "#888");
    if (chart.x_label) this.text((this.left + this.right) / 2, this.height - 10, short(chart.x_label, 80));
    if (chart.y_label) {
      const middle = (this.top + this.bottom) / 2;
      this.text(16, middle, short(chart.y_label, 60), "middle", ` transform="rotate(-90 16 ${px(middle)})"`);
    }
  }

  xTick([place, text], slanted) {
    const at = this.x(place);
    const below = this.bottom + 16;
    this.line(at, this.bottom, at, this.bottom + 4, "#888");
    if (slanted) this.text(at + 4, below, text, "end", ` transform="rotate(-35 ${px(at + 4)} ${px(below)})"`);
    else this.text(at, below, text);
  }
}

// The points of each series that have a place.
function drawn(chart) {
  const has = (value, scale) => value !== null && !(scale === "log" && value <= 0);
  return chart.elements.map(({ points }) =>
    points.map((point) => has(point[0], chart.x_scale) && has(point[1], chart.y_scale) ? point : null));
}

function drawPoints(frame, chart) {
  frame.legend(chart.elements.map(({ label }) => label));
  const series = drawn(chart);
  const present = series.flat().filter((point) => point !== null);
  const x = axisOf(chart.x_scale, present.map((point) => point[0]), chart.x_ticks);
  const y = axisOf(chart.y_scale, present.map((point) => point[1]), chart.y_ticks);
  frame.axes(chart, x, y);
  for (let i = 0; i < series.length; i++) {
    const color = kColors[i % 10];
    const places = series[i].map((point) =>
      point === null ? null : `${px(frame.x(x.place(point[0])))} ${px(frame.y(y.place(point[1])))}`);
    if (chart.type === "line") {
      let data = "";
      let penDown = false;
      for (const place of places) {
        if (place !== null) data += `${penDown ? "L" : "M"}${place}`;
        penDown = place !== null;
      }
      frame.path(data, `fill="none" stroke="${color}" stroke-width="2" stroke-linejoin="round"`);
    }
    if (chart.type === "scatter" || series[i].length <= 30) {
      const dots = places.filter((place) => place !== null).map((place) => `M${place}h0`).join("");
      frame.path(dots, `stroke="${color}" stroke-width="${chart.type === "scatter" ? 7 : 5}" stroke-linecap="round"`);
    }
  }
}

function drawBars(frame, chart) {
  const { elements, bins } = chart;
  const labels = numbered(elements.map(({ label }) => label));
  const groups = numbered(elements.map(({ group }) => group));
  frame.legend([...groups.keys()]);
  const values = elements.map(({ value }) => value).filter((value) => value !== null);
  const y = linear(least([0, ...values]), most([0, ...values]));
  const x = bins ? inner(bins[0], bins.at(-1)) : bands([...labels.keys()]);
  frame.axes(chart, x, y);
  for (const { label, value, group } of elements) {
    if (value === null) continue;
    let low, high;
    if (bins) {
      low = frame.x(x.place(bins[labels.get(label)])) + 0.5;
      high = frame.x(x.place(bins[labels.get(label) + 1])) - 0.5;
    } else {
      const half = (frame.right - frame.left) / labels.size * 0.4;
      low = frame.x(x.place(label)) - half;
      high = frame.x(x.place(label)) + half;
    }
    const width = (high - low) / groups.size;
    const i = groups.get(group);
    const top = frame.y(y.place(max(0, value)));
    frame.rect(low + width * i, top, width, frame.y(y.place(min(0, value))) - top, kColors[i % 10]);
  }
}

function drawBoxes(frame, chart) {
  const { elements } = chart;
  const values = elements.flatMap((element) => [element.min, element.max, ...element.outliers]);
  const x = bands(elements.map(({ label }) => label));
  const y = linear(least(values), most(values));
  frame.axes(chart, x, y);
  const half = (frame.right - frame.left) / elements.length * 0.3;
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i];
    const color = kColors[i % 10];
    const middle = frame.x((i + 0.5) / elements.length);
    const [low, first, median, third, high] = ["min", "first_quartile", "median", "third_quartile", "max"].map((key) =>
      frame.y(y.place(element[key])));
    frame.line(middle, low, middle, first, color);
    frame.line(middle, third, middle, high, color);
    for (const at of [low, high]) frame.line(middle - half / 2, at, middle + half / 2, at, color);
    frame.rect(middle - half, third, 2 * half, first - third, color, ` fill-opacity="0.4" stroke="${color}"`);
    frame.line(middle - half, median, middle + half, median, "#222");
    const dots = element.outliers.map((value) => `M${px(middle)} ${px(frame.y(y.place(value)))}h0`).join("");
    if (dots !== "") frame.path(dots, `stroke="${color}" stroke-width="5" stroke-linecap="round"`);
  }
}

function drawPie(frame, chart) {
  const { elements } = chart;
  frame.legend(elements.map(({ label, angle }) => `${short(label, 16)} ${px(angle / 3.6)}%`));
  const middle = (frame.left + frame.right) / 2;
  const center = (frame.top + frame.bottom) / 2;
  const full = min(frame.right - frame.left, frame.bottom - frame.top) / 2;
  let start = -90;
  for (let i = 0; i < elements.length; i++) {
    const { angle } = elements[i];
    const end = start + angle;
    const radius = full * elements[i].radius;
    const fill = `fill="${kColors[i % 10]}" stroke="#fff"`;
    if (angle >= 359.99) {
      frame.parts.push(`<circle cx="${px(middle)}" cy="${px(center)}" r="${px(radius)}" ${fill}/>`);
    } else if (angle > 0) {
      const [from, to] = [start, end].map((at) => at * Math.PI / 180).map((turn) =>
        `${px(middle + radius * Math.cos(turn))} ${px(center + radius * Math.sin(turn))}`);
      const arc = `A${px(radius)} ${px(radius)} 0 ${angle > 180 ? 1 : 0} 1 ${to}`;
      frame.path(`M${px(middle)} ${px(center)}L${from}${arc}Z`, fill);
    }
    start = end;
  }
}

// The colour for a place between 0 and 1.
function shade(place) {
  const half = place < 0.5 ? 0 : 1;
  const rest = place * 2 - half;
  return `rgb(${kRamp[half].map((a, i) => floor(a + (kRamp[half + 1][i] - a) * rest + 0.5)).join(",")})`;
}

function drawHeatmap(frame, chart) {
  const columns = chart.x_tick_labels;
  const rows = chart.y_tick_labels;
  const values = chart.elements.map(({ value }) => value).filter((value) => value !== null);
  const low = least(values, 0);
  const high = most(values, 1);
  const span = high - low || 1;
  const ends = [numberText(low), numberText(high)];
  frame.right -= most(ends.map(sizeOf)) * kCharacter + 24;
  for (let i = 0; i < 6; i++) frame.rect(frame.right + 8, frame.top + 18 * i, 12, 18, shade(1 - i / 5));
  frame.text(frame.right + 24, frame.top + 10, ends[1], "start");
  frame.text(frame.right + 24, frame.top + 106, ends[0], "start");
  frame.axes(chart, bands(columns), bands(rows.toReversed()));
  const width = (frame.right - frame.left) / max(columns.length, 1);
  const height = (frame.bottom - frame.top) / max(rows.length, 1);
  for (let i = 0; i < chart.elements.length; i++) {
    const { value } = chart.elements[i];
    const x = frame.left + width * (i % columns.length);
    const y = frame.top + height * floor(i / columns.length);
    const place = value === null ? null : (value - low) / span;
    frame.rect(x, y, width, height, place === null ? "#eee" : shade(place));
    if (place !== null && width >= 34 && height >= 16) {
      frame.text(x + width / 2, y + height / 2 + 4, numberText(value), "middle", place > 0.5 ? ' fill="#fff"' : "");
    }
  }
}

const kDraw = {
  __proto__: null,
  line: drawPoints, scatter: drawPoints, bar: drawBars, box_and_whisker: drawBoxes, pie: drawPie, heatmap: drawHeatmap,
};

function drawInto(parts, chart, width, height, columns) {
  const frame = new Frame(parts, chart, width, height);
  if (chart.type in kDraw) {
    if (chart.elements.length > 0) kDraw[chart.type](frame, chart);
    return;
  }
  const across = width / columns;
  const down = (height - frame.top + 16) / max(1, ceil(chart.elements.length / columns));
  for (let i = 0; i < chart.elements.length; i++) {
    const y = frame.top - 16 + down * floor(i / columns);
    parts.push(`<g transform="translate(${px(across * (i % columns))} ${px(y)})">`);
    drawInto(parts, chart.elements[i], across, down, 1);
    parts.push("</g>");
  }
}

// The SVG text of a chart's dictionary.
export function draw(chart, width, height, columns = 2) {
  const size = `width="${width}" height="${height}"`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" ` +
    `fill="#333"><rect x="0" y="0" ${size} fill="#fff"/>`,
  ];
  drawInto(parts, chart, width, height, columns);
  return `${parts.join("")}</svg>`;
}
