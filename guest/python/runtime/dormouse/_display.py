# SPDX-License-Identifier: Apache-2.0
"""Rich output: what an object shows of itself, as MIME type -> value, and how that gets to the host.

An object offers forms by the methods that notebooks know: _repr_mimebundle_, _repr_html_, _repr_png_ and so
on. Each output has text/plain; a form that fails is left out, with a line on stderr.
"""

from dormouse._builtins import __builtins__  # isort: skip

import base64
import binascii
import math
import os
import sys
from _json import encode_basestring

from _dormouse import call_user, emit

from dormouse import _charts, _specifications, _tables
from dormouse._text import safe_repr

EMIT_OUTPUT = 1

# Values that also go out as application/json: at most so many nodes and so many characters of strings.
JSON_NODES = 10_000
JSON_CHARACTERS = 200_000
JSON_DEPTH = 50

_FORMS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_gif_", "image/gif"),
    ("_repr_pdf_", "application/pdf"),
    ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
)

# Names of types that display() takes as `format`.
_FORMATS = {
    "text": "text/plain", "plain": "text/plain", "html": "text/html", "markdown": "text/markdown", "md": "text/markdown",
    "latex": "text/latex", "json": "application/json", "svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "pdf": "application/pdf",
    "javascript": "application/javascript",
}  # fmt: skip
_TABLE = "application/vnd.dataresource+json"

# Types that have none of those methods, so that none need be looked for.
_PLAIN = frozenset((int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range))


class _NotJson(Exception):
    """A value has no faithful JSON form within the limits."""


class _JsonWriter:
    """Strict JSON of plain values; NaN and the infinities become null."""

    __slots__ = ("nodes", "characters", "open", "lenient")

    def __init__(self, nodes, characters, lenient):
        self.nodes = nodes
        self.characters = characters
        self.open = set()
        self.lenient = lenient

    def text(self, value):
        self.characters -= len(value)
        if self.characters < 0:
            raise _NotJson
        return encode_basestring(value)

    def write(self, value, depth=0):
        self.nodes -= 1
        if self.nodes < 0 or depth > JSON_DEPTH:
            raise _NotJson
        kind = type(value)
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        if kind is str:
            return self.text(value)
        if kind is int:
            return self.integer(value)
        if kind is float:
            return float.__repr__(value) if math.isfinite(value) else "null"
        if kind is dict or kind is list or kind is tuple:
            return self.container(value, kind, depth)
        if self.lenient and isinstance(value, (str, int, float, dict, list, tuple)):
            for base in (str, int, float, dict, list, tuple):
                if isinstance(value, base):
                    return self.write(base(value), depth)
        raise _NotJson

    def integer(self, value):
        if value.bit_length() > 4096:
            raise _NotJson
        return int.__repr__(value)

    def container(self, value, kind, depth):
        if id(value) in self.open or len(value) > self.nodes:
            raise _NotJson
        self.open.add(id(value))
        if kind is dict:
            parts = []
            for key, item in list(value.items()):
                if type(key) is not str:
                    raise _NotJson
                parts.append(f"{self.text(key)}:{self.write(item, depth + 1)}")
            text = "{" + ",".join(parts) + "}"
        else:
            text = "[" + ",".join([self.write(item, depth + 1) for item in list(value)]) + "]"
        self.open.discard(id(value))
        return text


def json_text(value, nodes=1_000_000, characters=64_000_000, lenient=True):
    """Strict JSON of a value made of plain types; raises _NotJson for any other."""
    return _JsonWriter(nodes, characters, lenient).write(value)


def _complain(value, form, error):
    try:
        print(f"{type(value).__name__}.{form} raised {type(error).__name__}: {error}", file=sys.stderr)
    except Exception:
        pass


def _call_form(value, name, *arguments):
    """The answer of a display method, (data, metadata); None if it has none to give."""
    try:
        answer = call_user(getattr, value, name)
        answer = call_user(answer, *arguments) if callable(answer) else answer
    except Exception as error:
        _complain(value, name, error)
        return None
    if type(answer) is tuple and len(answer) == 2:
        return answer
    return (answer, None) if answer is not None else None


