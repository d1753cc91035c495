# SPDX-License-Identifier: Apache-2.0
"""The dictionary of the chart (_charts.py) that a figure of matplotlib shows, read from the artists of its axes.

Read are lines, dots, bars, histograms, pies, box plots and heat maps; of what shares its axes with one of the later kinds,
only that kind. Axes with none of them, polar ones and those in space are no charts.
"""

from dormouse._builtins import __builtins__  # isort: skip

import numpy
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.container import BarContainer, ErrorbarContainer, StemContainer
from matplotlib.lines import AxLine, Line2D
from matplotlib.patches import Wedge

from dormouse import _charts
from dormouse._figure_axes import AxisReader, plain
from dormouse._figure_notes import notes_of
from dormouse._scales import number_text


class _TooMany(Exception):
    """There are more points than a chart may have."""


def _count(values):
    if len(values) > _charts.MOST_POINTS:
        raise _TooMany
    return values


def _name(artist):
    """The name of a line is that of its error bars or stems, if it has such."""
    containers = artist.axes.containers if isinstance(artist, Line2D) else ()
    kinds = (ErrorbarContainer, StemContainer)
    artist = next((item for item in containers if isinstance(item, kinds) and item[0] is artist), artist)
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else label


def _names(axes, artists):
    """Their names; those of the legend where it has one for each of several that have none of their own."""
    names = list(map(_name, artists))
    legend = axes.get_legend()
    if legend is None or any(names):
        return names
    texts = [text.get_text() for text in legend.get_texts()]
    return texts if len(texts) == len(names) else names


def _title(axes):
    return next(filter(None, map(axes.get_title, ("center", "left", "right"))), None)


