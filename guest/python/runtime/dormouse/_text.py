# SPDX-License-Identifier: Apache-2.0
"""Bounded text forms of any value: exactly Python's repr() where that is short, several lines where it is longer than
one, cut in the middle where it is longer than many.

Nothing here raises because of the value it is given, except KeyboardInterrupt and MemoryError.
"""

from dormouse._builtins import __builtins__  # isort: skip

from _dormouse import call_user

# Characters of one result's text; what is longer loses its middle.
TEXT_LIMIT = 20_000
# Items of one container shown before and after the cut.
HEAD_ITEMS = 500
TAIL_ITEMS = 20
DEPTH_LIMIT = 60
# Columns of a line.
WIDTH = 100

_BRACKETS = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
}


class _Full(Exception):
    """The text has reached its limit."""


def cut(text, limit=TEXT_LIMIT):
    """Leaves out the middle of a text that is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    tail = limit // 5
    head = limit - tail
    return f"{text[:head]}\n… {len(text) - head - tail:,} characters left out …\n{text[-tail:]}"


def describe_failure(value, error):
    """What stands in for the repr() of a value that has none."""
    try:
        reason = call_user(str, error)
    except Exception:
        reason = ""
    name = type(value).__name__
    return cut(f"<{name} object; its repr() raised {type(error).__name__}: {reason}>", 2_000)


def safe_repr(value, limit=TEXT_LIMIT):
    """repr(value) within `limit` characters, whatever the value's own __repr__ does; what does not fit on a line is
    broken where its items are."""
    kind = type(value)
    if kind in _BRACKETS and len(value) > 0:
        writer = _Writer(limit)
        shown = []
        try:
            writer.write(value, 0, shown)
        except _Full:
            pass
        return _layout(shown[0], 0)
    return _leaf(value, kind, limit)


def _leaf(value, kind, limit):
    if (kind is str or kind is bytes or kind is bytearray) and len(value) > limit:
        tail = limit // 5
        head = limit - tail
        left_out = len(value) - head - tail
        unit = "characters" if kind is str else "bytes"
        return f"{value[:head]!r} … {left_out:,} {unit} left out … {value[-tail:]!r}"
    try:
        return cut(call_user(repr, value), limit)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        if kind is int:
            return f"<int of {value.bit_length():,} bits; str() refuses it: see sys.set_int_max_str_digits>"
        return describe_failure(value, error)


class _Items:
    """What is shown of a container: texts and containers, in a dict by pairs of key and value."""

    __slots__ = ("opening", "closing", "items", "is_dict", "flat")

    def __init__(self, opening, closing, is_dict):
        self.opening = opening
        self.closing = closing
        self.items = []
        self.is_dict = is_dict
        self.flat = None

    def pairs(self):
        """Of a dict: keys with their values, and marks alone."""
        pairs = [self.items[i : i + 2] for i in range(0, len(self.items), 2)]
        return [pair[:1] if pair[-1] is None else pair for pair in pairs]

    def line(self):
        """The text on one line."""
        if self.flat is None:
            if self.is_dict:
                items = [": ".join(map(_line, pair)) for pair in self.pairs()]
            else:
                items = map(_line, self.items)
            self.flat = f"{self.opening}{', '.join(items)}{self.closing}"
        return self.flat


def _line(node):
    return node if type(node) is str else node.line()


def _layout(node, indent):
    """The text, broken into lines where it is too long for one; the first begins at column `indent`."""
    line = _line(node)
    if type(node) is str or len(line) + indent <= WIDTH:
        return line
    indent += len(node.opening)
    pad = " " * indent
    parts = []
    if node.is_dict:
        for first, *value in node.pairs():
            key = _line(first)
            parts.append(f"{key}: {_layout(value[0], indent + len(key) + 2)}" if value else key)
    elif all(type(item) is str and len(item) <= WIDTH // 3 for item in node.items):
        return f"{node.opening}{_filled(node.items, pad)}{node.closing}"
    else:
        parts = [_layout(item, indent) for item in node.items]
    return f"{node.opening}{f',{chr(10)}{pad}'.join(parts)}{node.closing}"


def _filled(items, pad):
    """Short items, as many on each line as fit."""
    lines, size = [[]], len(pad)
    for item in items:
        size += len(item) + 2
        if size > WIDTH and lines[-1]:
            lines.append([])
            size = len(pad) + len(item) + 2
        lines[-1].append(item)
    return f",\n{pad}".join([", ".join(line) for line in lines])


class _Writer:
    """Takes nested containers item by item, so that only what is shown is ever built."""

    __slots__ = ("left", "open")

    def __init__(self, limit):
        self.left = limit
        self.open = set()

    def put(self, text, into):
        into.append(text)
        self.left -= len(text)
        if self.left < 0:
            raise _Full

    def write(self, value, depth, into):
        kind = type(value)
        brackets = _BRACKETS.get(kind)
        if brackets is None or not value:
            self.put(_leaf(value, kind, max(self.left, 200)), into)
            return
        opening, closing = brackets
        if id(value) in self.open:
            self.put("{...}" if kind is dict else f"{opening}...{closing}", into)
            return
        if depth >= DEPTH_LIMIT:
            self.put(f"{opening}… nested deeper than {DEPTH_LIMIT} …{closing}", into)
            return
        self.open.add(id(value))
        node = _Items(opening, ",)" if kind is tuple and len(value) == 1 else closing, kind is dict)
        into.append(node)
        self.left -= 2
        self.items(value, kind, depth, node.items)
        self.open.discard(id(value))

    def items(self, value, kind, depth, into):
        size = len(value)
        shown = size if size <= HEAD_ITEMS + TAIL_ITEMS else HEAD_ITEMS
        source = value.items() if kind is dict else value
        for count, item in enumerate(list(_first(source, shown))):
            if self.left < 100 and count + 1 < size:
                into.append(f"… {size - count:,} more items …")
                raise _Full
            self.item(item, kind, depth, into)
        if shown < size:
            self.put(f"… {size - shown - TAIL_ITEMS:,} more items …", into)
            if kind is dict:
                into.append(None)
            for item in _last(value, kind):
                self.item(item, kind, depth, into)

    def item(self, item, kind, depth, into):
        self.left -= 2
        if kind is dict:
            self.write(item[0], depth + 1, into)
            item = item[1]
        self.write(item, depth + 1, into)


def _first(source, count):
    for item in source:
        if count <= 0:
            return
        count -= 1
        yield item


def _last(value, kind):
    if kind is list or kind is tuple:
        return value[-TAIL_ITEMS:]
    if kind is dict:
        last = list(_first(reversed(value.items()), TAIL_ITEMS))
        return last[::-1]
    return list(value)[-TAIL_ITEMS:]
