-- SPDX-License-Identifier: Apache-2.0
-- The run of a cell: what comes before and after the user's code. All that user code could change is taken hold of here, at
-- boot. Called by driver/driver.c with the functions of driver/native.c.
local native = ...
local concat = table.concat
local find, format, gmatch, match, sub = string.find, string.format, string.gmatch, string.match, string.sub
local error, getmetatable, next, rawget, select, tostring, type =
  error, getmetatable, next, rawget, select, tostring, type
local byte, utf8len, mathtype, randomseed = string.byte, utf8.len, math.type, math.randomseed
local stdout, stderr = io.stdout, io.stderr
local compile, kind, emit, quote = native.compile, native.kind, native.emit, native.quote
local setenv, chdir, getcwd = native.setenv, native.chdir, native.getcwd
local getupvalue, upvaluejoin = debug.getupvalue, debug.upvaluejoin

local json = loadfile("/usr/lib/dormouse/json.lua")(quote)
local show = loadfile("/usr/lib/dormouse/show.lua")()
local scales = loadfile("/usr/lib/dormouse/scales.lua")()
local svg = loadfile("/usr/lib/dormouse/svg.lua")(scales, json.null)
local records = loadfile("/usr/lib/dormouse/records.lua")(scales, svg, json, quote, show)
local charts = loadfile("/usr/lib/dormouse/chart.lua")(scales, svg, records, json)
local specifications = loadfile("/usr/lib/dormouse/specifications.lua")(charts, records)
local array_mark = getmetatable(json.array())
package.preload.json = function() return json end

local kOutput, kError = 1, 2
local cell = {}

-- ── variables that cells have declared outside of all blocks
--
-- Each is an upvalue of its cell's function, which therefore is kept with its number. A later cell that has the name in it is
-- compiled with such an upvalue, too, and the two are joined.

local variables = {}  -- name -> {function, number}
local current, failed = nil, false  -- of this run: the cell's function, and whether it ended in an error

