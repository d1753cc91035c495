# SPDX-License-Identifier: Apache-2.0
"""Objects that are data with a type of its own, for display() and as the value of a cell: HTML, Image and so on."""

from dormouse._builtins import __builtins__  # isort: skip


class _Data:
    """Text with a type of its own, from a string or a file."""

    _mime = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if data is None and filename is None and url is not None:
            raise ValueError("there is no network here: give data or filename")
        if filename is not None:
            with open(filename, encoding="utf-8") as file:
                data = file.read()
        self.data = data
        self.filename = filename
        self.metadata = metadata or {}

    def __repr__(self):
        return f"<{type(self).__name__} object>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._mime: self.data}, {self._mime: self.metadata}


class HTML(_Data):
    """HTML text."""

    _mime = "text/html"

    def __html__(self):
        return self.data


class Markdown(_Data):
    """Markdown text."""

    _mime = "text/markdown"


class SVG(_Data):
    """An SVG picture."""

    _mime = "image/svg+xml"


class Latex(_Data):
    """LaTeX text."""

    _mime = "text/latex"


class Math(Latex):
    """A formula in LaTeX, without the dollar signs."""

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._mime: f"$\\displaystyle {self.data.strip('$')}$"}, {}


class Javascript(_Data):
    """JavaScript text; shown, never run here."""

    _mime = "application/javascript"


class Pretty(_Data):
    """Plain text without quotes."""

    def __repr__(self):
        return str(self.data)


class JSON(_Data):
    """A value, or JSON text of one, shown as a tree."""

    _mime = "application/json"

    def __init__(self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root"):
        super().__init__(data, url, filename, metadata)
        self.metadata = {"expanded": expanded, "root": root, **self.metadata}

    def _repr_mimebundle_(self, include=None, exclude=None):
        value = self.data
        if isinstance(value, str):
            from json import loads

            value = loads(value)
        return {self._mime: value}, {self._mime: self.metadata}


_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8", "jpeg"),
    (b"GIF8", "gif"),
    (b"<svg", "svg"),
    (b"<?xml", "svg"),
)


class Image:
    """A picture from bytes or a file: PNG, JPEG, GIF, WebP or SVG."""

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None,
                 alt=None, metadata=None, **ignored):
        if isinstance(data, str) and filename is None and not data.lstrip().startswith("<"):
            data, filename = None, data
        if data is None and filename is None:
            raise ValueError("there is no network here: give data or filename")
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = data.encode() if isinstance(data, str) else bytes(data)
        self.filename = filename
        self.format = (format or self._guess()).lower().replace("jpg", "jpeg")
        self.metadata = dict(metadata or {})
        for key, item in (("width", width), ("height", height), ("alt", alt)):
            if item is not None:
                self.metadata[key] = item

    def _guess(self):
        for start, name in _SIGNATURES:
            if self.data.startswith(start):
                return name
        return "webp" if self.data[8:12] == b"WEBP" else "png"

    def __repr__(self):
        return f"<Image object: {self.format}, {len(self.data):,} bytes>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.format == "svg":
            return {"image/svg+xml": self.data.decode("utf-8", "replace")}, {}
        mime = f"image/{self.format}"
        return {mime: self.data}, {mime: self.metadata}
