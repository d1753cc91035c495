# SPDX-License-Identifier: Apache-2.0
"""chart(): data to the dictionary of a chart, which clients can draw, and to a picture (_svg.py).

The dictionary always has all keys of its type, null where there is nothing to say. docs/outputs.md lists them.
"""

from dormouse._builtins import __builtins__  # isort: skip

import datetime
import math
import re

from dormouse import _svg
from dormouse._scales import linear_ticks, log_ticks, number_text, time_ms, time_text, time_ticks
from dormouse._tables import as_table, is_frame, is_mapping, is_sequence, is_series, plain_cell

MIME = "application/vnd.dormouse.chart.v1+json"
MOST_POINTS = 20_000
MOST_SERIES = 100

_KINDS = {
    "line": "line", "scatter": "scatter", "bar": "bar", "pie": "pie", "histogram": "histogram", "hist": "histogram",
    "box": "box_and_whisker", "box_and_whisker": "box_and_whisker", "heatmap": "heatmap",
}  # fmt: skip


def _number(value):
    """The number that a value is; None where there is none to draw."""
    if value is None or isinstance(value, (str, bytes)):
        return None
    if isinstance(value, bool):
        return int(value)
    try:
        number = value if type(value) is int and value.bit_length() < 54 else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < 1e300 else None


def _is_number(value):
    return isinstance(value, (int, float)) or (hasattr(value, "__float__") and not isinstance(value, str))


