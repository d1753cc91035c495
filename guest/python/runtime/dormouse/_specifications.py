# SPDX-License-Identifier: Apache-2.0
"""Dictionaries that describe charts in the words of Vega-Lite, Vega or Plotly, and objects that make such: what they
are, and the chart() of those that need no more than their own data."""

from dormouse._builtins import __builtins__  # isort: skip

import array
import base64
import datetime

from dormouse._charts import Chart, chart

_MARKS = {
    "line": "line", "area": "line", "point": "scatter", "circle": "scatter", "square": "scatter", "bar": "bar",
    "arc": "pie", "boxplot": "box",
}  # fmt: skip


def specification_type(value):
    """The MIME type of a dictionary that describes a chart; None of any other."""
    schema = value.get("$schema")
    if type(schema) is str:
        if "vega-lite" in schema:
            return "application/vnd.vegalite.v5+json"
        return "application/vnd.vega.v5+json" if "/vega/" in schema else None
    is_plotly = type(value.get("data")) is list and type(value.get("layout")) is dict
    return "application/vnd.plotly.v1+json" if is_plotly else None


def is_described(kind):
    """Whether objects of this type may be charts of Plotly or Altair."""
    return hasattr(kind, "to_plotly_json") or (hasattr(kind, "to_dict") and hasattr(kind, "_repr_mimebundle_"))


def described(value):
    """The dictionary that describes a chart object; None if it is none."""
    made = value.to_plotly_json() if hasattr(type(value), "to_plotly_json") else value.to_dict()
    if type(made) is not dict or not ("$schema" in made or "layout" in made):
        return None
    return _plain(made)


# Plotly's arrays: {"dtype": "f8", "bdata": base64, "shape": "2, 3"}, by the codes of the array module.
_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}


def _numbers(value):
    numbers = list(array.array(_CODES[value["dtype"]], base64.b64decode(value["bdata"])))
    _, _, width = str(value.get("shape", "")).partition(",")
    return [numbers[i : i + int(width)] for i in range(0, len(numbers), int(width))] if width else numbers


def _plain(value):
    """Made of what JSON has."""
    if isinstance(value, dict):
        if value.get("dtype") in _CODES and "bdata" in value:
            return _numbers(value)
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(type(value), "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    return value


def chart_of(value):
    """The Chart that a dictionary describes; None if that takes more than is known here."""
    try:
        return _vega_lite(value) if "$schema" in value else _plotly(value)
    except Exception:
        return None


def own_chart(value):
    """The Chart of a dictionary as chart() makes them."""
    try:
        made = Chart(value)
        made.svg()
    except Exception:
        raise ValueError("display: this is no dictionary of a chart") from None
    return made


def _title(value):
    return value.get("text") if isinstance(value, dict) else value


def _vega_lite(spec):
    mark = spec["mark"]["type"] if isinstance(spec["mark"], dict) else spec["mark"]
    encoding, data = spec["encoding"], spec["data"]
    records = data["values"] if "values" in data else spec["datasets"][data["name"]]
    x, y, color = [encoding.get(name) or {} for name in ("x", "y", "color")]
    options = {"title": _title(spec.get("title"))}
    if mark == "arc":
        theta = encoding["theta"]["field"]
        return chart("pie", {str(record[color["field"]]): record[theta] for record in records}, **options)
    options.update(x_label=x.get("title", x.get("field")), y_label=y.get("title", y.get("field")))
    if mark == "bar" and x.get("bin"):
        bins = x["bin"].get("maxbins", 10) if isinstance(x["bin"], dict) else 10
        return chart("histogram", [record[x["field"]] for record in records], bins=bins, **options)
    if x.get("aggregate") or y.get("aggregate") or mark not in _MARKS:
        return None
    series = {}
    for record in records:
        if mark == "boxplot":
            series.setdefault(str(record[x["field"]]), []).append(record[y["field"]])
        else:
            name = str(record[color["field"]]) if "field" in color else ""
            series.setdefault(name, []).append([record[x["field"]], record[y["field"]]])
    if mark in ("line", "point", "circle", "square", "area"):
        for name, axis in (("x_scale", x), ("y_scale", y)):
            if (axis.get("scale") or {}).get("type") == "log":
                options[name] = "log"
    return chart(_MARKS[mark], series, **options)


def _plotly(spec):
    traces, layout = spec["data"], spec["layout"]
    kinds = {trace.get("type", "scatter") for trace in traces}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    x, y = layout.get("xaxis") or {}, layout.get("yaxis") or {}
    options = {"title": _title(layout.get("title"))}
    if kind == "pie":
        return chart("pie", dict(zip(map(str, traces[0]["labels"]), traces[0]["values"])), **options)
    options.update(x_label=_title(x.get("title")), y_label=_title(y.get("title")))
    names = [trace.get("name") or (f"trace {i}" if len(traces) > 1 else "") for i, trace in enumerate(traces)]
    if kind == "heatmap":
        trace = traces[0]
        return chart("heatmap", trace["z"], x_labels=trace.get("x"), y_labels=trace.get("y"), **options)
    if kind in ("box", "histogram"):
        values = [trace["x"] if kind == "histogram" else trace["y"] for trace in traces]
        return chart(kind, dict(zip(names, values)), **options)
    if kind not in ("scatter", "bar"):
        return None
    series = {}
    for name, trace in zip(names, traces):
        along = trace.get("x") or range(len(trace["y"]))
        series[name] = [list(point) for point in zip(along, trace["y"])]
    if kind == "bar":
        return chart("bar", series, **options)
    for name, axis in (("x_scale", x), ("y_scale", y)):
        if axis.get("type") == "log":
            options[name] = "log"
    dots = all("lines" not in (trace.get("mode") or "lines") for trace in traces)
    return chart("scatter" if dots else "line", series, **options)