def _encode(mime, value):
    """JSON text of one form; raises _NotJson if the value cannot be one."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return encode_basestring(base64.b64encode(value).decode("ascii"))
    if isinstance(value, str):
        return encode_basestring(str(value))
    if mime == "application/json" or mime.endswith("+json"):
        return json_text(value)
    raise _NotJson


class _Bundle:
    """The forms of one output."""

    __slots__ = ("data", "metadata")

    def __init__(self):
        self.data = {}
        self.metadata = {}

    def add(self, value, form, mime, data, metadata=None):
        try:
            self.data[mime] = _encode(mime, data)
            if metadata:
                self.metadata[mime] = json_text(dict(metadata))
        except Exception as error:
            _complain(value, form, error if not isinstance(error, _NotJson) else TypeError(f"no {mime}"))

    def update(self, value, form, data, metadata):
        if not isinstance(data, dict):
            return
        for mime, item in data.items():
            if item is not None:
                own = metadata.get(mime) if isinstance(metadata, dict) else None
                self.add(value, form, str(mime), item, own if isinstance(own, dict) else None)


def _rich_forms(value, bundle, include, exclude):
    kind = type(value)
    if hasattr(kind, "_repr_mimebundle_"):
        answer = _call_form(value, "_repr_mimebundle_", include, exclude)
        if answer is not None:
            bundle.update(value, "_repr_mimebundle_", *answer)
    for name, mime in _FORMS:
        if mime not in bundle.data and hasattr(kind, name):
            answer = _call_form(value, name)
            if answer is not None and answer[0] is not None:
                bundle.add(value, name, mime, answer[0], answer[1] if isinstance(answer[1], dict) else None)


def _json_form(value, bundle):
    try:
        bundle.data["application/json"] = json_text(value, JSON_NODES, JSON_CHARACTERS, False)
    except _NotJson:
        pass


def _table_forms(table, bundle, orient="records"):
    """Adds what of a table is not there yet."""
    bundle.data.setdefault("text/html", encode_basestring(_tables.table_html(table)))
    if _TABLE not in bundle.data:
        bundle.data[_TABLE] = _tables.resource(table, orient, json_text)


def _plain_forms(value, kind, bundle):
    """Beside the text: JSON, and what a list of records or a dictionary that describes a chart is."""
    _json_form(value, bundle)
    if kind is list:
        table = _tables.find_table(value)
        if table is not None:
            _table_forms(table, bundle)
    elif (mime := _specifications.specification_type(value)) is not None and "application/json" in bundle.data:
        _chart_forms(value, mime, bundle)


def _chart_forms(value, mime, bundle):
    """A dictionary that describes a chart: as it is, and drawn if it is understood."""
    bundle.data[mime] = bundle.data.pop("application/json", None) or json_text(value)
    chart = _specifications.chart_of(value)
    if chart is not None:
        bundle.update(value, "chart", *chart._repr_mimebundle_())


def _described_forms(value, bundle):
    """An object of a library for charts, by the dictionary that it makes of itself. Returns whether it is one."""
    try:
        described = call_user(_specifications.described, value)
        mime = described and _specifications.specification_type(described)
        if mime:
            _chart_forms(described, mime, bundle)
    except Exception as error:
        _complain(value, "to_dict", error)
        return False
    return bool(mime)


def _frame_forms(value, bundle):
    try:
        table = _tables.frame_table(value)
    except Exception as error:
        _complain(value, "to_dict", error)
        return
    if "text/plain" not in bundle.data and type(value).__repr__ is object.__repr__:
        bundle.data["text/plain"] = encode_basestring(_tables.table_text(table))
    _table_forms(table, bundle)


def make_bundle(value, include=None, exclude=None):
    """All forms of a value, encoded: {mime: JSON text}, {mime: JSON text}."""
    bundle = _Bundle()
    kind = type(value)
    if kind not in _PLAIN and not isinstance(value, type):
        if not (_specifications.is_described(kind) and _described_forms(value, bundle)):
            _rich_forms(value, bundle, include, exclude)
        if _tables.is_frame(value):
            _frame_forms(value, bundle)
    elif kind is dict or kind is list:
        _plain_forms(value, kind, bundle)
    if include is not None:
        bundle.data = {mime: data for mime, data in bundle.data.items() if mime in include}
    if exclude is not None:
        bundle.data = {mime: data for mime, data in bundle.data.items() if mime not in exclude}
    if "text/plain" not in bundle.data:
        bundle.data["text/plain"] = encode_basestring(safe_repr(value))
    return bundle


def _object(items):
    return "{" + ",".join([f"{encode_basestring(key)}:{text}" for key, text in items.items()]) + "}"


def flush():
    """Hands the host what user code has written so far, so that the order of all output is right."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and stream is not sys.__stdout__ and stream is not sys.__stderr__:
            try:
                call_user(stream.flush)
            except Exception:
                pass


def send(bundle, is_result, display_id=None, update=False):
    flush()
    place = ""
    if display_id is not None:
        place = f',"displayId":{encode_basestring(display_id)},"update":{"true" if update else "false"}'
    emit(
        EMIT_OUTPUT,
        f'{{"data":{_object(bundle.data)},"metadata":{_object(bundle.metadata)},'
        f'"isResult":{"true" if is_result else "false"}{place}}}',
    )


# Whether the forms are wanted of a cell's value, not of what it displays.
in_result = False


def send_result(value):
    """Shows the value of a cell's last expression."""
    global in_result
    in_result = True
    try:
        if _has_display(value) and _call_form(value, "_ipython_display_") is None:
            return
        bundle = make_bundle(value)
    finally:
        in_result = False
    send(bundle, True)


