# SPDX-License-Identifier: Apache-2.0
"""Matplotlib and Pillow in the boot image, with all that the first figure costs: fonts found and opened, the parser of
formulas made, the modules of the usual formats imported."""

import io
import os

# Matplotlib asks for this once, and for itself only; a directory of its own in the user's home would be in the way there.
_CONFIGURATION = "/tmp/matplotlib"


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
    _draw()
