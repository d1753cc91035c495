// SPDX-License-Identifier: Apache-2.0
// Numbers and times along the axis of a chart: which ticks it has, where a value lies, how it is written.
//
// Every language of Dormouse has this arithmetic, operation for operation, so that a chart is the same picture in all.

const kDayMs = 86_400_000;
const kStepsS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800];
const kStepsMonths = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
const kTime = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?(?:Z|([+-])(\d\d):?(\d\d))?$/;

const { floor, ceil, abs, log10, max, min } = Math;
const over = (a, b) => floor(a / b);

// value * 10**power, rounded once.
export const scaled = (value, power) => power >= 0 ? value * 10 ** power : value / 10 ** -power;

// The power of ten at or below a positive value.
export function magnitude(value) {
  let power = floor(log10(value));
  while (scaled(1, power) > value) power--;
  while (scaled(1, power + 1) <= value) power++;
  return power;
}

// digits * 10**power as text, with up to six digits before the point.
export function decimal(digits, power) {
  if (digits === 0) return "0";
  const sign = digits < 0 ? "-" : "";
  const plain = `${abs(digits)}`;
  const text = plain.replace(/0+$/, "");
  power += plain.length - text.length;
  const point = text.length + power;
  if (point > 6 || point < -3) {
    return `${sign}${text[0]}${text.length > 1 ? `.${text.slice(1)}` : ""}e${point - 1}`;
  }
  if (power >= 0) return sign + text + "0".repeat(power);
  return sign + (point > 0 ? `${text.slice(0, point)}.${text.slice(point)}` : `0.${"0".repeat(-point)}${text}`);
}

// A number with four digits that count.
export function numberText(value) {
  const size = abs(value);
  if (size < 1e-300) return "0";
  const power = magnitude(size);
  const digits = floor(scaled(size, 3 - power) + 0.5);
  return decimal(value < 0 ? -digits : digits, power - 3);
}

// Round numbers from at or below `low` to at or above `high`: [[number, text], …].
export function linearTicks(low, high, count = 5) {
  if (high - low <= 1e-9 * max(abs(low), abs(high))) {
    const pad = low !== 0 ? abs(low) / 2 : 1;
    [low, high] = [low - pad, high + pad];
  }
  const raw = (high - low) / count;
  const power = magnitude(raw);
  const factor = [1, 2, 5, 10].find((candidate) => scaled(candidate, power) >= raw * (1 - 1e-9));
  const step = scaled(factor, power);
  const ticks = [];
  const last = ceil(high / step - 1e-9);
  for (let i = floor(low / step + 1e-9); i <= last; i++) {
    ticks.push([scaled(factor * i, power) + 0, decimal(factor * i, power)]);
  }
  return ticks;
}

// Powers of ten around the range of positive numbers.
export function logTicks(low, high) {
  const first = magnitude(low);
  let last = magnitude(high);
  if (scaled(1, last) < high || last === first) last++;
  const step = over(last - first + 7, 8);
  const ticks = [];
  for (let power = first; power < last + step; power += step) ticks.push([scaled(1, power), decimal(1, power)]);
  return ticks;
}

// Days since 1970.
export function daysOf(year, month, day) {
  if (month <= 2) year--;
  const era = over(year, 400);
  const ofEra = year - era * 400;
  const ofYear = over(153 * (month + (month > 2 ? -3 : 9)) + 2, 5) + day - 1;
  return era * 146097 + ofEra * 365 + over(ofEra, 4) - over(ofEra, 100) + ofYear - 719468;
}

// [year, month, day] of the days since 1970.
export function dateOf(days) {
  days += 719468;
  const era = over(days, 146097);
  const ofEra = days - era * 146097;
  const year = over(ofEra - over(ofEra, 1460) + over(ofEra, 36524) - over(ofEra, 146096), 365);
  const ofYear = ofEra - (365 * year + over(year, 4) - over(year, 100));
  let month = over(5 * ofYear + 2, 153);
  const day = ofYear - over(153 * month + 2, 5) + 1;
  month += month < 10 ? 3 : -9;
  return [year + era * 400 + (month <= 2 ? 1 : 0), month, day];
}

// Milliseconds since 1970 of a date or time in ISO 8601; undefined of any other text.
export function timeMs(text) {
  const match = kTime.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const offset = match[8] === undefined ? 0 : (Number(match[9]) * 60 + Number(match[10])) * (match[8] === "-" ? -1 : 1);
  const seconds = hour * 3600 + (minute - offset) * 60 + second;
  return daysOf(year, month, day) * kDayMs + seconds * 1000 + Number((match[7] ?? "0").padEnd(3, "0"));
}

const padded = (number, size) => `${number}`.padStart(size, "0");

function dateText(days) {
  const [year, month, day] = dateOf(days);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

function clockText(ms) {
  const seconds = over(ms - over(ms, kDayMs) * kDayMs, 1000);
  return [over(seconds, 3600), over(seconds, 60) % 60, seconds % 60].map((part) => padded(part, 2)).join(":");
}

// The time in ISO 8601, to the second.
export function timeText(ms) {
  const days = over(ms, kDayMs);
  return days * kDayMs === ms ? dateText(days) : `${dateText(days)}T${clockText(ms)}`;
}

// Times between two in milliseconds, at steps that people count in: [[ms, text], …].
export function timeTicks(low, high) {
  const ticks = [];
  for (const seconds of kStepsS) {
    const step = seconds * 1000;
    if (high - low > 6 * step) continue;
    for (let ms = ceil(low / step) * step; ms <= high; ms += step) {
      ticks.push([ms, seconds < 86400 ? clockText(ms).slice(0, seconds < 60 ? 8 : 5) : dateText(over(ms, kDayMs))]);
    }
    return ticks;
  }
  const [firstYear, firstMonth] = dateOf(over(low, kDayMs));
  const [lastYear, lastMonth] = dateOf(over(high, kDayMs));
  const begin = firstYear * 12 + firstMonth - 1;
  const end = lastYear * 12 + lastMonth - 1;
  const step = kStepsMonths.find((months) => end - begin <= 6 * months) ?? kStepsMonths.at(-1);
  for (let month = ceil(begin / step) * step; month <= end; month += step) {
    const year = over(month, 12);
    const ms = daysOf(year, month - year * 12 + 1, 1) * kDayMs;
    if (ms < low) continue;
    ticks.push([ms, step >= 12 ? padded(year, 4) : `${padded(year, 4)}-${padded(month - year * 12 + 1, 2)}`]);
  }
  return ticks;
}

export const least = (values, fallback) => values.length === 0 ? fallback : values.reduce((a, b) => min(a, b));
export const most = (values, fallback) => values.length === 0 ? fallback : values.reduce((a, b) => max(a, b));
