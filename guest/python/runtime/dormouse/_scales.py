# SPDX-License-Identifier: Apache-2.0
"""Numbers and times along the axis of a chart: which ticks it has, where a value lies, how it is written.

Every language of Dormouse has this arithmetic, operation for operation, so that a chart is the same picture in all.
"""

from dormouse._builtins import __builtins__  # isort: skip

import math
import re

_DAY_MS = 86_400_000
_STEPS_S = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800)
_STEPS_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?(?:Z|([+-])(\d\d):?(\d\d))?\Z", re.ASCII
)


def scaled(value, power):
    """value * 10**power, rounded once."""
    return value * 10.0**power if power >= 0 else value / 10.0**-power


def magnitude(value):
    """The power of ten at or below a positive value."""
    power = math.floor(math.log10(value))
    while scaled(1.0, power) > value:
        power -= 1
    while scaled(1.0, power + 1) <= value:
        power += 1
    return power


def decimal(digits, power):
    """digits * 10**power as text, with up to six digits before the point."""
    if digits == 0:
        return "0"
    sign = "-" if digits < 0 else ""
    plain = str(abs(digits))
    text = plain.rstrip("0")
    power += len(plain) - len(text)
    point = len(text) + power
    if point > 6 or point < -3:
        rest = f".{text[1:]}" if len(text) > 1 else ""
        return f"{sign}{text[0]}{rest}e{point - 1}"
    if power >= 0:
        return sign + text + "0" * power
    return sign + (f"{text[:point]}.{text[point:]}" if point > 0 else f"0.{'0' * -point}{text}")


def number_text(value):
    """A number with four digits that count."""
    size = abs(value)
    if size < 1e-300:
        return "0"
    power = magnitude(size)
    digits = math.floor(scaled(size, 3 - power) + 0.5)
    return decimal(-digits if value < 0 else digits, power - 3)


def linear_ticks(low, high, count=5):
    """Round numbers from at or below `low` to at or above `high`: [(number, text), …]."""
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        pad = abs(low) / 2 if low else 1.0
        low, high = low - pad, high + pad
    raw = (high - low) / count
    power = magnitude(raw)
    factor = next(factor for factor in (1, 2, 5, 10) if scaled(factor, power) >= raw * (1 - 1e-9))
    step = scaled(factor, power)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = [factor * i for i in range(first, last + 1)]
    return [(scaled(item, power), decimal(item, power)) for item in digits]


def log_ticks(low, high):
    """Powers of ten around the range of positive numbers."""
    first = magnitude(low)
    last = magnitude(high)
    if scaled(1.0, last) < high or last == first:
        last += 1
    step = (last - first + 7) // 8
    powers = range(first, last + step, step)
    return [(scaled(1.0, power), decimal(1, power)) for power in powers]


def days_of(year, month, day):
    """Days since 1970."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def date_of(days):
    """(year, month, day) of the days since 1970."""
    days += 719468
    era = days // 146097
    of_era = days - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year + era * 400 + (month <= 2), month, day


def time_ms(text):
    """Milliseconds since 1970 of a date or time in ISO 8601; None of any other text."""
    match = _TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = [int(part or 0) for part in match.groups()[:6]]
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    offset = 0
    if match[8]:
        offset = (int(match[9]) * 60 + int(match[10])) * (-1 if match[8] == "-" else 1)
    seconds = hour * 3600 + (minute - offset) * 60 + second
    return days_of(year, month, day) * _DAY_MS + seconds * 1000 + int((match[7] or "0").ljust(3, "0"))


def _date_text(days):
    return "{:04d}-{:02d}-{:02d}".format(*date_of(days))


def _clock_text(ms):
    seconds = ms % _DAY_MS // 1000
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def time_text(ms):
    """The time in ISO 8601, to the second."""
    date = _date_text(ms // _DAY_MS)
    return date if ms % _DAY_MS == 0 else f"{date}T{_clock_text(ms)}"


def time_ticks(low, high):
    """Times between two in milliseconds, at steps that people count in: [(ms, text), …]."""
    for seconds in _STEPS_S:
        step = seconds * 1000
        if high - low <= 6 * step:
            times = range(-(-low // step) * step, high + 1, step)
            if seconds < 86400:
                return [(ms, _clock_text(ms)[: 8 if seconds < 60 else 5]) for ms in times]
            return [(ms, _date_text(ms // _DAY_MS)) for ms in times]
    first = date_of(low // _DAY_MS)
    last = date_of(high // _DAY_MS)
    begin, end = first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1
    step = next((step for step in _STEPS_MONTHS if end - begin <= 6 * step), _STEPS_MONTHS[-1])
    ticks = []
    for month in range(-(-begin // step) * step, end + 1, step):
        ms = days_of(month // 12, month % 12 + 1, 1) * _DAY_MS
        if ms >= low:
            year = f"{month // 12:04d}"
            ticks.append((ms, year if step >= 12 else f"{year}-{month % 12 + 1:02d}"))
    return ticks
