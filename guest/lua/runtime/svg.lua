-- SPDX-License-Identifier: Apache-2.0
-- Draws the dictionary of a chart (chart.lua) as an SVG picture: text, lines and areas, nothing that runs.
--
-- Every language of Dormouse draws the same picture, byte for byte; tests/charts holds them to it.
local scales, null = ...
local ceil, cos, floor, max, min, pi, sin = math.ceil, math.cos, math.floor, math.max, math.min, math.pi, math.sin
local concat, format, gsub, sub = table.concat, string.format, string.gsub, string.sub
local ipairs, setmetatable, utf8len, utf8offset = ipairs, setmetatable, utf8.len, utf8.offset

local kColors = {
  [0] = "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0",
}
local kRamp = { { 239, 246, 253 }, { 66, 146, 198 }, { 8, 48, 107 } }
local kEscapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }
local kCharacter = 6.2  -- the width of an average one
local kMark = "\u{fffd}"

local svg = {}

-- The text with U+FFFD for what is no UTF-8.
local function well_formed(text)
  while true do
    local length, at = utf8len(text)
    if length then return text end
    text = sub(text, 1, at - 1) .. kMark .. sub(text, at + 1)
  end
end
svg.well_formed = well_formed

function svg.escape(text)
  text = gsub(well_formed(text), "[\0-\8\11\12\14-\31]", kMark)
  text = gsub(text, "\xEF\xBF[\xBE\xBF]", kMark)
  return (gsub(text, '[&<>"]', kEscapes))
end

local function size_of(text) return utf8len(text) or #text end

local function short(text, limit)
  text = well_formed(text)
  limit = limit or 24
  if size_of(text) <= limit then return text end
  return sub(text, 1, utf8offset(text, limit) - 1) .. "…"
end

