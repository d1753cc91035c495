# SPDX-License-Identifier: Apache-2.0
"""Draws the dictionary of a chart (_charts.py) as an SVG picture: text, lines and areas, nothing that runs.

Every language of Dormouse draws the same picture, byte for byte; tests/charts holds them to it.
"""

from dormouse._builtins import __builtins__  # isort: skip

import math
import re

from dormouse._scales import linear_ticks, log_ticks, number_text, time_ms, time_ticks

COLORS = (
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0",
)  # fmt: skip
_RAMP = ((239, 246, 253), (66, 146, 198), (8, 48, 107))
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CHARACTER = 6.2  # the width of an average one


def escape(text):
    text = _NOT_XML.sub("\ufffd", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def short(text, limit=24):
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def px(value):
    """A length in pixels, to the tenth."""
    tenths = math.floor(value * 10 + 0.5)
    whole, rest = divmod(abs(tenths), 10)
    return f"{'-' if tenths < 0 else ''}{whole}{f'.{rest}' if rest else ''}"


class _Axis:
    """Places values between 0 and 1. `ticks` are (place, text)."""

    def __init__(self, place, ticks):
        self.place = place
        self.ticks = ticks

    def width(self):
        return max([len(text) for _, text in self.ticks], default=0) * _CHARACTER


def _linear(low, high):
    ticks = linear_ticks(low, high)
    first, span = ticks[0][0], ticks[-1][0] - ticks[0][0]
    return _Axis(lambda value: (value - first) / span, [((at - first) / span, text) for at, text in ticks])


def _inner(low, high):
    """An axis from `low` to `high` exactly, with the ticks in between."""
    span = high - low
    places = [((at - low) / span, text) for at, text in linear_ticks(low, high)]
    return _Axis(lambda value: (value - low) / span, [tick for tick in places if -1e-9 <= tick[0] <= 1 + 1e-9])


def _log(low, high):
    ticks = log_ticks(low, high)
    first = math.log10(ticks[0][0])
    span = math.log10(ticks[-1][0]) - first

    def place(value):
        return (math.log10(value) - first) / span

    return _Axis(place, [(place(at), text) for at, text in ticks])


def _times(low, high):
    if low == high:
        low, high = low - 1000, high + 1000
    span = high - low
    ticks = [((at - low) / span, text) for at, text in time_ticks(low, high)]
    return _Axis(lambda text: (time_ms(text) - low) / span, ticks)


def _bands(names):
    count = max(len(names), 1)
    places = {name: (i + 0.5) / count for i, name in enumerate(names)}
    return _Axis(lambda name: places[name], [(places[name], short(name)) for name in places])


def _axis(scale, values, categories):
    if scale == "categorical":
        return _bands(categories)
    if scale == "datetime":
        times = [time_ms(value) for value in values]
        return _times(min(times, default=0), max(times, default=0))
    if scale == "log":
        return _log(min(values, default=1), max(values, default=10))
    return _linear(min(values, default=0), max(values, default=1))


def _numbered(items):
    """Each different item and its place among them."""
    return {item: i for i, item in enumerate(dict.fromkeys(items))}


class _Picture:
    def __init__(self):
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def line(self, x1, y1, x2, y2, color):
        self.add(f'<line x1="{px(x1)}" y1="{px(y1)}" x2="{px(x2)}" y2="{px(y2)}" stroke="{color}"/>')

    def rect(self, x, y, width, height, fill, more=""):
        self.add(f'<rect x="{px(x)}" y="{px(y)}" width="{px(width)}" height="{px(height)}" fill="{fill}"{more}/>')

    def text(self, x, y, text, anchor="middle", more=""):
        self.add(f'<text x="{px(x)}" y="{px(y)}" text-anchor="{anchor}"{more}>{escape(text)}</text>')

    def path(self, data, attributes):
        self.add(f'<path d="{data}" {attributes}/>')


class _Frame:
    """The rectangle that values are drawn in."""

    def __init__(self, picture, chart, width, height):
        self.picture = picture
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 16.0, width - 16.0, 16.0, height - 16.0
        if chart["title"]:
            picture.text(width / 2, 24, short(chart["title"], 80), more=' font-size="15" font-weight="bold"')
            self.top = 40.0

    def legend(self, names):
        """Names of series at the right; none for a single one without a name."""
        if not [name for name in names if name]:
            return
        names = names[:20]
        shown = [short(name) for name in names]
        self.right -= max(map(len, shown)) * _CHARACTER + 26
        for i, name in enumerate(shown):
            self.picture.rect(self.right + 10, self.top + 18 * i, 11, 11, COLORS[i % 10])
            self.picture.text(self.right + 26, self.top + 18 * i + 10, name, "start")

    def x(self, place):
        return self.left + place * (self.right - self.left)

    def y(self, place):
        return self.bottom - place * (self.bottom - self.top)

    def axes(self, chart, x, y):
        """Makes room for the labels of both axes, and draws grid and labels."""
        picture = self.picture
        self.left += y.width() + 8 + (18 if chart["y_label"] else 0)
        slot = (self.right - self.left) / max(len(x.ticks), 1)
        slanted = x.width() + 6 > slot
        if slanted:
            self.left = max(self.left, x.width() * 0.82 - slot / 2)
        self.bottom -= (x.width() * 0.6 + 14 if slanted else 18) + (18 if chart["x_label"] else 0)
        for place, text in y.ticks:
            picture.line(self.left, self.y(place), self.right, self.y(place), "#e4e4e4")
            picture.text(self.left - 6, self.y(place) + 4, text, "end")
        every = max(1, math.ceil(12 / slot)) if slanted else 1
        for place, text in x.ticks[::every]:
            at, below = self.x(place), self.bottom + 16
            picture.line(at, self.bottom, at, self.bottom + 4, "#888")
            if slanted:
                picture.text(at + 4, below, text, "end", f' transform="rotate(-35 {px(at + 4)} {px(below)})"')
            else:
                picture.text(at, below, text)
        picture.line(self.left, self.bottom, self.right, self.bottom, "#888")
        if chart["x_label"]:
            picture.text((self.left + self.right) / 2, self.height - 10, short(chart["x_label"], 80))
        if chart["y_label"]:
            middle = (self.top + self.bottom) / 2
            turned = f' transform="rotate(-90 16 {px(middle)})"'
            picture.text(16, middle, short(chart["y_label"], 60), more=turned)


def _drawn(chart):
    """The points of each series that have a place."""
    logs = [chart["x_scale"] == "log", chart["y_scale"] == "log"]
    series = []
    for element in chart["elements"]:
        points = []
        for point in element["points"]:
            has_place = all(value is not None and not (log and value <= 0) for value, log in zip(point, logs))
            points.append(point if has_place else None)
        series.append(points)
    return series


def _points(frame, chart):
    frame.legend([element["label"] for element in chart["elements"]])
    series = _drawn(chart)
    present = [point for points in series for point in points if point is not None]
    x = _axis(chart["x_scale"], [point[0] for point in present], chart["x_ticks"])
    y = _axis(chart["y_scale"], [point[1] for point in present], chart["y_ticks"])
    frame.axes(chart, x, y)
    for i, points in enumerate(series):
        color = COLORS[i % 10]
        places = [point and f"{px(frame.x(x.place(point[0])))} {px(frame.y(y.place(point[1])))}" for point in points]
        if chart["type"] == "line":
            data, pen_down = "", False
            for place in places:
                if place:
                    data += f"{'L' if pen_down else 'M'}{place}"
                pen_down = place is not None
            frame.picture.path(data, f'fill="none" stroke="{color}" stroke-width="2" stroke-linejoin="round"')
        if chart["type"] == "scatter" or len(points) <= 30:
            size = 7 if chart["type"] == "scatter" else 5
            dots = "".join([f"M{place}h0" for place in places if place])
            frame.picture.path(dots, f'stroke="{color}" stroke-width="{size}" stroke-linecap="round"')


def _bars(frame, chart):
    elements = chart["elements"]
    labels = _numbered([element["label"] for element in elements])
    groups = _numbered([element["group"] for element in elements])
    frame.legend(list(groups))
    values = [element["value"] for element in elements if element["value"] is not None]
    y = _linear(min([0, *values]), max([0, *values]))
    edges = chart.get("bins")
    x = _inner(edges[0], edges[-1]) if edges else _bands(labels)
    frame.axes(chart, x, y)
    for element in elements:
        if element["value"] is None:
            continue
        i, group = labels[element["label"]], groups[element["group"]]
        if edges:
            low, high = frame.x(x.place(edges[i])) + 0.5, frame.x(x.place(edges[i + 1])) - 0.5
        else:
            half = (frame.right - frame.left) / len(labels) * 0.4
            middle = frame.x(x.place(element["label"]))
            low, high = middle - half, middle + half
        width = (high - low) / len(groups)
        top, bottom = frame.y(y.place(max(0, element["value"]))), frame.y(y.place(min(0, element["value"])))
        frame.picture.rect(low + width * group, top, width, bottom - top, COLORS[group % 10])


def _boxes(frame, chart):
    elements = chart["elements"]
    values = [element[key] for element in elements for key in ("min", "max")]
    values += [value for element in elements for value in element["outliers"]]
    x, y = _bands([element["label"] for element in elements]), _linear(min(values), max(values))
    frame.axes(chart, x, y)
    half = (frame.right - frame.left) / len(elements) * 0.3
    for i, element in enumerate(elements):
        color = COLORS[i % 10]
        middle = frame.x((i + 0.5) / len(elements))
        low, first, median, third, high = [
            frame.y(y.place(element[key])) for key in ("min", "first_quartile", "median", "third_quartile", "max")
        ]
        frame.picture.line(middle, low, middle, first, color)
        frame.picture.line(middle, third, middle, high, color)
        for at in (low, high):
            frame.picture.line(middle - half / 2, at, middle + half / 2, at, color)
        frame.picture.rect(middle - half, third, 2 * half, first - third, color, f' fill-opacity="0.4" stroke="{color}"')
        frame.picture.line(middle - half, median, middle + half, median, "#222")
        dots = "".join([f"M{px(middle)} {px(frame.y(y.place(value)))}h0" for value in element["outliers"]])
        if dots:
            frame.picture.path(dots, f'stroke="{color}" stroke-width="5" stroke-linecap="round"')


def _pie(frame, chart):
    elements = chart["elements"]
    frame.legend([f"{short(element['label'], 16)} {px(element['angle'] / 3.6)}%" for element in elements])
    middle, center = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    full = min(frame.right - frame.left, frame.bottom - frame.top) / 2
    start = -90.0
    for i, element in enumerate(elements):
        end = start + element["angle"]
        radius = full * element["radius"]
        fill = f'fill="{COLORS[i % 10]}" stroke="#fff"'
        if element["angle"] >= 359.99:
            frame.picture.add(f'<circle cx="{px(middle)}" cy="{px(center)}" r="{px(radius)}" {fill}/>')
        elif element["angle"] > 0:
            turns = [angle * math.pi / 180 for angle in (start, end)]
            corners = [f"{px(middle + radius * math.cos(turn))} {px(center + radius * math.sin(turn))}" for turn in turns]
            arc = f"A{px(radius)} {px(radius)} 0 {1 if element['angle'] > 180 else 0} 1 {corners[1]}"
            frame.picture.path(f"M{px(middle)} {px(center)}L{corners[0]}{arc}Z", fill)
        start = end


def _shade(place):
    """The colour for a place between 0 and 1."""
    half = 0 if place < 0.5 else 1
    rest = place * 2 - half
    low, high = _RAMP[half], _RAMP[half + 1]
    return "rgb({},{},{})".format(*[math.floor(a + (b - a) * rest + 0.5) for a, b in zip(low, high)])


def _heatmap(frame, chart):
    columns, rows = chart["x_tick_labels"], chart["y_tick_labels"]
    values = [element["value"] for element in chart["elements"] if element["value"] is not None]
    low, high = min(values, default=0), max(values, default=1)
    span = high - low or 1.0
    ends = [number_text(low), number_text(high)]
    frame.right -= max(map(len, ends)) * _CHARACTER + 24
    for i in range(6):
        frame.picture.rect(frame.right + 8, frame.top + 18 * i, 12, 18, _shade(1 - i / 5))
    frame.picture.text(frame.right + 24, frame.top + 10, ends[1], "start")
    frame.picture.text(frame.right + 24, frame.top + 106, ends[0], "start")
    frame.axes(chart, _bands(columns), _bands(rows[::-1]))
    width = (frame.right - frame.left) / max(len(columns), 1)
    height = (frame.bottom - frame.top) / max(len(rows), 1)
    for i, element in enumerate(chart["elements"]):
        x, y = frame.left + width * (i % len(columns)), frame.top + height * (i // len(columns))
        place = None if element["value"] is None else (element["value"] - low) / span
        frame.picture.rect(x, y, width, height, "#eee" if place is None else _shade(place))
        if place is not None and width >= 34 and height >= 16:
            color = ' fill="#fff"' if place > 0.5 else ""
            frame.picture.text(x + width / 2, y + height / 2 + 4, number_text(element["value"]), more=color)


_DRAW = {
    "line": _points, "scatter": _points, "bar": _bars, "box_and_whisker": _boxes, "pie": _pie, "heatmap": _heatmap,
}  # fmt: skip


def _draw(picture, chart, width, height, columns):
    frame = _Frame(picture, chart, width, height)
    if chart["type"] in _DRAW:
        if chart["elements"]:
            _DRAW[chart["type"]](frame, chart)
        return
    parts = chart["elements"]
    rows = max(1, -(-len(parts) // columns))
    across, down = width / columns, (height - frame.top + 16) / rows
    for i, part in enumerate(parts):
        x, y = across * (i % columns), frame.top - 16 + down * (i // columns)
        picture.add(f'<g transform="translate({px(x)} {px(y)})">')
        _draw(picture, part, across, down, 1)
        picture.add("</g>")


def draw(chart, width, height, columns=2):
    """The SVG text of a chart's dictionary."""
    picture = _Picture()
    picture.add(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11" fill="#333">'
    )
    picture.rect(0, 0, width, height, "#fff")
    _draw(picture, chart, width, height, columns)
    picture.add("</svg>")
    return "".join(picture.parts)