def _has_display(value):
    """Whether a value displays itself. What Plotly makes does not: it would look for a browser."""
    kind = type(value)
    is_plotly = hasattr(kind, "to_plotly_json")
    return hasattr(kind, "_ipython_display_") and not isinstance(value, type) and not is_plotly


def _raw_bundle(value, metadata):
    bundle = _Bundle()
    bundle.update(value, "display", value, metadata or {})
    if "text/plain" not in bundle.data:
        bundle.data["text/plain"] = encode_basestring(safe_repr(value))
    return bundle


def _label(mime, value):
    """What stands for a value whose form is no text to read."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{mime}, {len(value):,} bytes>"
    return f"<{mime}, {len(value):,} characters>" if isinstance(value, str) else safe_repr(value)


def _offered(value, mime):
    """What an object offers in one format; itself if that is nothing."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, type):
        return value
    if hasattr(kind, "_repr_mimebundle_"):
        answer = call_user(value._repr_mimebundle_, {mime}, None)
        data = answer[0] if type(answer) is tuple else answer
        if isinstance(data, dict) and data.get(mime) is not None:
            return data[mime]
    for name, form in _FORMS:
        if form == mime and hasattr(kind, name):
            answer = _call_form(value, name)
            return answer[0] if answer is not None and answer[0] is not None else value
    return value


def _formatted(value, format, orient):
    """The bundle of a value in one format."""
    bundle = _Bundle()
    if format in ("data", "table"):
        table = _tables.as_table(value)
        bundle.data["text/plain"] = encode_basestring(_tables.table_text(table))
        _table_forms(table, bundle, orient)
        return bundle
    if format == "chart":
        return _chart_bundle(value)
    mime = _FORMATS.get(format, format)
    if not isinstance(mime, str) or "/" not in mime:
        known = ", ".join([*_FORMATS, "data", "chart"])
        raise ValueError(f"display: {format!r} is neither a MIME type nor a known format: {known}")
    whole, value = value, _offered(value, mime)
    try:
        bundle.data[mime] = json_text(value) if mime == "application/json" else _encode(mime, value)
    except _NotJson:
        if mime != "text/plain" and not mime.startswith("text/"):
            raise TypeError(f"display: a {type(value).__name__} cannot be shown as {mime}") from None
        bundle.data[mime] = encode_basestring(safe_repr(value))
    if mime not in ("text/plain", "text/markdown", "text/latex"):
        is_read = mime == "application/json" or value is not whole
        label = safe_repr(whole) if is_read else _label(mime, value)
        bundle.data["text/plain"] = encode_basestring(label)
    return bundle


def _chart_bundle(value):
    if isinstance(value, dict):
        mime = _specifications.specification_type(value)
        value = value if mime is not None else _specifications.own_chart(value)
    if not isinstance(value, (dict, _charts.Chart)):
        raise TypeError(f"display: a {type(value).__name__} is no chart")
    return make_bundle(value)


class DisplayHandle:
    """An output that can be shown anew: update() sends its next state under the same id."""

    def __init__(self, display_id):
        self.display_id = display_id

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"

    def _ipython_display_(self):
        """As the value of a cell it shows nothing: what it stands for was shown."""

    def display(self, value, **options):
        display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        update_display(value, display_id=self.display_id, **options)


def display(*objects, include=None, exclude=None, metadata=None, raw=False, format=None, display_id=None, update=False,
            orient="records", **ignored):
    """Shows objects at once, each in all the forms that it offers.

    With raw=True an object is a dict of MIME type -> data (binary data as bytes or base64 text). With a format (text,
    markdown, html, latex, json, svg, png, jpeg, data, chart or a MIME type) it is data of that type; the rows of "data"
    are records, or columns with orient="columns". With a display_id, True for a new one, it gives a handle whose
    update() shows the next state.
    """
    if orient not in ("records", "columns"):
        raise ValueError(f"display: orient is 'records' or 'columns', not {orient!r}")
    if display_id is not None:
        display_id = binascii.hexlify(os.urandom(8)).decode() if display_id is True else str(display_id)
    for value in objects:
        if raw:
            bundle = _raw_bundle(value, metadata)
        elif format is not None:
            bundle = _formatted(value, format, orient)
        elif _has_display(value):
            value._ipython_display_()
            continue
        else:
            bundle = make_bundle(value, include, exclude)
        if isinstance(metadata, dict) and not raw:
            _add_metadata(bundle, metadata)
        send(bundle, False, display_id, update)
    return DisplayHandle(display_id) if display_id is not None and not update else None


def _add_metadata(bundle, metadata):
    """Metadata by type, or of all types that the bundle has."""
    for name, item in metadata.items():
        if name in bundle.data and isinstance(item, dict):
            bundle.metadata[name] = json_text(item)
        elif isinstance(name, str) and "/" not in name:
            bundle.metadata[name] = json_text(item)


def update_display(value, *, display_id, **options):
    """Shows the new state of what was displayed under that id."""
    display(value, display_id=display_id, update=True, **options)


def clear_output(wait=False):
    """Does nothing: output that was sent cannot be taken back."""