-- A length in pixels, to the tenth.
local function px(value)
  local tenths = floor(value * 10 + 0.5)
  local size = tenths < 0 and -tenths or tenths
  local rest = size % 10
  return format(rest == 0 and "%s%d" or "%s%d.%d", tenths < 0 and "-" or "", size // 10, rest)
end
svg.px = px

-- An axis places values between 0 and 1; its ticks are {place, text}.
local function axis(place, ticks)
  local widest = 0
  for _, tick in ipairs(ticks) do widest = max(widest, size_of(tick[2])) end
  return { place = place, ticks = ticks, width = widest * kCharacter }
end

local function placed(place, ticks)
  local all = {}
  for i, tick in ipairs(ticks) do all[i] = { place(tick[1]), tick[2] } end
  return all
end

local function linear(low, high)
  local ticks = scales.linear_ticks(low, high)
  local first = ticks[1][1]
  local span = ticks[#ticks][1] - first
  local function place(value) return (value - first) / span end
  return axis(place, placed(place, ticks))
end

-- From `low` to `high` exactly, with the ticks in between.
local function inner(low, high)
  local function place(value) return (value - low) / (high - low) end
  local ticks = {}
  for _, tick in ipairs(placed(place, scales.linear_ticks(low, high))) do
    if tick[1] >= -1e-9 and tick[1] <= 1 + 1e-9 then ticks[#ticks + 1] = tick end
  end
  return axis(place, ticks)
end

local function logarithmic(low, high)
  local ticks = scales.log_ticks(low, high)
  local first = scales.log10(ticks[1][1])
  local span = scales.log10(ticks[#ticks][1]) - first
  local function place(value) return (scales.log10(value) - first) / span end
  return axis(place, placed(place, ticks))
end

local function times(low, high)
  if low == high then low, high = low - 1000, high + 1000 end
  local span = high - low
  local ticks = placed(function(at) return (at - low) / span end, scales.time_ticks(low, high))
  return axis(function(text) return (scales.time_ms(text) - low) / span end, ticks)
end

local function bands(names)
  local count = max(#names, 1)
  local places, different, ticks = {}, {}, {}
  for i, name in ipairs(names) do
    if not places[name] then different[#different + 1] = name end
    places[name] = (i - 1 + 0.5) / count
  end
  for i, name in ipairs(different) do ticks[i] = { places[name], short(name) } end
  return axis(function(name) return places[name] end, ticks)
end

local function axis_of(scale, values, categories)
  if scale == "categorical" then return bands(categories) end
  if scale == "datetime" then
    local all = {}
    for i, value in ipairs(values) do all[i] = scales.time_ms(value) end
    local low, high = scales.range(all)
    return times(low or 0, high or 0)
  end
  local low, high = scales.range(values)
  if scale == "log" then return logarithmic(low or 1, high or 10) end
  return linear(low or 0, high or 1)
end

-- Each different item and its place among them from 0, and the items in order.
local function numbered(elements, key)
  local numbers, items = {}, {}
  for _, element in ipairs(elements) do
    local item = element[key]
    if not numbers[item] then
      numbers[item] = #items
      items[#items + 1] = item
    end
  end
  return numbers, items
end

-- ── the rectangle that values are drawn in; `parts` is the picture so far

local Frame = {}
Frame.__index = Frame

local function new_frame(parts, chart, width, height)
  local frame = setmetatable({
    parts = parts, width = width, height = height, left = 16.0, right = width - 16.0, top = 16.0, bottom = height - 16.0,
  }, Frame)
  if chart.title ~= null and chart.title ~= "" then
    frame:text(width / 2, 24, short(chart.title, 80), "middle", ' font-size="15" font-weight="bold"')
    frame.top = 40.0
  end
  return frame
end

function Frame:add(text) self.parts[#self.parts + 1] = text end

function Frame:line(x1, y1, x2, y2, color)
  self:add(format('<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"/>', px(x1), px(y1), px(x2), px(y2), color))
end

function Frame:rect(x, y, width, height, fill, more)
  self:add(format('<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s/>', px(x), px(y), px(width), px(height), fill, more or ""))
end

function Frame:text(x, y, text, anchor, more)
  self:add(format('<text x="%s" y="%s" text-anchor="%s"%s>%s</text>', px(x), px(y), anchor or "middle", more or "", svg.escape(text)))
end

function Frame:path(data, attributes) self:add('<path d="' .. data .. '" ' .. attributes .. "/>") end

function Frame:x(place) return self.left + place * (self.right - self.left) end
function Frame:y(place) return self.bottom - place * (self.bottom - self.top) end

-- Names of series at the right; none for a single one without a name.
function Frame:legend(names)
  local shown, widest, has_name = {}, 0, false
  for i, name in ipairs(names) do
    has_name = has_name or name ~= ""
    if i <= 20 then
      shown[i] = short(name)
      widest = max(widest, size_of(shown[i]))
    end
  end
  if not has_name then return end
  self.right = self.right - (widest * kCharacter + 26)
  for i, name in ipairs(shown) do
    self:rect(self.right + 10, self.top + 18 * (i - 1), 11, 11, kColors[(i - 1) % 10])
    self:text(self.right + 26, self.top + 18 * (i - 1) + 10, name, "start")
  end
end

function Frame:x_tick(place, text, slanted)
  local at, below = self:x(place), self.bottom + 16
  self:line(at, self.bottom, at, self.bottom + 4, "#888")
  if not slanted then return self:text(at, below, text) end
  self:text(at + 4, below, text, "end", format(' transform="rotate(-35 %s %s)"', px(at + 4), px(below)))
end

local function given(text) return text ~= null and text ~= "" and text or nil end

-- Makes room for the labels of both axes, and draws grid and labels.
function Frame:axes(chart, x, y)
  local x_label, y_label = given(chart.x_label), given(chart.y_label)
  self.left = self.left + (y.width + 8 + (y_label and 18 or 0))
  local slot = (self.right - self.left) / max(#x.ticks, 1)
  local slanted = x.width + 6 > slot
  if slanted then self.left = max(self.left, x.width * 0.82 - slot / 2) end
  self.bottom = self.bottom - ((slanted and x.width * 0.6 + 14 or 18) + (x_label and 18 or 0))
  for _, tick in ipairs(y.ticks) do
    local at = self:y(tick[1])
    self:line(self.left, at, self.right, at, "#e4e4e4")
    self:text(self.left - 6, at + 4, tick[2], "end")
  end
  for i = 1, #x.ticks, slanted and max(1, ceil(12 / slot)) or 1 do self:x_tick(x.ticks[i][1], x.ticks[i][2], slanted) end
  self:line(self.left, self.bottom, self.right, self.bottom, "#888")
  if x_label then self:text((self.left + self.right) / 2, self.height - 10, short(x_label, 80)) end
  if y_label then
    local middle = (self.top + self.bottom) / 2
    self:text(16, middle, short(y_label, 60), "middle", format(' transform="rotate(-90 16 %s)"', px(middle)))
  end
end

-- ── the kinds of charts

local function has_place(value, scale) return value ~= null and value ~= nil and not (scale == "log" and value <= 0) end

-- Places of the points of each series, false for those that have none.
local function drawn(frame, chart)
  local xs, ys = {}, {}
  local function is_drawn(point) return has_place(point[1], chart.x_scale) and has_place(point[2], chart.y_scale) end
  for _, element in ipairs(chart.elements) do
    for _, point in ipairs(element.points) do
      if is_drawn(point) then xs[#xs + 1], ys[#ys + 1] = point[1], point[2] end
    end
  end
  local x, y = axis_of(chart.x_scale, xs, chart.x_ticks), axis_of(chart.y_scale, ys, chart.y_ticks)
  frame:axes(chart, x, y)
  local series = {}
  for i, element in ipairs(chart.elements) do
    series[i] = {}
    for j, point in ipairs(element.points) do
      series[i][j] = is_drawn(point) and px(frame:x(x.place(point[1]))) .. " " .. px(frame:y(y.place(point[2])))
    end
  end
  return series
end

local function points(frame, chart)
  local labels = {}
  for i, element in ipairs(chart.elements) do labels[i] = element.label end
  frame:legend(labels)
  for i, places in ipairs(drawn(frame, chart)) do
    local color, line, dots, pen_down = kColors[(i - 1) % 10], {}, {}, false
    for _, place in ipairs(places) do
      if place then
        line[#line + 1] = (pen_down and "L" or "M") .. place
        dots[#dots + 1] = "M" .. place .. "h0"
      end
      pen_down = place and true
    end
    if chart.type == "line" then
      frame:path(concat(line), format('fill="none" stroke="%s" stroke-width="2" stroke-linejoin="round"', color))
    end
    if chart.type == "scatter" or #places <= 30 then
      local size = chart.type == "scatter" and 7 or 5
      frame:path(concat(dots), format('stroke="%s" stroke-width="%d" stroke-linecap="round"', color, size))
    end
  end
end

local function bars(frame, chart)
  local elements, bins = chart.elements, chart.bins
  local labels, label_list = numbered(elements, "label")
  local groups, group_list = numbered(elements, "group")
  frame:legend(group_list)
  local values = { 0 }
  for _, element in ipairs(elements) do
    if element.value ~= null then values[#values + 1] = element.value end
  end
  local y = linear(scales.range(values))
  local x = bins and inner(bins[1], bins[#bins]) or bands(label_list)
  frame:axes(chart, x, y)
  for _, element in ipairs(elements) do
    local value, i = element.value, labels[element.label]
    if value ~= null then
      local low, high
      if bins then
        low, high = frame:x(x.place(bins[i + 1])) + 0.5, frame:x(x.place(bins[i + 2])) - 0.5
      else
        local half, middle = (frame.right - frame.left) / #label_list * 0.4, frame:x(x.place(element.label))
        low, high = middle - half, middle + half
      end
      local width, group = (high - low) / #group_list, groups[element.group]
      local top = frame:y(y.place(max(0, value)))
      frame:rect(low + width * group, top, width, frame:y(y.place(min(0, value))) - top, kColors[group % 10])
    end
  end
end

local function box(frame, y, element, middle, half, color)
  local function at(value) return frame:y(y.place(value)) end
  local low, first, median, third, high =
    at(element.min), at(element.first_quartile), at(element.median), at(element.third_quartile), at(element.max)
  frame:line(middle, low, middle, first, color)
  frame:line(middle, third, middle, high, color)
  for _, place in ipairs({ low, high }) do frame:line(middle - half / 2, place, middle + half / 2, place, color) end
  frame:rect(middle - half, third, 2 * half, first - third, color, format(' fill-opacity="0.4" stroke="%s"', color))
  frame:line(middle - half, median, middle + half, median, "#222")
  local dots = {}
  for i, value in ipairs(element.outliers) do dots[i] = "M" .. px(middle) .. " " .. px(at(value)) .. "h0" end
  if #dots > 0 then frame:path(concat(dots), format('stroke="%s" stroke-width="5" stroke-linecap="round"', color)) end
end

local function boxes(frame, chart)
  local values, labels = {}, {}
  for i, element in ipairs(chart.elements) do
    labels[i] = element.label
    values[#values + 1], values[#values + 2] = element.min, element.max
    for _, value in ipairs(element.outliers) do values[#values + 1] = value end
  end
  local y = linear(scales.range(values))
  frame:axes(chart, bands(labels), y)
  local half = (frame.right - frame.left) / #labels * 0.3
  for i, element in ipairs(chart.elements) do
    box(frame, y, element, frame:x((i - 1 + 0.5) / #labels), half, kColors[(i - 1) % 10])
  end
end

local function slice(frame, middle, center, radius, start, angle, color)
  local fill = format('fill="%s" stroke="#fff"', color)
  if angle >= 359.99 then
    frame:add(format('<circle cx="%s" cy="%s" r="%s" %s/>', px(middle), px(center), px(radius), fill))
  elseif angle > 0 then
    local function corner(at)
      local turn = at * pi / 180
      return px(middle + radius * cos(turn)) .. " " .. px(center + radius * sin(turn))
    end
    local arc = format("A%s %s 0 %d 1 %s", px(radius), px(radius), angle > 180 and 1 or 0, corner(start + angle))
    frame:path(format("M%s %sL%s%sZ", px(middle), px(center), corner(start), arc), fill)
  end
end

local function pie(frame, chart)
  local names = {}
  for i, element in ipairs(chart.elements) do names[i] = short(element.label, 16) .. " " .. px(element.angle / 3.6) .. "%" end
  frame:legend(names)
  local middle, center = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
  local full, start = min(frame.right - frame.left, frame.bottom - frame.top) / 2, -90.0
  for i, element in ipairs(chart.elements) do
    slice(frame, middle, center, full * element.radius, start, element.angle, kColors[(i - 1) % 10])
    start = start + element.angle
  end
end

-- The colour for a place between 0 and 1.
local function shade(place)
  local half = place < 0.5 and 0 or 1
  local rest, rgb = place * 2 - half, {}
  for i, a in ipairs(kRamp[half + 1]) do rgb[i] = floor(a + (kRamp[half + 2][i] - a) * rest + 0.5) end
  return "rgb(" .. concat(rgb, ",") .. ")"
end

local function reversed(list)
  local all = {}
  for i, item in ipairs(list) do all[#list + 1 - i] = item end
  return all
end

local function heatmap(frame, chart)
  local columns, rows, values = chart.x_tick_labels, chart.y_tick_labels, {}
  for _, element in ipairs(chart.elements) do
    if element.value ~= null then values[#values + 1] = element.value end
  end
  local low, high = scales.range(values)
  low, high = low or 0, high or 1
  local low_text, high_text = scales.number_text(low), scales.number_text(high)
  frame.right = frame.right - (max(#low_text, #high_text) * kCharacter + 24)
  for i = 0, 5 do frame:rect(frame.right + 8, frame.top + 18 * i, 12, 18, shade(1 - i / 5)) end
  frame:text(frame.right + 24, frame.top + 10, high_text, "start")
  frame:text(frame.right + 24, frame.top + 106, low_text, "start")
  frame:axes(chart, bands(columns), bands(reversed(rows)))
  local width, height = (frame.right - frame.left) / max(#columns, 1), (frame.bottom - frame.top) / max(#rows, 1)
  for i, element in ipairs(chart.elements) do
    local x, y = frame.left + width * ((i - 1) % #columns), frame.top + height * ((i - 1) // #columns)
    local place = element.value ~= null and (element.value - low) / (high == low and 1 or high - low)
    frame:rect(x, y, width, height, place and shade(place) or "#eee")
    if place and width >= 34 and height >= 16 then
      local more = place > 0.5 and ' fill="#fff"' or ""
      frame:text(x + width / 2, y + height / 2 + 4, scales.number_text(element.value), "middle", more)
    end
  end
end

local kDraw = { line = points, scatter = points, bar = bars, box_and_whisker = boxes, pie = pie, heatmap = heatmap }

local function draw_into(parts, chart, width, height, columns)
  local frame = new_frame(parts, chart, width, height)
  if kDraw[chart.type] then
    if #chart.elements > 0 then kDraw[chart.type](frame, chart) end
    return
  end
  local across = width / columns
  local down = (height - frame.top + 16) / max(1, ceil(#chart.elements / columns))
  for i, part in ipairs(chart.elements) do
    local y = frame.top - 16 + down * ((i - 1) // columns)
    parts[#parts + 1] = format('<g transform="translate(%s %s)">', px(across * ((i - 1) % columns)), px(y))
    draw_into(parts, part, across, down, 1)
    parts[#parts + 1] = "</g>"
  end
end

-- The SVG text of a chart's dictionary.
function svg.draw(chart, width, height, columns)
  local size = format('width="%d" height="%d"', width, height)
  local parts = {
    format('<svg xmlns="http://www.w3.org/2000/svg" %s viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#333">',
      size, width, height),
    format('<rect x="0" y="0" %s fill="#fff"/>', size),
  }
  draw_into(parts, chart, width, height, columns)
  parts[#parts + 1] = "</svg>"
  return concat(parts)
end

return svg
