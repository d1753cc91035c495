# SPDX-License-Identifier: Apache-2.0
"""What the numbers along an axis of a figure mean: numbers, times or names, and the texts at its ticks."""

from dormouse._builtins import __builtins__  # isort: skip

import datetime
import math
import sys

from matplotlib import cbook, dates, ticker
from matplotlib.category import StrCategoryConverter

from dormouse._scales import number_text

_DATE_FORMATTERS = (dates.DateFormatter, dates.AutoDateFormatter, dates.ConciseDateFormatter)
_DATE_CONVERTERS = ("DateConverter", "ConciseDateConverter", "_SwitchableDateConverter", "DatetimeConverter")
_FIXED_FORMATTERS = (ticker.FixedFormatter, ticker.FuncFormatter)


def _meaning(axis):
    """categorical, datetime, period (pandas' times), or number."""
    converter, formatter = axis.get_converter(), axis.get_major_formatter()
    if isinstance(converter, StrCategoryConverter):
        return "categorical"
    if type(formatter).__name__ == "TimeSeries_DateFormatter" and getattr(axis, "freq", None) is not None:
        return "period"
    is_time = type(converter).__name__ in _DATE_CONVERTERS or isinstance(formatter, _DATE_FORMATTERS)
    return "datetime" if is_time else "number"


def _time_text(time):
    """ISO 8601, to the millisecond, no more than it needs."""
    time += datetime.timedelta(microseconds=500)
    if not time.utcoffset():
        time = time.replace(tzinfo=None)
    text = time.isoformat(timespec="milliseconds").replace(".000", "")
    return text.removesuffix("T00:00:00")


def plain(number):
    """A number as JSON has it: integers where it is one, None where there is none."""
    number = float(number)
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


class AxisReader:
    """`scale` is that of the dictionary of a chart."""

    def __init__(self, axis):
        self._axis = axis
        self.meaning = _meaning(axis)
        self.scale = {"number": axis.get_scale(), "period": "datetime"}.get(self.meaning, self.meaning)
        self._names = {}
        if self.meaning == "categorical":
            self._names = {number: str(name) for name, number in axis.units._mapping.items()}
        self.label = axis.get_label_text() or None
        self._ticks = None

    def place(self, number):
        """What a number of matplotlib's stands for; None for a gap."""
        number = plain(number)
        if number is None or self.meaning == "number":
            return number
        if self.meaning == "categorical":
            return self._names.get(round(number))
        if self.meaning == "period":
            period = sys.modules["pandas"].Period(ordinal=int(number), freq=self._axis.freq)
            return _time_text(period.to_timestamp().to_pydatetime(warn=False))
        zone = self._axis.get_units()
        zone = zone if isinstance(zone, datetime.tzinfo) else datetime.timezone.utc
        return _time_text(dates.num2date(number, tz=zone))

    def ticks(self):
        """(number, text) of the ticks that are within the view."""
        if self._ticks is None:
            numbers = self._axis.get_majorticklocs()
            texts = self._axis.get_major_formatter().format_ticks(numbers)
            low, high = sorted(self._axis.get_view_interval())
            slack = (high - low) * 1e-9
            self._ticks = [
                (float(f"{number:.12g}"), cbook.strip_math(text))
                for number, text in zip(numbers, texts)
                if low - slack <= number <= high + slack
            ]
        return self._ticks

    def name(self, number, distance):
        """What stands at a number: the text of a tick that was put there, not further away than `distance`; else the
        number's own."""
        if self.meaning == "number" and isinstance(self._axis.get_major_formatter(), _FIXED_FORMATTERS):
            near = min(self.ticks(), key=lambda tick: abs(tick[0] - number), default=None)
            if near is not None and near[1] and abs(near[0] - number) <= distance:
                return near[1]
        place = self.place(number)
        if place is None or isinstance(place, str):
            return place or ""
        return str(place) if isinstance(place, int) else number_text(place)
