# SPDX-License-Identifier: Apache-2.0
"""Matplotlib and Pillow in the boot image, with all that the first figure costs: fonts found and opened, the parser of
formulas made, the modules of the usual formats imported."""

import io
import os
from contextlib import contextmanager

# Matplotlib asks for this once, and for itself only; a directory of its own in the user's home would be in the way there.
_CONFIGURATION = "/tmp/matplotlib"


class _FontInMemory(io.BytesIO):
    def __init__(self, path, mode):
        with io.FileIO(path) as file:
            super().__init__(file.read())
        self.name = path


@contextmanager
def _fonts_in_memory():
    """No open file outlives the making of the image, but fonts do, which are opened by io.open alone."""
    io_open = io.open
    io.open = _FontInMemory
    try:
        yield
    finally:
        io.open = io_open


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
    with _fonts_in_memory():
        _draw()
