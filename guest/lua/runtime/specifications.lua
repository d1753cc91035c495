-- SPDX-License-Identifier: Apache-2.0
-- Tables that describe charts in the words of Vega-Lite, Vega or Plotly: what they are, and the chart of those that need
-- no more than their own data.
local charts, records = ...
local find = string.find
local error, ipairs, pcall, rawget, tostring, type = error, ipairs, pcall, rawget, tostring, type
local chart = charts.chart

local kMarks = {
  line = "line", area = "line", point = "scatter", circle = "scatter", square = "scatter", bar = "bar", arc = "pie",
  boxplot = "box",
}

local specifications = {}

-- The MIME type of a plain table that describes a chart; nil of any other.
function specifications.type(value)
  local schema = rawget(value, "$schema")
  if type(schema) == "string" then
    if find(schema, "vega-lite", 1, true) then return "application/vnd.vegalite.v5+json" end
    return find(schema, "/vega/", 1, true) and "application/vnd.vega.v5+json" or nil
  end
  local data, layout = rawget(value, "data"), rawget(value, "layout")
  return records.is_sequence(data) and type(layout) == "table" and "application/vnd.plotly.v1+json" or nil
end

local function title_of(value)
  if type(value) == "table" then return value.text end
  return value
end

local function add(series, name, item)
  series[name] = series[name] or {}
  series[name][#series[name] + 1] = item
end

local function is_log(axis) return axis.scale and axis.scale.type == "log" and "log" or nil end

local function vega_lite(spec)
  local mark = type(spec.mark) == "table" and spec.mark.type or spec.mark
  local encoding, values, series = spec.encoding, spec.data.values, {}
  local x, y, color = encoding.x or {}, encoding.y or {}, encoding.color or {}
  local options = { title = title_of(spec.title) }
  if mark == "arc" then
    for i, record in ipairs(values) do series[i] = { tostring(record[color.field]), record[encoding.theta.field] } end
    return chart("pie", series, options)
  end
  options.x_label, options.y_label = x.title or x.field, y.title or y.field
  if mark == "bar" and x.bin then
    for i, record in ipairs(values) do series[i] = record[x.field] end
    options.bins = type(x.bin) == "table" and x.bin.maxbins or nil
    return chart("histogram", series, options)
  end
  if x.aggregate or y.aggregate or not kMarks[mark] then return nil end
  for _, record in ipairs(values) do
    if mark == "boxplot" then
      add(series, tostring(record[x.field]), record[y.field])
    else
      add(series, color.field and tostring(record[color.field]) or "", { record[x.field], record[y.field] })
    end
  end
  if kMarks[mark] == "line" or kMarks[mark] == "scatter" then options.x_scale, options.y_scale = is_log(x), is_log(y) end
  return chart(kMarks[mark], series, options)
end

local function plotly(spec)
  local traces, layout, series = spec.data, spec.layout, {}
  local first, kind, has_lines = traces[1], traces[1].type or "scatter", false
  local x, y = layout.xaxis or {}, layout.yaxis or {}
  local options = { title = title_of(layout.title) }
  if kind == "pie" then
    for i, label in ipairs(first.labels) do series[i] = { tostring(label), first.values[i] } end
    return chart("pie", series, options)
  end
  options.x_label, options.y_label = title_of(x.title), title_of(y.title)
  if kind == "heatmap" then
    options.x_labels, options.y_labels = first.x, first.y
    return chart("heatmap", first.z, options)
  end
  for i, trace in ipairs(traces) do
    if (trace.type or "scatter") ~= kind then return nil end
    local name = trace.name or (#traces > 1 and "trace " .. i - 1 or "")
    has_lines = has_lines or find(trace.mode or "lines", "lines", 1, true) ~= nil
    if kind == "histogram" or kind == "box" then
      series[name] = kind == "box" and trace.y or trace.x
    else
      for j, value in ipairs(trace.y) do add(series, name, { trace.x and trace.x[j] or not trace.x and j - 1, value }) end
    end
  end
  if kind == "histogram" or kind == "box" or kind == "bar" then return chart(kind, series, options) end
  if kind ~= "scatter" then return nil end
  options.x_scale, options.y_scale = x.type == "log" and "log" or nil, y.type == "log" and "log" or nil
  return chart(has_lines and "line" or "scatter", series, options)
end

-- The chart that such a table describes; nil if that takes more than is known here.
function specifications.chart(value)
  local ok, made = pcall(rawget(value, "$schema") and vega_lite or plotly, value)
  return ok and made or nil
end

-- The chart of a table as chart() makes them.
function specifications.own(value)
  local made = charts.new(value, {})
  if not pcall(made.svg, made) then error("display: this does not describe a chart", 0) end
  return made
end

return specifications
