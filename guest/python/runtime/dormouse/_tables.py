# SPDX-License-Identifier: Apache-2.0
"""Tables: values that are rows of equal columns, as text, as HTML and as data.

Records are dicts, named tuples, dataclass instances or sqlite3.Row; a data frame is what has `columns` and `to_dict`,
and a series what has `to_frame`. NumPy's scalars and what pandas puts where nothing is are cells like Python's own.
"""

from dormouse._builtins import __builtins__  # isort: skip

import dataclasses
import datetime
import decimal
import math
from _json import encode_basestring

from _dormouse import call_user

from dormouse._svg import escape

# Cells that are looked at and shown without being asked for, and at most.
FEW_CELLS = 10_000
MOST_CELLS = 200_000
_TEXT_ROWS, _TEXT_TAIL, _TEXT_WIDTH, _CELL_WIDTH = 40, 10, 120, 40
_HTML_ROWS, _HTML_TAIL, _HTML_CELL = 150, 50, 500
_TIMES = (datetime.datetime, datetime.date, datetime.time)
_CELLS = (bool, int, float, str, type(None), decimal.Decimal, *_TIMES)


def is_mapping(value):
    return isinstance(value, dict) or is_series(value)


def is_series(value):
    return hasattr(type(value), "to_frame") and hasattr(type(value), "items")


def is_sequence(value):
    if isinstance(value, (list, tuple, range)):
        return True
    return hasattr(type(value), "__len__") and hasattr(type(value), "__getitem__") and not (
        isinstance(value, (str, bytes, bytearray, dict)) or hasattr(type(value), "to_dict")
    )


class Table:
    """`rows` hold the first of `count` rows."""

    __slots__ = ("names", "rows", "count")

    def __init__(self, names, rows, count):
        self.names = names
        self.rows = rows
        self.count = count


def plain_cell(value):
    """Python's own form of a value, None for the several that say that there is none."""
    kind = type(value)
    if kind in _CELLS or (kind.__module__ or "").partition(".")[0] not in ("numpy", "pandas"):
        return value
    if kind.__name__ in ("NaTType", "NAType") or (kind.__name__ == "datetime64" and value != value):
        return None
    return value.item() if getattr(value, "shape", None) == () and value.dtype.kind in "biufSU" else value


def _record(value):
    """The dict that a record is, or None."""
    kind = type(value)
    if kind is dict:
        return value
    if isinstance(value, tuple) and type(getattr(kind, "_fields", None)) is tuple:
        return dict(zip(kind._fields, value))
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(kind)}
    if kind.__module__ == "sqlite3" and kind.__name__ == "Row":
        return dict(value)
    return None


