# SPDX-License-Identifier: Apache-2.0
"""Figures of matplotlib: those that pyplot has open are displayed by plt.show() and at the end of a run, and closed.

A figure that the run has displayed is displayed again only if it has changed since, or when display() asks for it. Its
forms are its repr(), the picture in the formats of figure_formats(), and what of it is understood as a chart.
"""

from dormouse._builtins import __builtins__  # isort: skip

import functools
import io
import math
from contextlib import contextmanager
from weakref import WeakSet

import matplotlib
from _dormouse import call_user
from matplotlib import _api, animation, pyplot
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureCanvasBase, FigureManagerBase
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

import dormouse
from dormouse import _cell, _charts, _display, _figure_charts, _figure_notes
from dormouse._text import safe_repr

# A picture of more gets fewer dots per inch.
MOST_PIXELS = 16_000_000
MOST_BYTES = 12 << 20
# Around what is drawn, in inches.
_MARGIN = 0.1
_MIMES = {"png": "image/png", "svg": "image/svg+xml", "jpeg": "image/jpeg"}
_DEFAULTS = {"animation.html": "jshtml", "animation.embed_limit": 8.0, "svg.hashsalt": "dormouse"}


class _State:
    """What of a run's figures has been displayed."""

    def __init__(self):
        self.formats = ("png",)
        self.displayed = WeakSet()
        self.last_closed = None


_state = _State()


def figure_formats(*formats):
    """Chooses how figures are displayed from now on: "png", "svg" or "jpeg", or several of them."""
    unknown = [name for name in formats if name not in _MIMES]
    if unknown or not formats:
        raise ValueError(f"figure_formats: {', '.join(map(repr, unknown)) or 'nothing'}; known are png, svg, jpeg")
    _state.formats = formats


def _box(figure):
    """What is drawn, in inches; what lies further away than the figure is wide or high is left out."""
    own = figure.bbox_inches
    tight = figure.get_tightbbox()
    if not all(map(math.isfinite, tight.extents)) or tight.width <= 0 or tight.height <= 0:
        return own
    most = Bbox.from_extents(-own.width, -own.height, 2 * own.width, 2 * own.height)
    return Bbox.intersection(tight.padded(_MARGIN), most) or own


def _save(figure, format, box, dpi):
    buffer = io.BytesIO()
    metadata = {"metadata": {"Date": None}} if format == "svg" else {}
    figure.savefig(buffer, format=format, dpi=dpi, bbox_inches=box, **metadata)
    return buffer.getvalue()


def _picture(figure, format, box):
    dpi = min(figure.dpi, math.sqrt(MOST_PIXELS / (box.width * box.height)))
    data = _save(figure, format, box, dpi)
    while len(data) > MOST_BYTES and format != "svg" and dpi > 10:
        dpi /= 2
        data = _save(figure, format, box, dpi)
    return data.decode() if format == "svg" else data


@contextmanager
def _bounded(figure):
    """Fewer dots per inch while a very large figure is drawn."""
    own = figure.dpi
    most = math.sqrt(MOST_PIXELS / (figure.get_figwidth() * figure.get_figheight()))
    if own > most:
        figure.dpi = most
    try:
        yield
    finally:
        if own > most:
            figure.dpi = own


def _drawn(figure, formats):
    # Drawn once without a result: layouts settle, and animations set up their first frame.
    figure.draw_without_rendering()
    box = _box(figure)
    forms = {_MIMES[name]: _picture(figure, name, box) for name in formats}
    chart = _figure_charts.chart_of(figure)
    if chart is not None:
        forms[_charts.MIME] = chart
    return forms


def _forms(figure, formats):
    """{MIME type: data}."""
    with _bounded(figure):
        forms = _drawn(figure, formats)
    figure.stale = False
    _state.displayed.add(figure)
    return forms


def _is_new(figure):
    """Whether the run has not displayed it, or it has changed since."""
    return figure not in _state.displayed or figure.stale


def _figure_bundle(self, include=None, exclude=None):
    if _display.in_result and not _is_new(self):
        return {}, {}
    asked = [name for name in _MIMES if include is not None and _MIMES[name] in include]
    return _forms(self, asked or _state.formats), {}


def _is_blank(figure):
    return all(child is figure.patch for child in figure.get_children())


def _show(figure):
    if _is_new(figure) and not _is_blank(figure):
        _display.display({"text/plain": safe_repr(figure), **call_user(_forms, figure, _state.formats)}, raw=True)


def _show_and_close():
    """Displays what pyplot has open, in the order of the figures' numbers. Raises the first error of a drawing."""
    failure = None
    try:
        for manager in Gcf.get_all_fig_managers():
            figure = manager.canvas.figure
            try:
                _show(figure)
                _state.last_closed = _state.last_closed if _is_blank(figure) else figure
            except Exception as error:
                failure = failure or error
    finally:
        Gcf.destroy_all()
    if failure is not None:
        raise failure


class Manager(FigureManagerBase):
    """What pyplot has for each figure, whatever the backend."""

    def show(self):
        """Figure.show(): displays it now; it stays open."""
        _show(self.canvas.figure)

    @classmethod
    def pyplot_show(cls, *arguments, block=None, **options):
        """plt.show(). One that is not to block leaves the figures open, to be displayed at the end of the run."""
        if block is not False:
            _show_and_close()


def _finish(was_stopped):
    """The end of a run. One that was stopped displays nothing more."""
    try:
        if was_stopped:
            Gcf.destroy_all()
        elif Gcf.figs:
            _show_and_close()
    finally:
        _state.displayed.clear()
        _state.last_closed = None


def _saving_what_was_shown(savefig):
    """plt.savefig() after plt.show() means the figure that was shown, not a new and empty one."""

    @functools.wraps(savefig)
    def wrapper(*arguments, **options):
        if not Gcf.figs and _state.last_closed is not None:
            return _state.last_closed.savefig(*arguments, **options)
        return savefig(*arguments, **options)

    return wrapper


def _leaving_it_unchanged(savefig):
    """Figure.savefig() itself does not make a figure one that has changed."""

    @functools.wraps(savefig)
    def wrapper(self, *arguments, **options):
        stale = self.stale
        try:
            return savefig(self, *arguments, **options)
        finally:
            self.stale = stale

    return wrapper


def _closing_its_figure(repr_html):
    """An animation that is displayed stands for its figure."""

    @functools.wraps(repr_html)
    def wrapper(self):
        html = repr_html(self)
        if html is not None:
            pyplot.close(self._fig)
        return html

    return wrapper


def boot():
    FigureCanvasBase.manager_class = _api.classproperty(lambda cls: Manager)
    Figure._repr_mimebundle_ = _figure_bundle
    Figure.savefig = _leaving_it_unchanged(Figure.savefig)
    pyplot.savefig = _saving_what_was_shown(pyplot.savefig)
    animation.Animation._repr_html_ = _closing_its_figure(animation.Animation._repr_html_)
    for defaults in (matplotlib.rcParams, matplotlib.rcParamsDefault, matplotlib.rcParamsOrig):
        defaults.update(_DEFAULTS)
    _figure_notes.boot()
    pyplot.switch_backend("agg")
    dormouse.figure_formats = figure_formats
    _cell.finishing.append(_finish)
