# SPDX-License-Identifier: Apache-2.0
"""chart() gives the same dictionary, the same text and the same picture in all languages.

vectors.json holds the calls, expected.json texts and dictionaries, NAME.svg the pictures. `python -m charts.record`, in
tests/, writes what Python gives; look at the pictures before you keep them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Between
from quick.client import Client, Context, Json, Sandbox
from quick.engines import by_language

HERE = Path(__file__).parent
VECTORS = json.loads((HERE / "vectors.json").read_text())
EXPECTED = json.loads((HERE / "expected.json").read_text())

CODE = {
    "python": """
import json
def make(v): return chart(v['kind'], v['data'], **v.get('options', {}))
for v in json.load(open('vectors.json')):
    display(make(v) if isinstance(v['kind'], str) else chart([make(part) for part in v['kind']], **v['options']))
""",
    "javascript": """
const make = ({ kind, data, options }) => chart(kind, data, options);
for (const v of JSON.parse(require('fs').readFileSync('vectors.json', 'utf8'))) {
  display(Array.isArray(v.kind) ? chart(v.kind.map(make), v.options) : make(v));
}
""",
    "perl": """
use JSON::PP;
open my $file, '<', 'vectors.json';
sub make { chart(@{$_[0]}{qw(kind data options)}) }
for my $v (@{decode_json(join '', <$file>)}) {
  display(ref $v->{kind} ? chart([map { make($_) } @{$v->{kind}}], $v->{options}) : make($v));
}
""",
    "ruby": """
require 'json'
make = ->(v) { chart(v['kind'], v['data'], **(v['options'] || {}).transform_keys(&:to_sym)) }
JSON.parse(File.read('vectors.json')).each do |v|
  display(v['kind'].is_a?(Array) ? chart(v['kind'].map(&make), **v['options'].transform_keys(&:to_sym)) : make[v])
end
nil
""",
}
CODE["lua"] = """
local json = require('json')
local function make(v) return chart(v.kind, v.data, v.options) end
for _, v in ipairs(json.decode(io.open('vectors.json'):read('a'))) do
  local parts = {}
  if type(v.kind) == 'table' then for i, part in ipairs(v.kind) do parts[i] = make(part) end end
  display(type(v.kind) == 'table' and chart(parts, v.options) or make(v))
