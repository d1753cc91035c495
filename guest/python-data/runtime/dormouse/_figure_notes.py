# SPDX-License-Identifier: Apache-2.0
"""What histograms and box plots were drawn from. Their artists are mere rectangles and lines, so that the first artist of
each carries a note; it goes when the artist goes."""

from dormouse._builtins import __builtins__  # isort: skip

import functools
from contextlib import suppress

from matplotlib.axes import Axes

_NAME = "_dormouse_note"


def notes_of(axes, kind):
    """(artist, data) of the notes of what is still there, in the order in which it was drawn."""
    notes = [(artist, getattr(artist, _NAME, None)) for artist in axes.get_children()]
    return [(artist, note[1]) for artist, note in notes if note is not None and note[0] == kind]


def _attach(artist, kind, data):
    # Of plain values: a pickle of the figure can be loaded elsewhere.
    setattr(artist, _NAME, (kind, data))


def _note_histogram(result, stacked):
    counts, edges, patches = result
    is_one = getattr(counts, "ndim", 2) == 1
    below = 0  # what those of a stack stand on
    for heights, artists in [(counts, patches)] if is_one else zip(counts, patches):
        if len(artists):
            _attach(artists[0], "histogram", (list(map(float, edges)), list(map(float, heights - below))))
        below = heights if stacked else 0


def _note_boxes(artists, boxes, positions, options):
    if artists["medians"]:
        is_vertical = options.get("vert") in (None, True) and options.get("orientation") != "horizontal"
        places = range(1, len(boxes) + 1) if positions is None else positions
        _attach(artists["medians"][0], "box", (is_vertical, list(map(float, places)), boxes))


def _hist(hist):
    @functools.wraps(hist)
    def wrapper(self, *arguments, **options):
        result = hist(self, *arguments, **options)
        with suppress(Exception):
            _note_histogram(result, options.get("stacked") or options.get("histtype") == "barstacked")
        return result

    return wrapper


def _bxp(bxp):
    @functools.wraps(bxp)
    def wrapper(self, bxpstats, positions=None, *arguments, **options):
        boxes = list(bxpstats)
        artists = bxp(self, boxes, positions, *arguments, **options)
        with suppress(Exception):
            _note_boxes(artists, boxes, positions, options)
        return artists

    return wrapper


def boot():
    Axes.hist = _hist(Axes.hist)
    Axes.bxp = _bxp(Axes.bxp)
