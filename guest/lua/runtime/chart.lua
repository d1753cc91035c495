-- SPDX-License-Identifier: Apache-2.0
-- chart(): data to the dictionary of a chart, which clients can draw, and to a picture (svg.lua).
--
-- The dictionary always has all keys of its type, null where there is nothing to say. docs/outputs.md lists them.
local scales, svg, records, json = ...
local floor, max, min = math.floor, math.max, math.min
local concat, format, gsub, match, sort = table.concat, string.format, string.gsub, string.match, table.sort
local error, getmetatable, ipairs, mathtype, pairs, setmetatable, tostring, type =
  error, getmetatable, ipairs, math.type, pairs, setmetatable, tostring, type
local null, array = json.null, json.array
local is_sequence, is_mapping, keys_of = records.is_sequence, records.is_mapping, records.keys_of

local kMostPoints, kMostSeries = 20000, 100
local kKinds = {
  line = "line", scatter = "scatter", bar = "bar", pie = "pie", histogram = "histogram", hist = "histogram",
  box = "box_and_whisker", box_and_whisker = "box_and_whisker", heatmap = "heatmap",
}
local kOptions = "x, y, title, x_label, y_label, x_scale, y_scale, bins, x_labels, y_labels, columns, width, height"
local kScales = { linear = true, log = true, datetime = true, categorical = true }

local function fail(...) error("chart: " .. format(...), 0) end

local function is_number(value) return type(value) == "number" end

-- The number that a value is; null where there is none to draw.
local function number(value)
  if type(value) == "boolean" then return value and 1 or 0 end
  if not is_number(value) or value ~= value or value >= 1e300 or value <= -1e300 then return null end
  return value
end

-- A value along the x axis: a number or a text.
local function place(value)
  if is_number(value) then return number(value) end
  if value == nil or value == null then return null end
  return svg.well_formed(tostring(value))
end

local function text(value)
  if value == null then return "" end
  if type(value) == "string" then return value end
  if value == floor(value) and value < 1e15 and value > -1e15 then return format("%d", value) end
  return scales.number_text(value)
end

local function is_pair(value) return is_sequence(value) and #value == 2 end

-- What the values of one series say: pairs as they are, a table's entries by key, or numbers by their position from 0.
local function points(values)
  local list, pairs_only = array({}), is_sequence(values) and #values > 0
  if not is_sequence(values) then
    for i, key in ipairs(keys_of(values)) do list[i] = array({ place(key), number(values[key]) }) end
    return list
  end
  for _, value in ipairs(values) do pairs_only = pairs_only and is_pair(value) end
  for i, value in ipairs(values) do
    list[i] = pairs_only and array({ place(value[1]), number(value[2]) }) or array({ i - 1, number(value) })
  end
  return list
end