class _AxesReader:
    """Reads one pair of axes."""

    def __init__(self, axes):
        self.axes = axes
        self.x, self.y = AxisReader(axes.xaxis), AxisReader(axes.yaxis)

    def chart(self):
        if self.axes.name != "rectilinear":
            return None
        for read in (self._pie, self._boxes, self._histogram, self._bars, self._heatmap, self._points):
            chart = read()
            if chart is not None:
                _charts._check_size(chart["elements"])
                return chart
        return None

    def _made(self, kind, elements, **more):
        labels = _charts._labels({"x_label": self.x.label, "y_label": self.y.label})
        return {"type": kind, "title": _title(self.axes), **labels, **more, "elements": elements}

    def _pie(self):
        wedges = [patch for patch in self.axes.patches if isinstance(patch, Wedge)]
        if not wedges:
            return None
        elements = [
            {"label": name, "angle": plain(abs(wedge.theta2 - wedge.theta1)), "radius": plain(wedge.r)}
            for wedge, name in zip(_count(wedges), _names(self.axes, wedges))
        ]
        return {"type": "pie", "title": _title(self.axes), "elements": elements}

    def _boxes(self):
        elements = []
        for _, (is_vertical, places, boxes) in notes_of(self.axes, "box"):
            along = self.x if is_vertical else self.y
            for place, box in zip(places, boxes):
                keys = ("whislo", "q1", "med", "q3", "whishi")
                low, first, median, third, high = [plain(box[key]) for key in keys]
                elements.append({
                    "label": along.name(place, 1e-6), "min": low, "first_quartile": first, "median": median,
                    "third_quartile": third, "max": high, "outliers": list(map(plain, _count(box.get("fliers", ())))),
                })  # fmt: skip
        return self._made("box_and_whisker", elements) if elements else None

    def _histogram(self):
        notes = notes_of(self.axes, "histogram")
        if not notes:
            return None
        elements = []
        groups = _names(self.axes, [artist for artist, _ in notes])
        for group, (_, (edges, heights)) in zip(groups, notes):
            ends = [number_text(edge) if self.x.meaning == "number" else self.x.place(edge) for edge in edges]
            for i, height in enumerate(_count(heights)):
                label = f"{ends[i]} – {ends[i + 1]}"
                elements.append({"label": label, "value": plain(height), "group": group})
        edges = notes[0][1][0]
        is_shared = all(note[1][0] == edges for note in notes)
        return self._made("bar", elements, **({"bins": list(map(self.x.place, edges))} if is_shared else {}))

    def _bars(self):
        containers = [item for item in self.axes.containers if isinstance(item, BarContainer) and len(item)]
        elements = []
        for container, group in zip(containers, _names(self.axes, containers)):
            is_vertical = container.orientation != "horizontal"
            for bar in _count(container.patches):
                low, size = (bar.get_x(), bar.get_width()) if is_vertical else (bar.get_y(), bar.get_height())
                reader = self.x if is_vertical else self.y
                # Bars of several groups stand beside the tick that names them.
                label = reader.name(low + size / 2, max(abs(size), 0.5) * len(containers) / 2 + 1e-9)
                value = bar.get_height() if is_vertical else bar.get_width()
                elements.append({"label": label, "value": plain(value), "group": group})
        return self._made("bar", elements) if elements else None

    def _cells(self):
        """(values, x, y) of the first picture of numbers: a matrix and the middles of its columns and rows."""
        for image in self.axes.images:
            values = image.get_array()
            if values is not None and values.ndim == 2:
                left, right, bottom, top = image.get_extent()
                first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
                return values, _middles(left, right, values.shape[1]), _middles(first, last, values.shape[0])
        for mesh in self.axes.collections:
            if isinstance(mesh, QuadMesh) and mesh.get_array() is not None:
                corners = mesh.get_coordinates()
                x, y = corners[0, :, 0], corners[:, 0, 1]
                values = mesh.get_array()
                if values.shape == (len(y) - 1, len(x) - 1):
                    return values, (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
        return None

    def _heatmap(self):
        cells = self._cells()
        if cells is None or cells[0].size == 0:
            return None
        values = numpy.ma.filled(numpy.ma.asarray(_fitting(cells[0]), dtype=float), numpy.nan)
        columns = sorted(range(values.shape[1]), key=lambda i: cells[1][i], reverse=self.axes.xaxis_inverted())
        rows = sorted(range(values.shape[0]), key=lambda i: cells[2][i], reverse=not self.axes.yaxis_inverted())
        x_names = [self.x.name(cells[1][i], 1e-6) for i in columns]
        y_names = [self.y.name(cells[2][i], 1e-6) for i in rows]
        elements = [
            {"x": x_name, "y": y_name, "value": plain(values[row, column])}
            for row, y_name in zip(rows, y_names)
            for column, x_name in zip(columns, x_names)
        ]
        return self._made("heatmap", elements, x_tick_labels=x_names, y_tick_labels=y_names)

    def _points(self):
        lines = self._lines()
        clouds = [item for item in self.axes.collections if isinstance(item, PathCollection) and len(item.get_offsets())]
        if not lines and not clouds:
            return None
        series = [line.get_data(orig=False) for line in lines]
        series += [numpy.ma.filled(cloud.get_offsets().astype(float), numpy.nan).T for cloud in clouds]
        elements = [
            {"label": name, "points": [[self.x.place(a), self.y.place(b)] for a, b in zip(_count(x), y)]}
            for name, (x, y) in zip(_names(self.axes, lines + clouds), series)
        ]
        has_lines = any(line.get_linestyle() not in ("None", " ", "") for line in lines)
        axes = {}
        for name, reader in (("x", self.x), ("y", self.y)):
            axes[f"{name}_ticks"] = [reader.place(number) for number, _ in reader.ticks()]
            axes[f"{name}_tick_labels"] = [text for _, text in reader.ticks()]
            axes[f"{name}_scale"] = reader.scale
        return self._made("line" if has_lines and not clouds else "scatter", elements, **axes)

    def _lines(self):
        """The lines that are data: no reference lines, none of error bars."""
        marks = {id(line) for item in self.axes.containers if isinstance(item, ErrorbarContainer) for line in item[1]}
        lines = [
            line
            for line in self.axes.lines
            if line.get_visible() and not isinstance(line, AxLine) and id(line) not in marks
            and line.get_transform() == self.axes.transData and len(line.get_xdata())
        ]  # fmt: skip
        return [line for line in lines if not _is_rule(line)] or lines


def _is_rule(line):
    x, y = line.get_data(orig=False)
    return len(x) == 2 and (x[0] == x[1] or y[0] == y[1])


def _middles(first, last, count):
    step = (last - first) / count
    return [first + step * (i + 0.5) for i in range(count)]


def _fitting(values):
    if values.size > _charts.MOST_POINTS:
        raise _TooMany
    return values


def _is_colorbar(axes):
    return hasattr(axes, "_colorbar") or axes.get_label() == "<colorbar>"


def _read(figure):
    axes = [item for item in figure.get_axes() if item.get_visible() and not _is_colorbar(item)]
    if len(axes) > _charts.MOST_SERIES:
        return None
    charts = [chart for chart in (_AxesReader(item).chart() for item in axes) if chart is not None]
    title = figure.get_suptitle() or None
    if not charts:
        return None
    if len(axes) == 1:
        return {**charts[0], "title": charts[0]["title"] or title}
    return {"type": "superchart", "title": title, "elements": charts}


def chart_of(figure):
    """The dictionary; None if the figure is blank, has too many points, or is not understood."""
    try:
        return _read(figure)
    except Exception:
        return None
