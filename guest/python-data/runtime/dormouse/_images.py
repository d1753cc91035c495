# SPDX-License-Identifier: Apache-2.0
"""Pictures of Pillow: as a result, by display() and by Image.show() they are PNG, or JPEG where that is asked for; save()
only saves."""

from dormouse._builtins import __builtins__  # isort: skip

import io

from PIL import Image, ImageShow

from dormouse import _display

# A larger picture is displayed smaller.
MOST_PIXELS = 16_000_000
_PNG_MODES = ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
_ALPHA_MODES = ("PA", "La", "RGBa")


def _displayable(image):
    if image.mode not in _PNG_MODES:
        image = image.convert("RGBA" if image.mode in _ALPHA_MODES else "L" if image.mode == "F" else "RGB")
    pixels = image.width * image.height
    if pixels <= MOST_PIXELS:
        return image
    if image.mode in ("P", "1"):
        image = image.convert("RGBA" if image.mode == "P" else "L")
    shrink = (MOST_PIXELS / pixels) ** 0.5
    return image.resize((max(int(image.width * shrink), 1), max(int(image.height * shrink), 1)), Image.Resampling.NEAREST)


def _bundle(self, include=None, exclude=None):
    mime = "image/jpeg" if include is not None and "image/jpeg" in include else "image/png"
    image, buffer = _displayable(self), io.BytesIO()
    if mime == "image/png":
        image.save(buffer, "PNG")
    else:
        image.convert("RGB").save(buffer, "JPEG")
    return {mime: buffer.getvalue()}, {mime: {"width": self.width, "height": self.height}}


class _Viewer(ImageShow.Viewer):
    def show(self, image, **options):
        _display.display(image)
        return True


def boot():
    Image.Image._repr_mimebundle_ = _bundle
    for name in ("_repr_png_", "_repr_jpeg_"):
        if hasattr(Image.Image, name):
            delattr(Image.Image, name)
    ImageShow.register(_Viewer, 0)