end
"""
CODE["typescript"] = CODE["javascript"]


def made_by(client: Client, context: Context) -> list[tuple[str, Json, str]]:
    """Text, dictionary and picture of each chart of the vectors."""
    context.sandbox.write("/workspace/vectors.json", json.dumps(VECTORS))
    outputs = context.run(CODE[context.language], artifactPolicy="promote").ok().outputs
    assert [output["format"] for output in outputs] == ["text", "chart", "svg"] * len(VECTORS)

    def picture(output: Json) -> str:
        assert "activeContent" not in output and output["metadata"]["width"] > 0
        return client.http.get(f"/v1/artifacts/{output['artifactId']}/download").text

    return [
        (outputs[i]["value"], outputs[i + 1]["value"], picture(outputs[i + 2]))
        for i in range(0, len(outputs), 3)
    ]


@pytest.mark.parametrize("language", by_language(CODE))
def test_all_languages_draw_the_same(client: Client, sandbox: Sandbox, language: str) -> None:
    for vector, (text, chart, svg) in zip(VECTORS, made_by(client, sandbox.context(language))):
        expected = EXPECTED[vector["name"]]
        assert (text, chart) == (expected["text"], expected["chart"]), vector["name"]
        assert svg == (HERE / f"{vector['name']}.svg").read_text(), vector["name"]


KEYS = {
    "line": {"x_label", "y_label", "x_unit", "y_unit", "x_ticks", "y_ticks", "x_tick_labels", "y_tick_labels", "x_scale", "y_scale"},
    "bar": {"x_label", "y_label", "x_unit", "y_unit"},
    "box_and_whisker": {"x_label", "y_label", "x_unit", "y_unit"},
    "pie": set(),
    "heatmap": {"x_label", "y_label", "x_unit", "y_unit", "x_tick_labels", "y_tick_labels"},
    "superchart": set(),
}
KEYS["scatter"] = KEYS["line"]
ELEMENT_KEYS = {
    "line": {"label", "points"},
    "scatter": {"label", "points"},
    "bar": {"label", "value", "group"},
    "pie": {"label", "angle", "radius"},
    "box_and_whisker": {"label", "min", "first_quartile", "median", "third_quartile", "max", "outliers"},
    "heatmap": {"x", "y", "value"},
}


def check_keys(chart: Json) -> None:
    kind = chart["type"]
    assert set(chart) - {"bins"} == {"type", "title", "elements"} | KEYS[kind]
    for element in chart["elements"]:
        if kind == "superchart":
            check_keys(element)
        else:
            assert set(element) == ELEMENT_KEYS[kind]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_key_is_there(name: str) -> None:
    check_keys(EXPECTED[name]["chart"])


VEGA_LITE = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "title": "Fruit",
    "mark": "bar",
    "data": {"values": [{"a": "A", "b": 28}, {"a": "B", "b": 55}]},
    "encoding": {"x": {"field": "a", "type": "nominal"}, "y": {"field": "b", "type": "quantitative"}},
}
PLOTLY = {
    "data": [{"type": "scatter", "mode": "lines", "x": [1, 2, 3], "y": [2, 1, 3], "name": "s"}],
    "layout": {"title": {"text": "Lines"}, "xaxis": {"title": "step"}},
}
UNKNOWN = {"$schema": "https://vega.github.io/schema/vega/v5.json", "marks": []}
LOAD = {
    "python": "import json\njson.loads({})",
    "javascript": "JSON.parse({})",
    "typescript": "JSON.parse({})",
    "perl": "use JSON::PP; decode_json({})",
    "ruby": "require 'json'; JSON.parse({})",
    "lua": "return require('json').decode({})",
}


@pytest.mark.parametrize("language", by_language(CODE))
@pytest.mark.parametrize(
    ("spec", "mime", "drawn"),
    [
        (VEGA_LITE, "application/vnd.vegalite.v5+json", "bar"),
        (PLOTLY, "application/vnd.plotly.v1+json", "line"),
        (UNKNOWN, "application/vnd.vega.v5+json", None),
    ],
)
def test_specifications(
    sandbox: Sandbox, language: str, spec: Json, mime: str, drawn: str | None
) -> None:
    text = "'" + json.dumps(spec) + "'"
    run = sandbox.context(language).run(LOAD[language].format(text)).ok()
    charts = {output["contentType"]: output["value"] for output in run.outputs if output["format"] == "chart"}
    assert charts.pop(mime) == spec
    if drawn is None:
        assert not charts
    else:
        [chart] = charts.values()
        assert chart["type"] == drawn
        check_keys(chart)
    assert ("svg" in [output["format"] for output in run.outputs]) == (drawn is not None)


def test_a_chart_lives_on(python: Context, between: Between) -> None:
    python.run("c = chart('bar', {'a': 1})").ok()
    between(python)
    assert python.value("c") == 'bar chart: a 1'


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("chart('lien', [1])", "unknown type"),
        ("chart('line', [1], x_scale='cubic')", "unknown scale"),
        ("chart('line', list(range(30_000)))", "20000"),
        ("chart('line', {str(i): [1] for i in range(200)})", "100 series"),
        ("chart('bar', [{'a': 1}], x='b')", "no column"),
        ("chart('line', 5)", "no data"),
        ("chart('heatmap', [[1, 2]], x_labels=['a'])", "labels"),
        ("display({}, format='chart')", "no dictionary of a chart"),
    ],
)
def test_wrong_calls_say_what_is_wrong(python: Context, code: str, message: str) -> None:
    run = python.run(code)
    assert run.status == "error" and message in str(run.error), run.raw
    values: Any = run.outputs
    assert values == []