def _of_columns(columns, limit):
    names = [str(name) for name in columns]
    count = max(map(len, columns.values()), default=0)
    few = min(count, max(limit // max(len(names), 1), 1))
    lists = [[*map(plain_cell, _cells(column)[:few])] for column in columns.values()]
    rows = [[column[i] if i < len(column) else None for column in lists] for i in range(few)]
    return Table(names, rows, count)


def _cells(column):
    return list(column.values() if isinstance(column, dict) else column)


def find_table(value):
    """The table that a list of equal records plainly is, as far as its first rows tell; else None."""
    if type(value) is not list or not value:
        return None
    first = _record(value[0])
    if not first or len(first) > 100 or not all(type(name) is str for name in first):
        return None
    names, kind = list(first), type(value[0])
    few = max(FEW_CELLS // len(names), 1)
    rows = []
    for item in value[:few]:
        if type(item) is not kind:
            return None
        record = _record(item)
        if len(record) != len(names) or not all(name in record for name in names):
            return None
        row = [record[name] for name in names]
        if not all(type(cell) in _CELLS for cell in row):
            return None
        rows.append(row)
    return Table(names, rows, len(value))


def is_frame(value):
    kind = type(value)
    has_columns = hasattr(kind, "to_dict") and (hasattr(kind, "columns") or hasattr(value, "columns"))
    return has_columns and not isinstance(value, type)


def frame_table(value, limit=FEW_CELLS):
    """The table of a data frame."""
    if all(hasattr(type(value), name) for name in ("index", "head", "itertuples")):
        return call_user(_of_pandas, value, limit)
    try:
        answer = call_user(value.to_dict, "list")
    except TypeError:
        answer = call_user(value.to_dict)
    if isinstance(answer, (list, tuple)):
        return _of_records(answer, limit)
    if not isinstance(answer, dict) or not all(hasattr(type(column), "__len__") for column in answer.values()):
        raise TypeError("to_dict() gave no columns")
    return _of_columns(answer, limit)


def _of_pandas(value, limit):
    """With the frame's index as columns, unless that only counts the rows."""
    head = value.head(max(limit // max(len(value.columns), 1), 1))
    levels = list(head.index.names)
    counts = levels == [None] and str(head.index.dtype) == "int64" and list(head.index) == [*range(len(head))]
    names = [_flat_name(name) for name in value.columns]
    columns = [[*map(plain_cell, column)] for column in zip(*head.itertuples(index=False, name=None))]
    columns = columns or [[] for _ in names]
    if not counts:
        keys = [[*map(plain_cell, head.index.get_level_values(i))] for i in range(len(levels))]
        columns = keys + columns
        unnamed = "index" if len(levels) == 1 else "level_{}"
        names = [unnamed.format(i) if name is None else _flat_name(name) for i, name in enumerate(levels)] + names
    columns = [_without_nan(column) for column in columns]
    rows = [list(row) for row in zip(*columns)] if columns else [[] for _ in range(len(head))]
    return Table(_distinct(names), rows, len(value))


def _flat_name(name):
    return "_".join([str(part) for part in name if part != ""]) if isinstance(name, tuple) else str(name)


def _distinct(names):
    """Equal names are numbered, as in columns that pandas reads."""
    used = set(names)
    found = set()
    for i, name in enumerate(names):
        number = 1
        while name in found or (number > 1 and name in used):
            name = f"{names[i]}.{number}"
            number += 1
        found.add(name)
        names[i] = name
    return names


def _without_nan(column):
    """NaN among texts says that there is none."""
    if not any(type(cell) is str for cell in column):
        return column
    return [None if type(cell) is float and cell != cell else cell for cell in column]


def _of_records(values, limit):
    records = []
    names = {}
    for value in values:
        record = _record(value)
        if record is None:
            raise TypeError(f"a {type(value).__name__} is no record of a table")
        names.update(dict.fromkeys(record))
        records.append(record)
    few = max(limit // max(len(names), 1), 1)
    rows = [[plain_cell(record.get(name)) for name in names] for record in records[:few]]
    return Table([str(name) for name in names], rows, len(records))


def as_table(value, limit=MOST_CELLS):
    """The table of a value that its owner calls one. Raises TypeError if it cannot be one."""
    if is_series(value):
        value = call_user(value.to_frame)
    if is_frame(value):
        return frame_table(value, limit)
    if isinstance(value, dict):
        if all(is_sequence(column) or is_mapping(column) for column in value.values()):
            return _of_columns(value, limit)
        return _of_records([value], limit)
    if not is_sequence(value):
        raise TypeError(f"a {type(value).__name__} is no table")
    rows = list(value)
    if rows and _record(rows[0]) is None and all(is_sequence(row) for row in rows):
        width = max(map(len, rows))
        few = max(limit // max(width, 1), 1)
        cells = [[*map(plain_cell, row), *[None] * (width - len(row))] for row in rows[:few]]
        return Table([str(i) for i in range(width)], cells, len(rows))
    return _of_records(rows, limit)


def _kind_of(cells):
    kinds = {bool: "boolean", int: "integer", float: "number", decimal.Decimal: "number", str: "string"}
    found = {kinds.get(type(cell), "datetime" if isinstance(cell, _TIMES) else "any") for cell in cells if cell is not None}
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "any" if found else "string"


def _cell_json(cell, json_text):
    if isinstance(cell, _TIMES):
        return encode_basestring(cell.isoformat())
    if type(cell) is decimal.Decimal:
        return str(cell) if cell.is_finite() and -300 < cell.adjusted() < 300 else "null"
    try:
        return json_text(cell)
    except Exception:
        return encode_basestring(_cell_text(cell, 2000))


def resource(table, orient, json_text):
    """JSON text: a tabular data resource; with orient "columns" its data is an object of columns."""
    kinds = [_kind_of([row[i] for row in table.rows]) for i in range(len(table.names))]
    keys = [encode_basestring(name) for name in table.names]
    fields = ",".join(f'{{"name":{key},"type":"{kind}"}}' for key, kind in zip(keys, kinds))
    cells = [[_cell_json(cell, json_text) for cell in row] for row in table.rows]
    if orient == "columns":
        data = "{" + ",".join(f"{key}:[{','.join([row[i] for row in cells])}]" for i, key in enumerate(keys)) + "}"
    else:
        data = "[" + ",".join("{" + ",".join(map(":".join, zip(keys, row))) + "}" for row in cells) + "]"
    cut = ',"truncated":true' if table.count > len(table.rows) else ""
    return f'{{"schema":{{"fields":[{fields}]}},"data":{data},"rowCount":{table.count}{cut}}}'


def _cell_text(cell, limit):
    if type(cell) is str:
        text = cell[: limit + 1]
    elif cell is None:
        text = ""
    elif type(cell) is float:
        text = f"{cell:.6g}" if math.isfinite(cell) and cell != 0 else str(cell)
    else:
        try:
            text = call_user(str, cell)
        except Exception as error:
            text = f"<{type(cell).__name__}: {type(error).__name__}>"
    text = text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _ends(table, head, tail):
    """The rows to be shown, numbered, as two lists: those before and those after the gap."""
    rows = list(enumerate(table.rows))
    if len(rows) == table.count <= head + tail:
        return rows, []
    if len(rows) < table.count:
        return rows[:head], []
    return rows[:head], rows[-tail:]


def table_text(table):
    """Aligned columns; the middle of many rows, and columns that do not fit, are counted."""
    before, after = _ends(table, _TEXT_ROWS, _TEXT_TAIL)
    numbers = ["", *[str(i) for i, _ in before + after]]
    width = max(map(len, numbers))
    lines = [text.ljust(width) for text in numbers]
    shown = 0
    for i, name in enumerate(table.names):
        cells = [_cell_text(name, _CELL_WIDTH), *[_cell_text(row[i], _CELL_WIDTH) for _, row in before + after]]
        size = max(map(len, cells))
        if shown and width + 2 + size > _TEXT_WIDTH:
            break
        width += 2 + size
        shown += 1
        is_number = _kind_of([row[i] for _, row in before + after]) in ("integer", "number")
        lines = [f"{line}  {cell.rjust(size) if is_number else cell.ljust(size)}" for line, cell in zip(lines, cells)]
    lines = [line.rstrip() for line in lines]
    left_out = table.count - len(before) - len(after)
    if left_out:
        lines.insert(1 + len(before), f"… {left_out:,} more rows …")
    if left_out or shown < len(table.names):
        some = f", {shown} shown" if shown < len(table.names) else ""
        lines.append(f"[{table.count:,} rows × {len(table.names):,} columns{some}]")
    return "\n".join(lines)


def table_html(table):
    before, after = _ends(table, _HTML_ROWS, _HTML_TAIL)
    names = table.names[:200]
    left_out = table.count - len(before) - len(after)
    parts = ["<table><thead><tr><th></th>", *[f"<th>{escape(name)}</th>" for name in names], "</tr></thead><tbody>"]
    for rows in (before, after):
        for i, row in rows:
            cells = [f"<td>{escape(_cell_text(cell, _HTML_CELL))}</td>" for cell in row[: len(names)]]
            parts.append(f"<tr><th>{i}</th>{''.join(cells)}</tr>")
        if left_out and rows is before:
            parts.append(f'<tr><td colspan="{len(names) + 1}">… {left_out:,} more rows …</td></tr>')
    parts.append("</tbody></table>")
    if left_out or len(names) < len(table.names):
        parts.append(f"<p>{table.count:,} rows × {len(table.names):,} columns</p>")
    return "".join(parts)
