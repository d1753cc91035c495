-- SPDX-License-Identifier: Apache-2.0
-- How values are shown: tables with what is in them, sorted by key.
local concat, sort = table.concat, table.sort
local byte, find, format, gsub, rep, sub = string.byte, string.find, string.format, string.gsub, string.rep, string.sub
local getmetatable, mathtype, next, rawget, rawlen, tostring, type, utf8len =
  getmetatable, math.type, next, rawget, rawlen, tostring, type, utf8.len

local kDepth, kElements, kWidth, kText = 12, 1000, 80, 1 << 20

local kWords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true until while"):gmatch("%a+") do
  kWords[word] = true
end

local kEscapes = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"' }
local function escape(c) return kEscapes[c] or format("\\x%02x", byte(c)) end

local function quoted(text)
  text = gsub(text, '[%c"\\]', escape)
  if not utf8len(text) then text = gsub(text, "[\x80-\xff]", escape) end
  return '"' .. text .. '"'
end

-- Numbers first, then strings, then what has no order of its own.
local function before(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a == "number" or kind_a == "string" then return a < b end
  return tostring(a) < tostring(b)
end

local show

local function key_text(key, depth, seen)
  if type(key) == "string" and find(key, "^[%a_][%w_]*$") and not kWords[key] then return key end
  return "[" .. show(key, depth, seen) .. "]"
end

local function elements(value, depth, seen)
  local parts, length = {}, rawlen(value)
  for i = 1, length do
    if i > kElements then break end
    parts[i] = show(rawget(value, i), depth, seen)
  end
  local keys = {}
  for key in next, value do
    if not (mathtype(key) == "integer" and key >= 1 and key <= length) then keys[#keys + 1] = key end
  end
  sort(keys, before)
  for _, key in next, keys do
    if #parts > kElements then break end
    parts[#parts + 1] = key_text(key, depth, seen) .. " = " .. show(rawget(value, key), depth, seen)
  end
  local left_out = length + #keys - kElements
  if left_out > 0 then
    for i = #parts, kElements + 1, -1 do parts[i] = nil end
    parts[kElements + 1] = format("… %d more", left_out)
  end
  return parts
end

-- `seen` holds the tables around this one.
show = function(value, depth, seen)
  if type(value) == "string" then return quoted(value) end
  local meta = getmetatable(value)
  if type(value) ~= "table" or type(meta) == "table" and rawget(meta, "__tostring") then return tostring(value) end
  if seen[value] then return "{…}" end
  if next(value) == nil then return "{}" end
  if depth >= kDepth then return "{…}" end
  seen[value] = true
  local parts = elements(value, depth + 1, seen)
  seen[value] = nil
  local line = "{" .. concat(parts, ", ") .. "}"
  if #line + 2 * depth <= kWidth and not find(line, "\n") then return line end
  local indent = rep("  ", depth + 1)
  return "{\n" .. indent .. concat(parts, ",\n" .. indent) .. "\n" .. rep("  ", depth) .. "}"
end

-- The beginning and the end of a text that is too long.
local function cut(text)
  if #text <= kText then return text end
  local half = kText // 2
  return sub(text, 1, half) .. format("\n… %d bytes left out …\n", #text - kText) .. sub(text, -half)
end

-- A string alone is shown as it is, if it is text.
return function(value)
  if type(value) == "string" and (#value > kText or utf8len(value)) then return cut(value) end
  return cut(show(value, 0, {}))
end
