# SPDX-License-Identifier: Apache-2.0
"""Bounded text forms of any value: exactly Python's repr() where that is short, cut in the middle where not.

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
    """repr(value) within `limit` characters, whatever the value's own __repr__ does."""
    kind = type(value)
    if kind in _BRACKETS and len(value) > 0:
        writer = _Writer(limit)
        try:
            writer.write(value, 0)
        except _Full:
            pass
        return "".join(writer.parts)
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


class _Writer:
    """Writes nested containers item by item, so that only what is shown is ever built."""

    __slots__ = ("left", "parts", "open")

    def __init__(self, limit):
        self.left = limit
        self.parts = []
        self.open = set()

    def put(self, text):
        self.parts.append(text)
        self.left -= len(text)
        if self.left < 0:
            raise _Full

    def write(self, value, depth):
        kind = type(value)
        brackets = _BRACKETS.get(kind)
        if brackets is None or not value:
            self.put(_leaf(value, kind, max(self.left, 200)))
            return
        opening, closing = brackets
        if id(value) in self.open:
            self.put("{...}" if kind is dict else f"{opening}...{closing}")
            return
        if depth >= DEPTH_LIMIT:
            self.put(f"{opening}… nested deeper than {DEPTH_LIMIT} …{closing}")
            return
        self.open.add(id(value))
        self.parts.append(opening)
        try:
            self.items(value, kind, depth)
        except _Full:
            self.parts.append(closing)
            raise
        self.put(",)" if kind is tuple and len(value) == 1 else closing)
        self.open.discard(id(value))

    def items(self, value, kind, depth):
        size = len(value)
        shown = size if size <= HEAD_ITEMS + TAIL_ITEMS else HEAD_ITEMS
        source = value.items() if kind is dict else value
        count = 0
        for item in list(_first(source, shown)):
            if self.left < 100 and count + 1 < size:
                self.parts.append(f"{', ' if count else ''}… {size - count:,} more items …")
                raise _Full
            self.item(item, kind, depth, count)
            count += 1
        if shown < size:
            self.put(f", … {size - shown - TAIL_ITEMS:,} more items …")
            for item in _last(value, kind):
                self.item(item, kind, depth, 1)

    def item(self, item, kind, depth, before):
        if before:
            self.put(", ")
        if kind is dict:
            self.write(item[0], depth + 1)
            self.put(": ")
            item = item[1]
        self.write(item, depth + 1)


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
