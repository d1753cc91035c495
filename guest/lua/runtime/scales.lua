-- SPDX-License-Identifier: Apache-2.0
-- Numbers and times along the axis of a chart: which ticks it has, where a value lies, how it is written.
--
-- Every language of Dormouse has this arithmetic, operation for operation, so that a chart is the same picture in all.
local abs, ceil, floor, log, max = math.abs, math.ceil, math.floor, math.log, math.max
local format, gsub, match, rep, sub = string.format, string.gsub, string.match, string.rep, string.sub
local tonumber = tonumber

local kDayMs = 86400000
local kStepsS = { 1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800 }
local kStepsMonths = { 1, 3, 6, 12, 24, 60, 120, 240, 600, 1200 }

local scales = {}

-- value * 10^power, rounded once.
local function scaled(value, power)
  if power >= 0 then return value * 10.0 ^ power end
  return value / 10.0 ^ -power
end

function scales.log10(value) return log(value, 10) end

-- The power of ten at or below a positive value.
local function magnitude(value)
  local power = floor(log(value, 10))
  while scaled(1.0, power) > value do power = power - 1 end
  while scaled(1.0, power + 1) <= value do power = power + 1 end
  return power
end

-- digits * 10^power as text, with up to six digits before the point.
local function decimal(digits, power)
  if digits == 0 then return "0" end
  local sign = digits < 0 and "-" or ""
  local plain = format("%.0f", abs(digits))
  local text = gsub(plain, "0+$", "")
  power = power + #plain - #text
  local point = #text + power
  if point > 6 or point < -3 then
    return sign .. sub(text, 1, 1) .. (#text > 1 and "." .. sub(text, 2) or "") .. format("e%d", point - 1)
  end
  if power >= 0 then return sign .. text .. rep("0", power) end
  return sign .. (point > 0 and sub(text, 1, point) .. "." .. sub(text, point + 1) or "0." .. rep("0", -point) .. text)
end

-- A number with four digits that count.
function scales.number_text(value)
  local size = abs(value)
  if size < 1e-300 then return "0" end
  local power = magnitude(size)
  local digits = floor(scaled(size, 3 - power) + 0.5)
  return decimal(value < 0 and -digits or digits, power - 3)
end

-- Round numbers from at or below `low` to at or above `high`: {{number, text}, …}.
function scales.linear_ticks(low, high)
  if high - low <= 1e-9 * max(abs(low), abs(high)) then
    local pad = low ~= 0 and abs(low) / 2 or 1.0
    low, high = low - pad, high + pad
  end
  local raw = (high - low) / 5
  local power = magnitude(raw)
  local factor = 1
  for _, candidate in ipairs({ 1, 2, 5, 10 }) do
    factor = candidate
    if scaled(candidate, power) >= raw * (1 - 1e-9) then break end
  end
  local step = scaled(factor, power)
  local ticks = {}
  for i = floor(low / step + 1e-9), ceil(high / step - 1e-9) do
    ticks[#ticks + 1] = { scaled(factor * i, power), decimal(factor * i, power) }
  end
  return ticks
end

-- Powers of ten around the range of positive numbers.
function scales.log_ticks(low, high)
  local first, last = magnitude(low), magnitude(high)
  if scaled(1.0, last) < high or last == first then last = last + 1 end
  local step = (last - first + 7) // 8
  local ticks = {}
  for power = first, last + step - 1, step do ticks[#ticks + 1] = { scaled(1.0, power), decimal(1, power) } end
  return ticks
end

-- Days since 1970.
local function days_of(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = year // 400
  local of_era = year - era * 400
  local of_year = (153 * (month + (month > 2 and -3 or 9)) + 2) // 5 + day - 1
  return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
end

-- Year, month and day of the days since 1970.
local function date_of(days)
  days = days + 719468
  local era = days // 146097
  local of_era = days - era * 146097
  local year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
  local of_year = of_era - (365 * year + year // 4 - year // 100)
  local month = (5 * of_year + 2) // 153
  local day = of_year - (153 * month + 2) // 5 + 1
  month = month + (month < 10 and 3 or -9)
  return year + era * 400 + (month <= 2 and 1 or 0), month, day
end

-- Milliseconds since 1970 of a date or time in ISO 8601; nil of any other text.
function scales.time_ms(text)
  local year, month, day, rest = match(text, "^(%d%d%d%d)%-(%d%d)%-(%d%d)(.*)$")
  if not year then return nil end
  local hour, minute, second, fraction = 0, 0, 0, "0"
  local h, m, after = match(rest, "^[T ](%d%d):(%d%d)(.*)$")
  if h then
    hour, minute, rest = tonumber(h), tonumber(m), after
    local s, more = match(rest, "^:(%d%d)(.*)$")
    if s then
      second, rest = tonumber(s), more
      local digits, end_ = match(rest, "^%.(%d+)(.*)$")
      if digits then fraction, rest = digits, end_ end
    end
  end
  local sign, hours, minutes = match(rest, "^([+-])(%d%d):?(%d%d)$")
  if not sign and rest ~= "" and rest ~= "Z" then return nil end
  month, day = tonumber(month), tonumber(day)
  if month < 1 or month > 12 or day < 1 or day > 31 then return nil end
  local offset = sign and (tonumber(hours) * 60 + tonumber(minutes)) * (sign == "-" and -1 or 1) or 0
  local seconds = hour * 3600 + (minute - offset) * 60 + second
  return days_of(tonumber(year), month, day) * kDayMs + seconds * 1000 + tonumber(sub(fraction .. "00", 1, 3))
end

local function date_text(days) return format("%04d-%02d-%02d", date_of(days)) end

local function clock_text(ms)
  local seconds = ms % kDayMs // 1000
  return format("%02d:%02d:%02d", seconds // 3600, seconds // 60 % 60, seconds % 60)
end

-- The time in ISO 8601, to the second.
function scales.time_text(ms)
  local date = date_text(ms // kDayMs)
  return ms % kDayMs == 0 and date or date .. "T" .. clock_text(ms)
end

local function month_ticks(low, high)
  local first_year, first_month = date_of(low // kDayMs)
  local last_year, last_month = date_of(high // kDayMs)
  local first, last = first_year * 12 + first_month - 1, last_year * 12 + last_month - 1
  local step = kStepsMonths[#kStepsMonths]
  for i = #kStepsMonths, 1, -1 do
    if last - first <= 6 * kStepsMonths[i] then step = kStepsMonths[i] end
  end
  local ticks = {}
  for month = -(-first // step) * step, last, step do
    local ms = days_of(month // 12, month % 12 + 1, 1) * kDayMs
    local text = step >= 12 and format("%04d", month // 12) or format("%04d-%02d", month // 12, month % 12 + 1)
    if ms >= low then ticks[#ticks + 1] = { ms, text } end
  end
  return ticks
end

-- Times between two in milliseconds, at steps that people count in: {{ms, text}, …}.
function scales.time_ticks(low, high)
  for _, seconds in ipairs(kStepsS) do
    local step, ticks = seconds * 1000, {}
    if high - low <= 6 * step then
      for ms = -(-low // step) * step, high, step do
        local text = seconds < 86400 and sub(clock_text(ms), 1, seconds < 60 and 8 or 5) or date_text(ms // kDayMs)
        ticks[#ticks + 1] = { ms, text }
      end
      return ticks
    end
  end
  return month_ticks(low, high)
end

-- The least and the greatest of a list, nil if it is empty.
function scales.range(list)
  local low, high
  for _, value in ipairs(list) do
    if not low or value < low then low = value end
    if not high or value > high then high = value end
  end
  return low, high
end

return scales