def _place(value):
    """A value along the x axis: a number or a text."""
    value = plain_cell(value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return _number(value) if _is_number(value) else str(value)


def _is_pair(value):
    return is_sequence(value) and len(value) == 2


def _points(values):
    """What the values of one series say: pairs as they are, a mapping's items, or numbers by their position."""
    if is_mapping(values):
        pairs = list(values.items())
    else:
        values = [*map(plain_cell, values)]
        pairs = values if values and all(map(_is_pair, values)) else list(enumerate(values))
    return [(_place(x), _number(y)) for x, y in pairs]


def _from_table(table, x, y):
    columns = dict(zip(table.names, zip(*table.rows))) if table.rows else {name: () for name in table.names}
    numeric = [name for name in table.names if any(map(_is_number, columns[name]))]
    if x is None and len(table.names) > 1:
        x = next((name for name in table.names if name not in numeric), table.names[0] if y is None else None)
    y = [name for name in numeric if name != x] if y is None else [y] if isinstance(y, str) else list(y)
    for name in [*([] if x is None else [x]), *y]:
        if name not in columns:
            raise ValueError(f"chart: there is no column {name!r}; there are {', '.join(table.names)}")
    along = range(len(table.rows)) if x is None else columns[x]
    return [(name, [(_place(a), _number(b)) for a, b in zip(along, columns[name])]) for name in y]


def _series(data, x, y):
    """[(name, [(x, y), …]), …] of whatever form of data."""
    if is_series(data):
        return [("" if data.name is None else str(data.name), _points(data))]
    has_records = is_sequence(data) and len(data) and is_mapping(data[0])
    if x is not None or y is not None or has_records or is_frame(data):
        return _from_table(as_table(data), x, y)
    if is_mapping(data) and not all(is_mapping(values) or is_sequence(values) for values in data.values()):
        return [("", _points(data))]
    if is_mapping(data):
        return [(str(name), _points(values)) for name, values in data.items()]
    if is_sequence(data):
        return [("", _points(data))]
    raise TypeError(f"chart: no data in a value of type {type(data).__name__}")


def _unit(label):
    """What an axis' label has in parentheses or brackets."""
    match = re.search(r"\(([^()]*)\)|\[([^\[\]]*)\]", label or "")
    return match and (match[1] if match[1] is not None else match[2])


def _labels(options):
    return {
        "x_label": options["x_label"], "y_label": options["y_label"],
        "x_unit": _unit(options["x_label"]), "y_unit": _unit(options["y_label"]),
    }  # fmt: skip


def _scale_of(values):
    if all(not isinstance(value, str) for value in values):
        return "linear"
    return "datetime" if all(isinstance(value, str) and time_ms(value) is not None for value in values) else "categorical"


def _ticks(scale, values):
    """(values, texts) of an axis' ticks."""
    if scale == "categorical":
        names = list(dict.fromkeys(values))
        return names, names
    if scale == "datetime":
        times = [time_ms(value) for value in values]
        ticks = [(time_text(ms), text) for ms, text in time_ticks(min(times), max(times))] if times else []
    elif scale == "log":
        positive = [value for value in values if value > 0]
        ticks = log_ticks(min(positive), max(positive)) if positive else []
    else:
        ticks = linear_ticks(min(values), max(values)) if values else []
    return [value for value, _ in ticks], [text for _, text in ticks]


def _xy(kind, data, options):
    series = _series(data, options["x"], options["y"])
    along = [x for _, points in series for x, _ in points if x is not None]
    scale = options["x_scale"] or _scale_of(along)
    if scale == "categorical":
        series = [(name, [(None if x is None else _text(x), y) for x, y in points]) for name, points in series]
        along = [_text(x) for x in along]
    heights = [y for _, points in series for _, y in points if y is not None]
    x_ticks, x_texts = _ticks(scale, along)
    y_ticks, y_texts = _ticks(options["y_scale"] or "linear", heights)
    return {
        "type": kind, "title": options["title"], **_labels(options),
        "x_ticks": x_ticks, "y_ticks": y_ticks, "x_tick_labels": x_texts, "y_tick_labels": y_texts,
        "x_scale": scale, "y_scale": options["y_scale"] or "linear",
        "elements": [{"label": name, "points": [list(point) for point in points]} for name, points in series],
    }  # fmt: skip


def _text(value):
    if value is None or isinstance(value, str):
        return value or ""
    return str(int(value)) if abs(value) < 1e15 and value == math.floor(value) else number_text(value)


def _bar(kind, data, options):
    elements = [
        {"label": _text(x), "value": y, "group": name}
        for name, points in _series(data, options["x"], options["y"])
        for x, y in points
    ]
    return {"type": kind, "title": options["title"], **_labels(options), "elements": elements}


def _pie(kind, data, options):
    points = [point for _, points in _series(data, options["x"], options["y"])[:1] for point in points]
    values = [max(y or 0, 0) for _, y in points]
    total = sum(values) or 1
    elements = [{"label": _text(x), "angle": value / total * 360, "radius": 1} for (x, _), value in zip(points, values)]
    return {"type": kind, "title": options["title"], "elements": elements}


def _samples(data, options):
    """(name, sorted numbers) of each series that has any."""
    series = _series(data, options["x"], options["y"])
    samples = [(name, sorted([y for _, y in points if y is not None])) for name, points in series]
    return [(name, numbers) for name, numbers in samples if numbers]


def _quantile(numbers, share):
    at = share * (len(numbers) - 1)
    below = math.floor(at)
    above = min(below + 1, len(numbers) - 1)
    return numbers[below] + (numbers[above] - numbers[below]) * (at - below)


def _box(kind, data, options):
    elements = []
    for name, numbers in _samples(data, options):
        first, median, third = [_quantile(numbers, share) for share in (0.25, 0.5, 0.75)]
        reach = 1.5 * (third - first)
        inside = [number for number in numbers if first - reach <= number <= third + reach]
        elements.append({
            "label": name, "min": inside[0], "first_quartile": first, "median": median, "third_quartile": third,
            "max": inside[-1], "outliers": [number for number in numbers if number < inside[0] or number > inside[-1]],
        })  # fmt: skip
    return {"type": kind, "title": options["title"], **_labels(options), "elements": elements}


def _histogram(kind, data, options):
    samples = _samples(data, options)
    low = min([numbers[0] for _, numbers in samples], default=0)
    high = max([numbers[-1] for _, numbers in samples], default=1)
    if low == high:
        low, high = low - 0.5, high + 0.5
    count = min(max(int(options["bins"]), 1), 1000)
    edges = [low + (high - low) * i / count for i in range(count + 1)]
    elements = []
    for name, numbers in samples:
        heights = [0] * count
        for number in numbers:
            heights[min(math.floor((number - low) / (high - low) * count), count - 1)] += 1
        for i, height in enumerate(heights):
            label = f"{number_text(edges[i])} – {number_text(edges[i + 1])}"
            elements.append({"label": label, "value": height, "group": name})
    return {"type": "bar", "title": options["title"], **_labels(options), "bins": edges, "elements": elements}


def _heatmap(kind, data, options):
    table = None if is_sequence(data) and (not len(data) or is_sequence(data[0])) else as_table(data)
    rows = [list(row) for row in (data if table is None else table.rows)]
    width = max(map(len, rows), default=0)
    columns = options["x_labels"] or (table.names if table else range(width))
    names = options["y_labels"] or range(len(rows))
    columns = [_text(_place(name)) for name in columns][:width]
    names = [_text(_place(name)) for name in names][: len(rows)]
    if len(columns) < width or len(names) < len(rows):
        raise ValueError(f"chart: {len(rows)} rows of {width} need as many labels")
    elements = [
        {"x": column, "y": name, "value": _number(row[i]) if i < len(row) else None}
        for name, row in zip(names, rows)
        for i, column in enumerate(columns)
    ]
    return {
        "type": kind, "title": options["title"], **_labels(options), "x_tick_labels": columns, "y_tick_labels": names,
        "elements": elements,
    }  # fmt: skip


_BUILD = {
    "line": _xy, "scatter": _xy, "bar": _bar, "pie": _pie, "box_and_whisker": _box, "histogram": _histogram,
    "heatmap": _heatmap,
}  # fmt: skip


def _check_size(elements):
    size = sum(len(element.get("points", ())) or 1 for element in elements)
    if size > MOST_POINTS or (len(elements) > MOST_SERIES and "points" in elements[0]):
        limit = f"the limit is {MOST_POINTS} points, {MOST_SERIES} series"
        raise ValueError(f"chart: {size} points in {len(elements)} elements; {limit}")


def summary(chart):
    """What stands for the picture where there is only text."""
    kind = chart["type"].replace("_and_whisker", "")
    title = f"{kind} chart" + (f' "{chart["title"]}"' if chart["title"] else "")
    elements = chart["elements"]
    if kind == "superchart":
        return f"{title}: {'; '.join(map(summary, elements))}"
    if kind in ("line", "scatter"):
        shown = [f"{item['label'] or 'one series'} ({len(item['points'])} points)" for item in elements]
        return f"{title}: {', '.join(shown)}"
    if kind == "bar":
        names = [f"{item['label']} {item['group']}" if item["group"] else item["label"] for item in elements]
        shown = [f"{name} {_text(item['value'])}" for name, item in zip(names, elements)]
    elif kind == "pie":
        shown = [f"{item['label']} {_svg.px(item['angle'] / 3.6)}%" for item in elements]
    elif kind == "box":
        shown = [f"{item['label'] or 'one series'} median {number_text(item['median'])}" for item in elements]
    else:
        return f"{title}: {len(chart['y_tick_labels'])} rows of {len(chart['x_tick_labels'])}"
    more = [f"{len(shown) - 20} more"] if len(shown) > 20 else []
    return f"{title}: {', '.join(shown[:20] + more)}"


class Chart:
    """A chart: `spec` is its dictionary, svg() its picture. Shown as a result or by display()."""

    def __init__(self, spec, width=640, height=400, columns=2):
        self.spec = spec
        self.width, self.height, self.columns = [min(max(int(item), 1), 10_000) for item in (width, height, columns)]

    def __repr__(self):
        return summary(self.spec)

    def svg(self):
        return _svg.draw(self.spec, self.width, self.height, self.columns)

    def _repr_mimebundle_(self, include=None, exclude=None):
        size = {"width": self.width, "height": self.height}
        return {MIME: self.spec, "image/svg+xml": self.svg()}, {"image/svg+xml": size}


def chart(kind, data=None, *, x=None, y=None, title=None, x_label=None, y_label=None, x_scale=None, y_scale=None,
          bins=10, x_labels=None, y_labels=None, columns=2, width=None, height=None):
    """A line, scatter, bar, pie, box, histogram or heatmap chart of numbers, series, columns or records; of a list
    of charts, one picture of them all in `columns` columns.

        chart("line", {"a": [1, 3, 2], "b": [2, 2, 4]}, title="Two lines", y_label="speed (m/s)")
        chart("bar", records, x="month", y=["sales", "costs"])
    """
    options = dict(x=x, y=y, title=title, x_label=x_label, y_label=y_label, x_scale=x_scale, y_scale=y_scale,
                   bins=bins, x_labels=x_labels, y_labels=y_labels)  # fmt: skip
    if isinstance(kind, (list, tuple)):
        parts = [part.spec for part in kind]
        spec = {"type": "superchart", "title": title, "elements": parts}
        rows = -(-len(parts) // columns)
        return Chart(spec, width or 420 * min(columns, max(len(parts), 1)), height or 300 * max(rows, 1), columns)
    for scale in (x_scale, y_scale):
        if scale not in (None, "linear", "log", "datetime", "categorical"):
            raise ValueError(f"chart: unknown scale {scale!r}; known are linear, log, datetime, categorical")
    if kind not in _KINDS:
        raise ValueError(f"chart: unknown type {kind!r}; known are {', '.join(_KINDS)}")
    spec = _BUILD[_KINDS[kind]](_KINDS[kind], data, options)
    _check_size(spec["elements"])
    return Chart(spec, width or 640, height or 400)
