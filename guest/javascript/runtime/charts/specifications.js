// SPDX-License-Identifier: Apache-2.0
// Objects that describe charts in the words of Vega-Lite, Vega or Plotly: what they are, and the chart() of those that
// need no more than their own data.
import { chart, Chart } from "dormouse:charts/chart";

const kMarks = {
  __proto__: null,
  line: "line", area: "line", point: "scatter", circle: "scatter", square: "scatter", bar: "bar", arc: "pie", boxplot: "box",
};

// The MIME type of a plain object that describes a chart; undefined of any other.
export function specificationType({ $schema, data, layout }) {
  if (typeof $schema === "string") {
    if ($schema.includes("vega-lite")) return "application/vnd.vegalite.v5+json";
    return $schema.includes("/vega/") ? "application/vnd.vega.v5+json" : undefined;
  }
  const isPlotly = Array.isArray(data) && typeof layout === "object" && layout !== null && !Array.isArray(layout);
  return isPlotly ? "application/vnd.plotly.v1+json" : undefined;
}

// The Chart that such an object describes; undefined if that takes more than is known here.
export function chartOf(value) {
  try {
    return value.$schema === undefined ? plotly(value) : vegaLite(value);
  } catch {
    return undefined;
  }
}

// The Chart of an object as chart() makes them.
export function ownChart(value) {
  try {
    const made = new Chart(value);
    made.svg();
    return made;
  } catch {
    throw new TypeError("display: this does not describe a chart");
  }
}

const titleOf = (value) => typeof value === "object" && value !== null ? value.text : value;

function vegaLite(spec) {
  const mark = spec.mark.type ?? spec.mark;
  const records = spec.data.values;
  const { x = {}, y = {}, color = {}, theta } = spec.encoding;
  const options = { title: titleOf(spec.title) };
  if (mark === "arc") {
    return chart("pie", new Map(records.map((record) => [`${record[color.field]}`, record[theta.field]])), options);
  }
  options.x_label = x.title ?? x.field;
  options.y_label = y.title ?? y.field;
  if (mark === "bar" && x.bin) {
    return chart("histogram", records.map((record) => record[x.field]), { bins: x.bin.maxbins ?? 10, ...options });
  }
  if (x.aggregate || y.aggregate || !(mark in kMarks)) return undefined;
  const series = new Map();
  const add = (name, item) => series.has(name) ? series.get(name).push(item) : series.set(name, [item]);
  for (const record of records) {
    if (mark === "boxplot") add(`${record[x.field]}`, record[y.field]);
    else add(color.field === undefined ? "" : `${record[color.field]}`, [record[x.field], record[y.field]]);
  }
  if (kMarks[mark] === "line" || kMarks[mark] === "scatter") {
    if (x.scale?.type === "log") options.x_scale = "log";
    if (y.scale?.type === "log") options.y_scale = "log";
  }
  return chart(kMarks[mark], series, options);
}

function plotly({ data: traces, layout }) {
  const kinds = new Set(traces.map((trace) => trace.type ?? "scatter"));
  if (kinds.size !== 1) return undefined;
  const [kind] = kinds;
  const { xaxis: x = {}, yaxis: y = {} } = layout;
  const options = { title: titleOf(layout.title) };
  const [first] = traces;
  if (kind === "pie") return chart("pie", new Map(first.labels.map((label, i) => [`${label}`, first.values[i]])), options);
  options.x_label = titleOf(x.title);
  options.y_label = titleOf(y.title);
  if (kind === "heatmap") return chart("heatmap", first.z, { x_labels: first.x, y_labels: first.y, ...options });
  const names = traces.map((trace, i) => trace.name || (traces.length > 1 ? `trace ${i}` : ""));
  const byName = (values) => new Map(traces.map((trace, i) => [names[i], values(trace)]));
  if (kind === "histogram") return chart(kind, byName((trace) => trace.x), options);
  if (kind === "box") return chart(kind, byName((trace) => trace.y), options);
  if (kind !== "scatter" && kind !== "bar") return undefined;
  const series = byName((trace) => trace.y.map((value, i) => [trace.x === undefined ? i : trace.x[i], value]));
  if (kind === "bar") return chart("bar", series, options);
  if (x.type === "log") options.x_scale = "log";
  if (y.type === "log") options.y_scale = "log";
  const isDots = traces.every((trace) => !(trace.mode ?? "lines").includes("lines"));
  return chart(isDots ? "scatter" : "line", series, options);
}
