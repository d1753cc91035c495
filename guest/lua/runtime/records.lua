-- SPDX-License-Identifier: Apache-2.0
-- Tables of data: lists of equal records, as text, as HTML and as data.
local scales, svg, json, quote, show = ...
local floor, max = math.floor, math.max
local concat, format, gsub, insert, rep, sort = table.concat, string.format, string.gsub, table.insert, string.rep, table.sort
local error, getmetatable, ipairs, mathtype, next, rawget, rawlen, tostring, type =
  error, getmetatable, ipairs, math.type, next, rawget, rawlen, tostring, type
local utf8len, utf8offset, sub = utf8.len, utf8.offset, string.sub
local null, array_mark = json.null, getmetatable(json.array())

-- Cells that are looked at and shown without being asked for, and at most.
local kFewCells, kMostCells = 10000, 200000
local kText = { head = 40, tail = 10, width = 120, cell = 40 }
local kHtml = { head = 150, tail = 50, cell = 500, columns = 200 }

local records = {}

-- Keys in order: numbers, then texts, then the rest by its text.
function records.keys_of(value)
  local keys = {}
  for key in next, value do keys[#keys + 1] = key end
  sort(keys, function(a, b)
    local kind_a, kind_b = type(a), type(b)
    if kind_a ~= kind_b then return kind_a < kind_b end
    if kind_a == "number" or kind_a == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- Keys 1 to n, or none.
function records.is_sequence(value)
  if type(value) ~= "table" or value == null then return false end
  local length, count = rawlen(value), 0
  for key in next, value do
    if mathtype(key) ~= "integer" or key < 1 or key > length then return false end
    count = count + 1
  end
  return count == length
end

function records.is_mapping(value)
  return type(value) == "table" and value ~= null and next(value) ~= nil and not records.is_sequence(value)
end

local function is_plain(value)
  local meta = getmetatable(value)
  return meta == nil or meta == array_mark
end

-- The names of a plain record, or nil.
local function names_of(record)
  if not records.is_mapping(record) or not is_plain(record) then return nil end
  local names = records.keys_of(record)
  for _, name in ipairs(names) do
    local cell = rawget(record, name)
    if type(name) ~= "string" or type(cell) == "table" and cell ~= null or type(cell) == "function"
      or type(cell) == "userdata" or type(cell) == "thread" then return nil end
  end
  return names
end

local function row_of(record, names)
  local row = {}
  for i, name in ipairs(names) do
    local cell = rawget(record, name)
    row[i] = cell == nil and null or cell
  end
  return row
end

-- The table that a list of equal records plainly is, as far as its first rows tell: {names, rows, count}, where rows are the
-- first of `count`; columns are in the order of their names. nil if it is none.
function records.find(value)
  if type(value) ~= "table" or not is_plain(value) or not records.is_sequence(value) then return nil end
  local names = names_of(rawget(value, 1))
  if not names or #names > 100 then return nil end
  local few, rows, all = max(kFewCells // #names, 1), {}, concat(names, "\0")
  for i = 1, rawlen(value) do
    if i > few then break end
    local own = names_of(rawget(value, i))
    if not own or concat(own, "\0") ~= all then return nil end
    rows[i] = row_of(rawget(value, i), names)
  end
  return { names = names, rows = rows, count = rawlen(value) }
end

local function of_columns(value)
  local names, labels, count, rows = records.keys_of(value), {}, 0, {}
  for i, name in ipairs(names) do
    labels[i] = tostring(name)
    count = max(count, #value[name])
  end
  for i = 1, count do
    rows[i] = {}
    for j, name in ipairs(names) do
      local cell = value[name][i]
      rows[i][j] = cell == nil and null or cell
    end
  end
  return labels, rows
end

local function of_records(value)
  local names, seen, rows = {}, {}, {}
  for _, record in ipairs(value) do
    if not records.is_mapping(record) then error("a record of a table has names, not " .. tostring(record), 0) end
    for _, name in ipairs(records.keys_of(record)) do
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
  end
  for i, record in ipairs(value) do rows[i] = row_of(record, names) end
  for i, name in ipairs(names) do names[i] = tostring(name) end
  return names, rows
end

local function of_rows(value)
  local width, names, rows = 0, {}, {}
  for _, row in ipairs(value) do width = max(width, #row) end
  for i = 1, width do names[i] = format("%d", i) end
  for i, row in ipairs(value) do
    rows[i] = {}
    for j = 1, width do rows[i][j] = row[j] == nil and null or row[j] end
  end
  return names, rows
end

local function all_sequences(value)
  for _, item in next, value do
    if not records.is_sequence(item) then return false end
  end
  return next(value) ~= nil
end

-- The table of a value that its owner calls one: records, columns or rows.
function records.of(value)
  if type(value) ~= "table" then error("a " .. type(value) .. " is no table", 0) end
  local names, rows
  if records.is_sequence(value) then
    if all_sequences(value) then names, rows = of_rows(value) else names, rows = of_records(value) end
  elseif all_sequences(value) then
    names, rows = of_columns(value)
  else
    names, rows = of_records({ value })
  end
  local count, few = #rows, max(kMostCells // max(#names, 1), 1)
  for i = #rows, few + 1, -1 do rows[i] = nil end
  for i, name in ipairs(names) do names[i] = svg.well_formed(name) end
  return { names = names, rows = rows, count = count }
end

local function kind_of(rows, i)
  local found, count, last = {}, 0, "string"
  for _, row in ipairs(rows) do
    local cell = row[i]
    if cell ~= null then
      local kind = type(cell)
      if kind == "number" then kind = mathtype(cell) == "integer" and "integer" or "number" end
      if kind ~= "string" and kind ~= "boolean" and kind ~= "integer" and kind ~= "number" then kind = "any" end
      if not found[kind] then count, last = count + 1, kind end
      found[kind] = true
    end
  end
  if count == 2 and found.integer and found.number then return "number" end
  return count > 1 and "any" or last
end

local function cell_text(cell, limit)
  local text = cell == null and "" or type(cell) == "string" and sub(cell, 1, 4 * limit) or show(cell)
  if mathtype(cell) == "float" and cell ~= floor(cell) then text = format("%.6g", cell) end
  text = svg.well_formed(gsub(text, "[\r\n\t]", { ["\r"] = "\\r", ["\n"] = "\\n", ["\t"] = "\\t" }))
  if (utf8len(text) or #text) <= limit then return text end
  return sub(text, 1, utf8offset(text, limit) - 1) .. "…"
end

local function cell_json(cell)
  if type(cell) == "table" and cell ~= null or type(cell) == "function" or type(cell) == "userdata" or type(cell) == "thread" then
    return quote(cell_text(cell, 2000))
  end
  return json.encode(cell)
end

-- JSON text: a tabular data resource; with orient "columns" its data is an object of columns.
function records.resource(tab, orient)
  local fields, parts = {}, {}
  for i, name in ipairs(tab.names) do fields[i] = format('{"name":%s,"type":"%s"}', quote(name), kind_of(tab.rows, i)) end
  if orient == "columns" then
    for i, name in ipairs(tab.names) do
      local cells = {}
      for j, row in ipairs(tab.rows) do cells[j] = cell_json(row[i]) end
      parts[i] = quote(name) .. ":[" .. concat(cells, ",") .. "]"
    end
  else
    for i, row in ipairs(tab.rows) do
      local cells = {}
      for j, name in ipairs(tab.names) do cells[j] = quote(name) .. ":" .. cell_json(row[j]) end
      parts[i] = "{" .. concat(cells, ",") .. "}"
    end
  end
  local data = format(orient == "columns" and "{%s}" or "[%s]", concat(parts, ","))
  local cut = tab.count > #tab.rows and ',"truncated":true' or ""
  return '{"schema":{"fields":[' .. concat(fields, ",") .. ']},"data":' .. data .. format(',"rowCount":%d%s}', tab.count, cut)
end

-- The numbers of the rows to be shown: those before and those after the gap.
local function ends(tab, limits)
  local before, after, whole = {}, {}, #tab.rows == tab.count
  local all = whole and tab.count <= limits.head + limits.tail
  for i = 1, #tab.rows do
    if all or i <= limits.head then
      before[#before + 1] = i
    elseif whole and i > tab.count - limits.tail then
      after[#after + 1] = i
    end
  end
  return before, after
end

local function grouped(number)
  local text, count = format("%d", number), 1
  while count > 0 do text, count = gsub(text, "^(%d+)(%d%d%d)", "%1,%2") end
  return text
end

-- Aligned columns, rows numbered from 1; the middle of many rows, and columns that do not fit, are counted.
function records.text(tab)
  local before, after = ends(tab, kText)
  local shown, lines, width, columns = {}, { "" }, 0, 0
  for _, list in ipairs({ before, after }) do
    for _, i in ipairs(list) do
      shown[#shown + 1], lines[#lines + 1] = tab.rows[i], format("%d", i)
      width = max(width, #lines[#lines])
    end
  end
  for i, line in ipairs(lines) do lines[i] = line .. rep(" ", width - #line) end
  for i, name in ipairs(tab.names) do
    local cells, size = { cell_text(name, kText.cell) }, 0
    for j, row in ipairs(shown) do cells[j + 1] = cell_text(row[i], kText.cell) end
    for _, cell in ipairs(cells) do size = max(size, utf8len(cell) or #cell) end
    if columns > 0 and width + 2 + size > kText.width then break end
    width, columns = width + 2 + size, columns + 1
    local kind = kind_of(shown, i)
    for j, cell in ipairs(cells) do
      local pad = rep(" ", size - (utf8len(cell) or #cell))
      lines[j] = lines[j] .. "  " .. ((kind == "integer" or kind == "number") and pad .. cell or cell .. pad)
    end
  end
  for i, line in ipairs(lines) do lines[i] = gsub(line, " +$", "") end
  local left_out = tab.count - #shown
  if left_out > 0 then insert(lines, 2 + #before, "… " .. grouped(left_out) .. " more rows …") end
  if left_out > 0 or columns < #tab.names then
    local some = columns < #tab.names and format(", %d shown", columns) or ""
    lines[#lines + 1] = format("[%s rows × %s columns%s]", grouped(tab.count), grouped(#tab.names), some)
  end
  return concat(lines, "\n")
end

function records.html(tab)
  local before, after = ends(tab, kHtml)
  local columns, left_out = #tab.names < kHtml.columns and #tab.names or kHtml.columns, tab.count - #before - #after
  local parts = { "<table><thead><tr><th></th>" }
  local function add(text) parts[#parts + 1] = text end
  for i = 1, columns do add("<th>" .. svg.escape(tab.names[i]) .. "</th>") end
  add("</tr></thead><tbody>")
  for _, list in ipairs({ before, after }) do
    for _, i in ipairs(list) do
      add(format("<tr><th>%d</th>", i))
      for j = 1, columns do add("<td>" .. svg.escape(cell_text(tab.rows[i][j], kHtml.cell)) .. "</td>") end
      add("</tr>")
    end
    if left_out > 0 and list == before then
      add(format('<tr><td colspan="%d">… %s more rows …</td></tr>', columns + 1, grouped(left_out)))
    end
  end
  add("</tbody></table>")
  if left_out > 0 or columns < #tab.names then
    add(format("<p>%s rows × %s columns</p>", grouped(tab.count), grouped(#tab.names)))
  end
  return concat(parts)
end

return records