local function table_series(tab, x, y)
  local columns, numeric, series = {}, {}, {}
  for i, name in ipairs(tab.names) do
    columns[name] = i
    for _, row in ipairs(tab.rows) do numeric[name] = numeric[name] or is_number(row[i]) end
  end
  if x == nil and #tab.names > 1 then
    for i = #tab.names, 1, -1 do
      if not numeric[tab.names[i]] then x = tab.names[i] end
    end
    if x == nil and y == nil then x = tab.names[1] end
  end
  if y == nil then
    y = {}
    for _, name in ipairs(tab.names) do
      if numeric[name] and name ~= x then y[#y + 1] = name end
    end
  end
  for i, name in ipairs(type(y) == "table" and y or { y }) do
    local list = array({})
    if not columns[name] then fail("there is no column '%s'; there are %s", name, concat(tab.names, ", ")) end
    if x ~= nil and not columns[x] then fail("there is no column '%s'; there are %s", x, concat(tab.names, ", ")) end
    for j, row in ipairs(tab.rows) do
      list[j] = array({ x == nil and j - 1 or place(row[columns[x]]), number(row[columns[name]]) })
    end
    series[i] = { name, list }
  end
  return series
end

-- {{name, {{x, y}, …}}, …} of whatever form of data; series of a table with names in the order of these.
local function series_of(data, options)
  local x, y = options.x, options.y
  if type(data) ~= "table" then fail("no data in a %s", type(data)) end
  if x ~= nil or y ~= nil or is_sequence(data) and is_mapping(data[1]) and data[1] ~= null then
    return table_series(records.of(data), x, y)
  end
  if is_sequence(data) then return { { "", points(data) } } end
  local series, is_nested = {}, true
  for _, values in pairs(data) do is_nested = is_nested and type(values) == "table" and values ~= null end
  if not is_nested then return { { "", points(data) } } end
  for i, key in ipairs(keys_of(data)) do series[i] = { svg.well_formed(tostring(key)), points(data[key]) } end
  return series
end

-- What an axis' label has in parentheses or brackets.
local function unit(label)
  if label == nil then return null end
  local round, square = match(label, "()%([^()]*%)"), match(label, "()%[[^%[%]]*%]")
  if round and (not square or round < square) then return match(label, "%(([^()]*)%)") end
  return square and match(label, "%[([^%[%]]*)%]") or null
end

-- The beginning of every dictionary.
local function dictionary(kind, options, elements)
  local x, y = options.x_label, options.y_label
  return {
    type = kind, title = options.title or null, elements = elements,
    x_label = x or null, y_label = y or null, x_unit = unit(x), y_unit = unit(y),
  }
end

local function scale_of(values)
  local texts, times = 0, 0
  for _, value in ipairs(values) do
    if type(value) == "string" then
      texts = texts + 1
      if scales.time_ms(value) then times = times + 1 end
    end
  end
  return texts == 0 and "linear" or times == #values and "datetime" or "categorical"
end

-- {{value, text}, …} of an axis.
local function ticks_of(scale, values)
  local list, seen = {}, {}
  for _, value in ipairs(values) do
    if scale == "categorical" then
      if not seen[value] then list[#list + 1] = { value, value } end
      seen[value] = true
    elseif scale == "datetime" then
      list[#list + 1] = scales.time_ms(value)
    elseif scale ~= "log" or value > 0 then
      list[#list + 1] = value
    end
  end
  if scale == "categorical" or #list == 0 then return list end
  local low, high = scales.range(list)
  if scale ~= "datetime" then return scale == "log" and scales.log_ticks(low, high) or scales.linear_ticks(low, high) end
  list = {}
  for i, tick in ipairs(scales.time_ticks(low, high)) do list[i] = { scales.time_text(tick[1]), tick[2] } end
  return list
end

local function part_of(list, i)
  local parts = array({})
  for j, item in ipairs(list) do parts[j] = item[i] end
  return parts
end

-- All numbers of one axis.
local function along(series, i)
  local values = {}
  for _, one in ipairs(series) do
    for _, point in ipairs(one[2]) do
      if point[i] ~= null then values[#values + 1] = point[i] end
    end
  end
  return values
end

local function make_xy(kind, data, options)
  local series = series_of(data, options)
  local x_scale = options.x_scale or scale_of(along(series, 1))
  if x_scale == "categorical" then
    for _, one in ipairs(series) do
      for _, point in ipairs(one[2]) do
        if point[1] ~= null then point[1] = text(point[1]) end
      end
    end
  end
  local y_scale, elements = options.y_scale or "linear", array({})
  for i, one in ipairs(series) do elements[i] = { label = one[1], points = one[2] } end
  local chart = dictionary(kind, options, elements)
  local x, y = ticks_of(x_scale, along(series, 1)), ticks_of(y_scale, along(series, 2))
  chart.x_scale, chart.y_scale = x_scale, y_scale
  chart.x_ticks, chart.x_tick_labels, chart.y_ticks, chart.y_tick_labels = part_of(x, 1), part_of(x, 2), part_of(y, 1), part_of(y, 2)
  return chart
end

local function make_bar(kind, data, options)
  local elements = array({})
  for _, one in ipairs(series_of(data, options)) do
    for _, point in ipairs(one[2]) do
      elements[#elements + 1] = { label = text(point[1]), value = point[2], group = one[1] }
    end
  end
  return dictionary(kind, options, elements)
end

local function make_pie(kind, data, options)
  local first, total, elements = series_of(data, options)[1], 0, array({})
  for _, point in ipairs(first and first[2] or {}) do
    local value = point[2] ~= null and max(point[2], 0) or 0
    total = total + value
    elements[#elements + 1] = { label = text(point[1]), angle = value, radius = 1 }
  end
  for _, element in ipairs(elements) do element.angle = element.angle / (total ~= 0 and total or 1) * 360 end
  return { type = kind, title = options.title or null, elements = elements }
end

-- {name, sorted numbers} of each series that has any.
local function samples_of(data, options)
  local samples = {}
  for _, one in ipairs(series_of(data, options)) do
    local numbers = along({ one }, 2)
    sort(numbers)
    if #numbers > 0 then samples[#samples + 1] = { one[1], numbers } end
  end
  return samples
end

local function quantile(numbers, share)
  local at = share * (#numbers - 1)
  local below = floor(at)
  local above = min(below + 1, #numbers - 1)
  return numbers[below + 1] + (numbers[above + 1] - numbers[below + 1]) * (at - below)
end

local function make_boxes(kind, data, options)
  local elements = array({})
  for i, sample in ipairs(samples_of(data, options)) do
    local numbers, inside, outliers = sample[2], {}, array({})
    local first, median, third = quantile(numbers, 0.25), quantile(numbers, 0.5), quantile(numbers, 0.75)
    local reach = 1.5 * (third - first)
    for _, value in ipairs(numbers) do
      local list = value >= first - reach and value <= third + reach and inside or outliers
      list[#list + 1] = value
    end
    elements[i] = {
      label = sample[1], min = inside[1], first_quartile = first, median = median, third_quartile = third,
      max = inside[#inside], outliers = outliers,
    }
  end
  return dictionary(kind, options, elements)
end

local function make_histogram(_, data, options)
  local samples, all = samples_of(data, options), {}
  for _, sample in ipairs(samples) do all[#all + 1], all[#all + 2] = sample[2][1], sample[2][#sample[2]] end
  local low, high = scales.range(all)
  low, high = low or 0, high or 1
  if low == high then low, high = low - 0.5, high + 0.5 end
  local count = min(max(floor(options.bins or 10), 1), 1000)
  local bins, elements = array({}), array({})
  for i = 0, count do bins[i + 1] = low + (high - low) * i / count end
  for _, sample in ipairs(samples) do
    local heights = {}
    for i = 1, count do heights[i] = 0 end
    for _, value in ipairs(sample[2]) do
      local i = min(floor((value - low) / (high - low) * count), count - 1) + 1
      heights[i] = heights[i] + 1
    end
    for i, height in ipairs(heights) do
      local label = scales.number_text(bins[i]) .. " – " .. scales.number_text(bins[i + 1])
      elements[#elements + 1] = { label = label, value = height, group = sample[1] }
    end
  end
  local chart = dictionary("bar", options, elements)
  chart.bins = bins
  return chart
end

local function make_heatmap(kind, data, options)
  local is_matrix = is_sequence(data) and (#data == 0 or is_sequence(data[1]))
  local tab = not is_matrix and records.of(data)
  local rows, width = tab and tab.rows or data, 0
  for _, row in ipairs(rows) do width = max(width, #row) end
  local function names(given, count)
    local list = array({})
    for i = 1, given and min(#given, count) or count do list[i] = text(place(given and given[i] or not given and i - 1)) end
    return list
  end
  local columns, lines = names(options.x_labels or tab and tab.names, width), names(options.y_labels, #rows)
  if #columns < width or #lines < #rows then fail("%d rows of %d need as many labels", #rows, width) end
  local elements = array({})
  for i, row in ipairs(rows) do
    for j, column in ipairs(columns) do elements[#elements + 1] = { x = column, y = lines[i], value = number(row[j]) } end
  end
  local chart = dictionary(kind, options, elements)
  chart.x_tick_labels, chart.y_tick_labels = columns, lines
  return chart
end

local kMake = {
  line = make_xy, scatter = make_xy, bar = make_bar, pie = make_pie, box_and_whisker = make_boxes, histogram = make_histogram,
  heatmap = make_heatmap,
}

-- ── charts as values

local Chart = { __name = "Chart" }
Chart.__index = Chart

local summary

local function element_summary(kind, element)
  local name = element.label ~= "" and element.label or "one series"
  if kind == "superchart" then return summary(element) end
  if kind == "line" or kind == "scatter" then return format("%s (%d points)", name, #element.points) end
  if kind == "pie" then return element.label .. " " .. svg.px(element.angle / 3.6) .. "%" end
  if kind == "box" then return name .. " median " .. scales.number_text(element.median) end
  return element.label .. (element.group ~= "" and " " .. element.group or "") .. " " .. text(element.value)
end

-- What stands for the picture where there is only text.
summary = function(chart)
  local kind, shown = gsub(chart.type, "_and_whisker", ""), {}
  local title = kind .. " chart" .. (chart.title ~= null and chart.title ~= "" and ' "' .. chart.title .. '"' or "") .. ": "
  if kind == "heatmap" then return title .. format("%d rows of %d", #chart.y_tick_labels, #chart.x_tick_labels) end
  local is_list = kind == "bar" or kind == "pie" or kind == "box"
  for i, element in ipairs(chart.elements) do
    if is_list and i > 20 then
      shown[i] = format("%d more", #chart.elements - 20)
      break
    end
    shown[i] = element_summary(kind, element)
  end
  return title .. concat(shown, kind == "superchart" and "; " or ", ")
end

function Chart:__tostring() return summary(self.spec) end
function Chart:svg() return svg.draw(self.spec, self.width, self.height, self.columns) end

local function new(spec, options)
  local function size(value, otherwise) return min(max(floor(value or otherwise), 1), 10000) end
  return setmetatable({
    spec = spec, width = size(options.width, 640), height = size(options.height, 400), columns = size(options.columns, 2),
  }, Chart)
end

local function checked(given)
  local options = {}
  for key, value in pairs(given or {}) do
    if not match(", " .. kOptions .. ",", ", " .. tostring(key) .. ",") then
      fail("unknown option '%s'; known are %s", tostring(key), kOptions)
    end
    if value ~= null then options[key] = value end
    if type(value) == "string" then options[key] = svg.well_formed(value) end
  end
  for _, name in ipairs({ "x_scale", "y_scale" }) do
    if options[name] and not kScales[options[name]] then
      fail("unknown scale '%s'; known are linear, log, datetime, categorical", tostring(options[name]))
    end
  end
  return options
end

local function superchart(charts, options)
  local columns, elements = options.columns or 2, array({})
  for i, part in ipairs(charts) do elements[i] = part.spec end
  return new({ type = "superchart", title = options.title or null, elements = elements }, {
    columns = columns, width = options.width or 420 * min(columns, max(#charts, 1)),
    height = options.height or 300 * max((#charts + columns - 1) // columns, 1),
  })
end

local module = { mime = "application/vnd.dormouse.chart.v1+json", summary = summary, new = new }

function module.is_chart(value) return type(value) == "table" and getmetatable(value) == Chart end

-- chart(kind, data, {title = …}); chart({chart, …}, {title = …}) is one picture of several.
function module.chart(kind, data, given)
  if type(kind) == "table" then return superchart(kind, checked(data)) end
  local options = checked(given)
  local name = kKinds[kind]
  if not name then fail("unknown type '%s'; known are %s", tostring(kind), concat(keys_of(kKinds), ", ")) end
  local spec, size = kMake[name](name, data, options), 0
  for _, element in ipairs(spec.elements) do size = size + max(element.points and #element.points or 1, 1) end
  if size > kMostPoints or #spec.elements > kMostSeries and spec.elements[1].points then
    fail("%d points in %d elements; the limit is %d points, %d series", size, #spec.elements, kMostPoints, kMostSeries)
  end
  return new(spec, options)
end

return module
