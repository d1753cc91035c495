# SPDX-License-Identifier: Apache-2.0
"""What histograms and box plots were drawn from. Their artists are mere rectangles and lines, so that the first artist of
each carries a note; it goes when the artist goes."""

from dormouse._builtins import __builtins__  # isort: skip

import functools

from matplotlib.axes import Axes

_NAME = "_dormouse_note"


class Note:
    """`kind` is "histogram" or "box"; `data` are plain values. Its class is a module's, so that figures can be pickled."""

    def __init__(self, kind, data):
        self.kind = kind
        self.data = data


def notes_of(axes, kind):
    """(artist, data) of the notes of what is still there, in the order in which it was drawn."""
    notes = [(artist, getattr(artist, _NAME, None)) for artist in axes.get_children()]
    return [(artist, note.data) for artist, note in notes if note is not None and note.kind == kind]


def _attach(artist, kind, data):
    setattr(artist, _NAME, Note(kind, data))


def _hist(hist):
    @functools.wraps(hist)
    def wrapper(self, *arguments, **options):
        counts, edges, patches = result = hist(self, *arguments, **options)
        is_one = getattr(counts, "ndim", 2) == 1
        below = 0  # what those of a stack stand on
        for heights, artists in [(counts, patches)] if is_one else zip(counts, patches):
            if len(artists):
                _attach(artists[0], "histogram", (list(map(float, edges)), list(map(float, heights - below))))
            below = heights if options.get("stacked") or options.get("histtype") == "barstacked" else 0
        return result

    return wrapper


def _bxp(bxp):
    @functools.wraps(bxp)
    def wrapper(self, bxpstats, positions=None, *arguments, **options):
        bxpstats = list(bxpstats)
        artists = bxp(self, bxpstats, positions, *arguments, **options)
        if artists["medians"]:
            is_vertical = options.get("vert") in (None, True) and options.get("orientation") != "horizontal"
            places = range(1, len(bxpstats) + 1) if positions is None else positions
            _attach(artists["medians"][0], "box", (is_vertical, list(map(float, places)), bxpstats))
        return artists

    return wrapper


def boot():
    Axes.hist = _hist(Axes.hist)
    Axes.bxp = _bxp(Axes.bxp)