local function variables_in(code)
  local list = {}
  for word in gmatch(code, "[%a_][%w_]*") do
    local variable = variables[word]
    if variable and not list[word] then
      list[word] = variable
      list[#list + 1] = word
      list[#list + 1] = kind(variable[1], variable[2])
    end
  end
  return list
end

local function join(chunk, list)
  for i = 1, #list, 2 do
    local variable = list[list[i]]
    upvaluejoin(chunk, (i + 1) // 2 + 1, variable[1], variable[2])
  end
  return chunk
end

-- After the run. What a cell that failed has not come to set takes no earlier variable's place.
local function keep(chunk, failed)
  for number = 2, 255 do
    local name, value = getupvalue(chunk, number)
    if not name then break end
    if not (failed and value == nil and variables[name]) then variables[name] = { chunk, number } end
  end
end

-- ── environment of one run

local changed, directory = {}, nil

local function begin(request)
  changed, directory = {}, nil
  for name, value in next, request.contextEnv or {} do setenv(name, value) end
  if request.contextCwd then chdir(request.contextCwd) end
  for name, value in next, request.env or {} do changed[name] = setenv(name, value) or false end
  if request.cwd then
    directory = getcwd()
    chdir(request.cwd)
  end
end

function cell.finish()
  for name, value in next, changed do setenv(name, value or nil) end
  if directory then chdir(directory) end
  changed, directory = {}, nil
  if current then keep(current, failed) end
  current, failed = nil, false
end

-- ── compiling

-- An expression is compiled with a value in front of its own, which `show` takes away: a call in last place would
-- otherwise be a tail call, and the cell's line absent from tracebacks.
local kReturn = "return nil, "
local is_expression = false

-- The chunk that the text is if its last expression begins behind `at`, or nil. What comes before must be a chunk by itself.
local function split_at(code, at, name, list)
  local head, tail = sub(code, 1, at), sub(code, at + 1)
  if not find(tail, "%S") then return nil end
  if not compile(kReturn .. tail, name, list) or not compile(head, name, list) then return nil end
  if compile(head .. " @", name, list) then
    -- The beginning ends in a comment, which the end of the line must end.
    if sub(head, -1) ~= "\n" then return nil end
  end
  return compile(head .. kReturn .. tail, name, list)
end

local kSplits = 200

-- `x = 5; x + 1` is no Lua; here its last expression is the result. Where the text is a chunk already, its last line or
-- statement may be a call, whose values are the result, unless the line could go on with what stands before it.
local function with_result(code, name, is_chunk, list)
  local at, tried = #code, 0
  while tried < kSplits do
    while at > 0 and not find(sub(code, at, at), "[\n;]") do at = at - 1 end
    if at == 0 then return nil end
    if not is_chunk or sub(code, at, at) == ";" or find(code, "^%s*[%a_]", at + 1) then
      local chunk = split_at(code, at, name, list)
      if chunk then return chunk end
    end
    at, tried = at - 1, tried + 1
  end
end

local function compile_cell(code, name, list)
  if sub(code, 1, 2) == "#!" then code = "--" .. code end
  local expression = compile(kReturn .. code, name, list)
  local chunk, message
  if not expression then
    chunk, message = compile(code, name, list)
    expression = with_result(code, name, chunk ~= nil, list)
  end
  is_expression = expression ~= nil
  return expression or chunk, message
end

-- Returns the function to call, or nil and what `report` is to be given.
function cell.prepare(text)
  local request = json.decode(text)
  begin(request)
  local list = variables_in(request.code)
  local chunk, message = compile_cell(request.code, "=" .. request.filename, list)
  if chunk then
    current = join(chunk, list)
    return chunk
  end
  return nil, { value = message, syntax = true }
end

-- ── results

local kValues, kCharacters = 5000, 262144

-- Whether the table is of plain values, few enough to be JSON as well.
local function is_plain(value, left, depth)
  if depth > 32 then return false end
  if type(value) ~= "table" then
    left.values = left.values - 1
    if type(value) == "string" then
      left.characters = left.characters - #value
      if not utf8len(value) then return false end
    end
    return type(value) ~= "function" and type(value) ~= "userdata" and type(value) ~= "thread" and left.values >= 0
      and left.characters >= 0
  end
  if getmetatable(value) ~= nil and getmetatable(value) ~= array_mark then return false end
  for key, item in next, value do
    if type(key) ~= "string" and mathtype(key) ~= "integer" then return false end
    if not is_plain(key, left, depth + 1) or not is_plain(item, left, depth + 1) then return false end
  end
  return true
end

-- With a display_id the output may be shown anew: an update stands for what came before it under that id.
local function emit_output(parts, metadata, is_result, options)
  local data, id = {}, options and options.display_id
  for mime, value in next, parts do data[#data + 1] = quote(mime) .. ":" .. value end
  local place = id ~= nil and ',"displayId":' .. quote(tostring(id)) .. ',"update":' .. tostring(options.update == true) or ""
  emit(kOutput, '{"data":{' .. concat(data, ",") .. '},"metadata":' .. metadata .. ',"isResult":' .. tostring(is_result) .. place .. "}")
end

local function chart_parts(chart)
  return {
    ["text/plain"] = quote(tostring(chart)), [charts.mime] = json.encode(chart.spec), ["image/svg+xml"] = quote(chart:svg()),
  }
end

local function add_table(parts, tab, orient)
  parts["text/html"], parts["application/vnd.dataresource+json"] = quote(records.html(tab)), records.resource(tab, orient)
end

-- Of a plain table: JSON, and what a list of records or a table that describes a chart is.
local function add_plain(parts, value)
  local mime = specifications.type(value)
  parts[mime or "application/json"] = json.encode(value)
  local chart = mime and specifications.chart(value)
  for kind, part in next, chart and chart_parts(chart) or {} do parts[kind] = parts[kind] or part end
end

local function parts_of(value)
  if charts.is_chart(value) then return chart_parts(value) end
  local parts = { ["text/plain"] = quote(show(value)) }
  if type(value) ~= "table" then return parts end
  if is_plain(value, { values = kValues, characters = kCharacters }, 0) then add_plain(parts, value) end
  local tab = records.find(value)
  if tab then add_table(parts, tab) end
  return parts
end

-- What is said of the forms of a value: of all, and of a chart the size of its picture.
local function metadata_of(value, given)
  local size = charts.is_chart(value) and { ["image/svg+xml"] = { width = value.width, height = value.height } } or {}
  for key, item in next, given or {} do size[key] = item end
  return json.encode(size)
end

-- What a cell returned: nothing for no value, for nil alone and for what `io.write` returns; several values side by side.
function cell.show(...)
  if is_expression then
    is_expression = false
    return cell.show(select(2, ...))
  end
  local count = select("#", ...)
  if count == 0 or count == 1 and ((...) == nil or (...) == stdout or (...) == stderr) then return end
  if count == 1 then return emit_output(parts_of((...)), metadata_of((...)), true) end
  local shown = { ... }
  for i = 1, count do shown[i] = show(shown[i]) end
  emit_output({ ["text/plain"] = quote(concat(shown, "\t")) }, "{}", true)
end

local kFormats = {
  text = "text/plain", html = "text/html", markdown = "text/markdown", latex = "text/latex", svg = "image/svg+xml",
  png = "image/png", jpeg = "image/jpeg", jpg = "image/jpeg", gif = "image/gif", json = "application/json", md = "text/markdown",
}
local kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(bytes)
  local out = {}
  for at = 1, #bytes, 3 do
    local a, b, c = byte(bytes, at, at + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for i = 0, 3 do
      local index = (bits >> (18 - 6 * i) & 63) + 1
      out[#out + 1] = (i == 2 and not b or i == 3 and not c) and "=" or sub(kDigits, index, index)
    end
  end
  return concat(out)
end

local function format_chart(value)
  if charts.is_chart(value) then return chart_parts(value) end
  if type(value) ~= "table" then error("display: a " .. type(value) .. " is no chart", 0) end
  return specifications.type(value) and parts_of(value) or chart_parts(specifications.own(value))
end

local function format_table(value, orient)
  if orient ~= nil and orient ~= "records" and orient ~= "columns" then
    error("display: orient is records or columns, not " .. tostring(orient), 0)
  end
  local tab = records.of(value)
  local parts = { ["text/plain"] = quote(records.text(tab)) }
  add_table(parts, tab, orient)
  return parts
end

-- The forms of a value in one format; text stands beside what is no text to read.
local function formatted(value, options)
  local mime = kFormats[options.format] or options.format
  if mime == "data" or mime == "table" then return format_table(value, options.orient) end
  if mime == "chart" then return format_chart(value) end
  if type(mime) ~= "string" or not find(mime, "^[%w.+-]+/[%w.+-]+$") then
    local known = concat(records.keys_of(kFormats), ", ")
    error("display: '" .. tostring(mime) .. "' is neither a MIME type nor a known format: " .. known .. ", data, chart", 0)
  end
  if mime == "text/plain" then return { [mime] = quote(show(value)) } end
  if find(mime, "[/+]json$") then return { [mime] = json.encode(value), ["text/plain"] = quote(show(value)) } end
  local text = tostring(value)
  if mime == "text/markdown" or mime == "text/latex" then return { [mime] = quote(text) } end
  local is_text = find(mime, "^text/") or find(mime, "+xml$")
  local label = format("<%s, %d %s>", mime, is_text and utf8len(text) or #text, is_text and "characters" or "bytes")
  return { [mime] = quote(is_text and text or base64(text)), ["text/plain"] = quote(label) }
end

-- display(value, {format = "html", metadata = {…}, display_id = id, update = true}): an output that is not the result.
function display(value, options)
  options = type(options) == "string" and { format = options } or options or {}
  local parts = options.format and formatted(value, options) or parts_of(value)
  emit_output(parts, metadata_of(value, options.metadata), false, options)
end

chart = charts.chart

-- ── errors

local function name_of(value)
  if type(value) ~= "table" then return "Error" end
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name") or rawget(value, "name")
  return type(name) == "string" and name or "Error"
end

local function message_of(value)
  if type(value) == "string" then return value end
  local meta = getmetatable(value)
  if type(value) == "table" and not (type(meta) == "table" and rawget(meta, "__tostring")) then
    local message = rawget(value, "message")
    if type(message) == "string" then return message end
  end
  return show(value)
end

-- The lines of the traceback, without the driver's own at the end.
local function trace_lines(first, trace)
  local lines = {}
  for line in gmatch(first .. "\n" .. (trace or ""), "[^\n]+") do lines[#lines + 1] = line end
  if lines[#lines] == "\t[C]: in ?" then lines[#lines] = nil end
  if lines[#lines] == "stack traceback:" then lines[#lines] = nil end
  for i, line in next, lines do lines[i] = quote(line) end
  return concat(lines, ",")
end

-- Tells of a failure: {value, traceback, syntax}, or a bare value.
function cell.report(failure, stopped, no_memory)
  failed = true
  if type(failure) ~= "table" or failure.traceback == nil and not failure.syntax then failure = { value = failure } end
  local value = failure.value
  local name = stopped and "InterruptedError" or no_memory and "MemoryError" or failure.syntax and "SyntaxError" or name_of(value)
  local whole = stopped and "interrupted" or message_of(value)
  -- Where it was is told by the line number and the traceback.
  local line, message = match(whole, "^cell%-%d+:(%d+): (.*)$")
  if value == "not enough memory" then name = "MemoryError" end
  emit(kError, format('{"name":%s,"message":%s,"traceback":[%s]%s}', quote(name), quote(message or whole),
    trace_lines(name .. ": " .. whole, failure.traceback), line and ',"lineNumber":' .. line or ""))
end

-- ── random numbers

function cell.reseed() randomseed() end

return cell
