# SPDX-License-Identifier: Apache-2.0
"""Matplotlib and Pillow in the boot image, with all that the first figure costs: fonts found and opened, the parser of
formulas made, the modules of the usual formats imported."""

import io
import os
from contextlib import contextmanager

# Matplotlib asks for this once, and for itself only; a directory of its own in the user's home would be in the way there.
_CONFIGURATION = "/tmp/matplotlib"


@contextmanager
def _files_in_memory():
    """No open file outlives the making of the image, but the fonts do: they read from memory."""
    opened = io.open

    def read(path, *arguments, **options):
        with opened(path, "rb") as file:
            return io.BytesIO(file.read())

    io.open = read
    try:
        yield
    finally:
        io.open = opened


def _draw():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(layout="constrained")
    axes.plot([1, 2], [3, 4], label="$x^2$")
    axes.set(title=r"$\frac{a}{b}$", xlabel="x")
    axes.legend()
    for kind in ("png", "svg"):
        figure.savefig(io.BytesIO(), format=kind)
    pyplot.close(figure)


def boot():
    os.environ["MPLCONFIGDIR"] = _CONFIGURATION
    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont
    import matplotlib.pyplot

    del os.environ["MPLCONFIGDIR"]
    PIL.Image.preinit()
    with _files_in_memory():
        _draw()
