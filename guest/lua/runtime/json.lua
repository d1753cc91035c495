-- SPDX-License-Identifier: Apache-2.0
-- JSON in and out: json.encode(value), json.decode(text), json.null, json.array(table).
--
-- Loaded by cell.lua, which gives it the function that quotes. A table is an array if its keys are 1 to n, or if json.array marked it; an empty one is an object without the mark.
local quote = ...
local byte, find, format, match, sub = string.byte, string.find, string.format, string.match, string.sub
local concat, sort = table.concat, table.sort
local char, tointeger, mathtype = utf8.char, math.tointeger, math.type
local error, getmetatable, next, rawequal, rawget, rawlen, setmetatable, tonumber, tostring, type =
  error, getmetatable, next, rawequal, rawget, rawlen, setmetatable, tonumber, tostring, type

local json = {}
json.null = setmetatable({}, { __name = "json.null", __tostring = function() return "null" end })
local array_mark = { __name = "json.array" }
local null = json.null
local kDepth = 180

function json.array(list) return setmetatable(list or {}, array_mark) end

-- How many elements the table has as an array, or nil.
local function length_of(value)
  local length = rawlen(value)
  local count = 0
  for key in next, value do
    if mathtype(key) ~= "integer" or key < 1 or key > length then return nil end
    count = count + 1
  end
  if count ~= length then return nil end
  if length == 0 and not rawequal(getmetatable(value), array_mark) then return nil end
  return length
end

local function number_text(number)
  if mathtype(number) == "integer" then return format("%d", number) end
  if number ~= number or number == 1 / 0 or number == -1 / 0 then return "null" end
  for digits = 15, 17 do
    local text = format("%." .. digits .. "g", number)
    if tonumber(text) == number then return text end
  end
end

local put

local function put_array(out, value, length, depth)
  for i = 1, length do
    out[#out + 1] = i == 1 and "[" or ","
    put(out, rawget(value, i), depth)
  end
  out[#out + 1] = length == 0 and "[]" or "]"
end

local function put_object(out, value, depth)
  local keys, named = {}, {}
  for key in next, value do
    local name = type(key) == "string" and key or mathtype(key) and tostring(key)
    if not name then error("json.encode: a " .. type(key) .. " cannot be a name", 0) end
    keys[#keys + 1], named[name] = name, key
  end
  sort(keys)
  for i, name in next, keys do
    out[#out + 1] = (i == 1 and "{" or ",") .. quote(name) .. ":"
    put(out, rawget(value, named[name]), depth)
  end
  out[#out + 1] = #keys == 0 and "{}" or "}"
end

put = function(out, value, depth)
  local kind = type(value)
  if value == nil or rawequal(value, null) then
    out[#out + 1] = "null"
  elseif kind == "string" then
    out[#out + 1] = quote(value)
  elseif kind == "number" then
    out[#out + 1] = number_text(value)
  elseif kind == "boolean" then
    out[#out + 1] = value and "true" or "false"
  elseif kind == "table" then
    if depth >= kDepth then error("json.encode: nested too deeply, or in itself", 0) end
    local length = length_of(value)
    if length then put_array(out, value, length, depth + 1) else put_object(out, value, depth + 1) end
  else
    error("json.encode: a " .. kind .. " has no JSON", 0)
  end
end

function json.encode(value)
  local out = {}
  put(out, value, 0)
  return concat(out)
end

-- ── reading

local function fail(text, at, what)
  error(format("json.decode: %s at byte %d", what, at), 0)
end

local kEscapes = { ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

-- The character of `\uXXXX` whose digits begin at `at`, and the position behind it.
local function unicode_at(text, at)
  local digits = match(text, "^%x%x%x%x", at)
  if not digits then fail(text, at, "four hexadecimal digits are expected") end
  local code = tonumber(digits, 16)
  if code < 0xd800 or code > 0xdfff then return char(code), at + 4 end
  local low = match(text, "^\\u([dD][c-fC-F]%x%x)", at + 4)
  if code > 0xdbff or not low then return "\u{fffd}", at + 4 end
  return char(0x10000 + (code - 0xd800) * 0x400 + tonumber(low, 16) - 0xdc00), at + 10
end

-- The string whose first character is at `at`, and the position behind its closing quote.
local function string_at(text, at)
  local pieces
  while true do
    local stop = find(text, '["\\%c]', at)
    if not stop then fail(text, #text + 1, "a string does not end") end
    local what = sub(text, stop, stop)
    local piece = sub(text, at, stop - 1)
    if what == '"' then
      if not pieces then return piece, stop + 1 end
      pieces[#pieces + 1] = piece
      return concat(pieces), stop + 1
    end
    pieces = pieces or {}
    pieces[#pieces + 1] = piece
    if what == "\127" then
      pieces[#pieces + 1], at = what, stop + 1
    elseif what ~= "\\" then
      fail(text, stop, "a control character in a string")
    else
      local escape = sub(text, stop + 1, stop + 1)
      if escape == "u" then
        pieces[#pieces + 1], at = unicode_at(text, stop + 2)
      elseif kEscapes[escape] then
        pieces[#pieces + 1], at = kEscapes[escape], stop + 2
      else
        fail(text, stop, "an unknown escape")
      end
    end
  end
end

local function skip(text, at) return find(text, "[^ \t\r\n]", at) or #text + 1 end

local value_at

local function array_at(text, at, depth)
  local list, count = json.array(), 0
  at = skip(text, at)
  if byte(text, at) == 93 then return list, at + 1 end
  while true do
    count = count + 1
    list[count], at = value_at(text, at, depth)
    at = skip(text, at)
    local mark = byte(text, at)
    if mark == 93 then return list, at + 1 end
    if mark ~= 44 then fail(text, at, "',' or ']' is expected") end
    at = at + 1
  end
end

local function object_at(text, at, depth)
  local object = {}
  at = skip(text, at)
  if byte(text, at) == 125 then return object, at + 1 end
  while true do
    at = skip(text, at)
    if byte(text, at) ~= 34 then fail(text, at, "a name is expected") end
    local name
    name, at = string_at(text, at + 1)
    at = skip(text, at)
    if byte(text, at) ~= 58 then fail(text, at, "':' is expected") end
    object[name], at = value_at(text, at + 1, depth)
    at = skip(text, at)
    local mark = byte(text, at)
    if mark == 125 then return object, at + 1 end
    if mark ~= 44 then fail(text, at, "',' or '}' is expected") end
    at = at + 1
  end
end

local kWords = { ["true"] = true, ["false"] = false, ["null"] = null }

value_at = function(text, at, depth)
  at = skip(text, at)
  local first = sub(text, at, at)
  if first == '"' then return string_at(text, at + 1) end
  if first == "{" or first == "[" then
    if depth >= kDepth then fail(text, at, "nested too deeply") end
    return (first == "{" and object_at or array_at)(text, at + 1, depth + 1)
  end
  local word = match(text, "^%l+", at)
  if word and kWords[word] ~= nil then return kWords[word], at + #word end
  local number = match(text, "^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  if number and tonumber(number) and not find(number, "^-?0%d") and not find(number, "%.$") and not find(number, "%.[eE]") then
    return tointeger(number) or tonumber(number), at + #number
  end
  fail(text, at, at > #text and "the text ends" or "a value is expected")
end

function json.decode(text)
  local value, at = value_at(text, 1, 0)
  at = skip(text, at)
  if at <= #text then fail(text, at, "more text follows") end
  return value
end

return json
