# SPDX-License-Identifier: Apache-2.0
"""Figures of matplotlib and pictures of Pillow: each once, none blank, none of an earlier run (case 30), and as charts."""

import struct
from collections.abc import Iterator

import pytest

from charts.test_charts import check_keys
from conftest import Between
from quick.client import Context, Json, Run, Sandbox
from quick.engines import needs_data

pytestmark = needs_data

SET_UP = """
import matplotlib, matplotlib.pyplot as plt, numpy as np
def plot(*y): plt.plot(y)
"""


@pytest.fixture
def data(sandbox: Sandbox) -> Context:
    context = sandbox.context("python")
    if context.value("import importlib.util; bool(importlib.util.find_spec('matplotlib'))") != "True":
        pytest.skip("the engine has no matplotlib")
    context.run(SET_UP).ok()
    return context


def run(context: Context, code: str) -> Run:
    return context.run(code, artifactPolicy="promote")


def content(context: Context, output: Json) -> bytes:
    answer = context.sandbox.client.http.get(f"/v1/artifacts/{output['artifactId']}/download")
    return bytes(answer.content)


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def pictures(run: Run) -> list[Json]:
    return [output for output in run.outputs if output["format"] == "png"]


def charts(run: Run) -> list[Json]:
    return [output["value"] for output in run.outputs if output["format"] == "chart"]


def shown(run: Run) -> str:
    """R for each figure that is the result, D for each other one."""
    return "".join("R" if output["isResult"] else "D" for output in pictures(run))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("plot(1, 2)", "D"),
        ("plot(1, 2); plt.show()", "D"),
        ("plot(1, 2); plt.show(); plt.show()", "D"),
        ("plot(1, 2); plt.show(); plt.savefig('late.png')", "D"),
        ("plot(1); plt.savefig('early.png'); plt.show()", "D"),
        ("plot(1); plt.show(); plot(2); plt.show()", "DD"),
        ("plot(1); plt.figure(); plot(2)", "DD"),
        ("fig, ax = plt.subplots(); ax.plot([1]); fig", "R"),
        ("fig, ax = plt.subplots(); ax.plot([1]); plt.show(); fig", "D"),
        ("fig, ax = plt.subplots(); ax.plot([1]); plt.show(); ax.set_title('new'); fig", "DR"),
        ("fig, ax = plt.subplots(); ax.plot([1]); display(fig)", "D"),
        ("fig, ax = plt.subplots(); ax.plot([1]); display(fig); plt.show()", "D"),
        ("fig, ax = plt.subplots(); ax.plot([1]); display(fig); fig.savefig('a.png'); fig", "D"),
        ("fig, ax = plt.subplots(); ax.plot([1]); display(fig); display(fig)", "DD"),
        ("fig, ax = plt.subplots(layout='tight'); ax.plot([1]); plt.show(); fig.savefig('a.png'); fig", "D"),
        ("fig, ax = plt.subplots(); ax.plot([1]); display(fig); ax.set_title('new')", "DD"),
        ("fig, ax = plt.subplots(); ax.plot([1]); fig.show()", "D"),
        ("fig, ax = plt.subplots(); ax", "D"),
        ("plot(1); plt.close()", ""),
        ("plt.figure()\nNone", ""),
        ("plt.figure(); plt.show(); plt.savefig('nothing.png')", ""),
        ("from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1])", ""),
        ("from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1]); f", "R"),
        ("plt.ion(); plot(1); plt.pause(0.01); plot(2); plt.show(); plt.ioff();", "D"),
        ("plot(1); plt.show(block=False); plt.title('later')", "D"),
        ("matplotlib.use('agg'); plot(1); plt.show()", "D"),
        ("matplotlib.use('svg'); plot(1); plt.show(); matplotlib.use('agg')", "D"),
        ("%matplotlib inline\nplot(1)", "D"),
        ("for i in range(3):\n    plt.figure(); plot(i); plt.show()", "DDD"),
    ],
)
def test_each_figure_once(data: Context, code: str, expected: str) -> None:
    result = run(data, code).ok()
    assert shown(result) == expected and result.stderr == ""
    for output in pictures(result):
        assert output["kind"] == "artifact"
        width, height = size(content(data, output))
        assert 300 < width < 800 and 200 < height < 700
    assert data.value("plt.get_fignums()") == "[]"


def test_a_figure_has_a_text_a_chart_and_a_picture(data: Context) -> None:
    outputs = run(data, "plot(1, 2)").ok().outputs
    assert [(output["format"], output["kind"]) for output in outputs] == [
        ("text", "inline"), ("chart", "inline"), ("png", "artifact"),
    ]  # fmt: skip
    assert outputs[0]["value"] == "<Figure size 640x480 with 1 Axes>"
    inline = data.run("plot(1, 2)").ok().outputs
    assert [output["kind"] for output in inline] == ["inline", "inline", "rejected"]


def test_nothing_comes_from_the_run_before(data: Context, between: Between) -> None:
    run(data, "plot(1, 2)").ok()
    between(data)
    [chart] = charts(run(data, "plot(5, 6)").ok())
    assert [element["points"] for element in chart["elements"]] == [[[0, 5], [1, 6]]]
    assert run(data, "1").ok().outputs[0]["value"] == "1"


def test_a_figure_that_is_kept_lives_on(data: Context, between: Between) -> None:
    run(data, "fig, ax = plt.subplots(); ax.plot([1, 2], label='a')\nNone").ok()
    between(data)
    result = run(data, "ax.plot([3, 4], label='b'); ax.legend(); fig").ok()
    assert shown(result) == "R"
    assert [element["label"] for element in charts(result)[0]["elements"]] == ["a", "b"]


def test_a_pickle_of_a_figure_is_plain(data: Context) -> None:
    data.run("import pickle; plt.hist([1, 2, 2], bins=2); saved = pickle.dumps(plt.gcf()); plt.close()").ok()
    assert data.value("b'dormouse.' in saved, b'figure_notes' in saved") == "(False, False)"
    result = run(data, "pickle.loads(saved)\nNone").ok()
    assert shown(result) == "D" and charts(result)[0]["bins"] == [1, 1.5, 2]


def test_savefig_after_show_saves_what_was_shown(data: Context) -> None:
    for code in ("plt.savefig('before.png'); plt.show()", "plt.show(); plt.savefig('after.png')"):
        run(data, f"plot(1, 2); {code}").ok()
    assert data.value("open('before.png', 'rb').read() == open('after.png', 'rb').read()") == "True"


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.png", "89504e"), ("a.svg", "3c3f78"), ("a.pdf", "255044"), ("a.jpg", "ffd8ff")],
)
def test_files(data: Context, name: str, start: str) -> None:
    run(data, f"plot(1); plt.savefig('{name}'); plt.close()").ok()
    assert data.value(f"open('{name}', 'rb').read(3).hex()") == repr(start)


@pytest.mark.parametrize("error", ["1 / 0", "raise SystemExit(3)", "import nothing_of_this_name"])
def test_figures_made_before_an_error_are_displayed(data: Context, error: str) -> None:
    result = run(data, f"plot(1); {error}")
    assert result.status != "ok" and shown(result) == "D"
    assert shown(run(data, "1")) == ""


def test_a_figure_that_cannot_be_drawn_is_an_error(data: Context) -> None:
    result = run(data, r"plt.title('$\\frac{$'); plt.figure(); plot(1)")
    assert result.error_name == "ValueError" and shown(result) == "D"
    result = run(data, r"plt.title('$\\frac{$'); plt.show(); never = 1")
    assert result.error_name == "ValueError" and result.error and result.error["lineNumber"] == 1
    assert data.value("'never' in globals(), plt.get_fignums()") == "(False, [])"


def test_a_run_that_was_stopped_displays_nothing_more(data: Context) -> None:
    result = data.run("plot(1)\nwhile True: pass", timeoutMs=1500, artifactPolicy="promote")
    assert result.status == "timeout" and not pictures(result)
    assert shown(run(data, "1")) == ""


@pytest.mark.parametrize(
    "code",
    [
        "plt.figure(figsize=(300, 200)); plot(1)",
        "plot(1, 2); plt.text(1e6, 1e6, 'far away')",
        "plot(1, 2); plt.title('long ' * 300)",
        "plt.figure(dpi=3000); plot(1)",
    ],
)
def test_pictures_have_a_bounded_size(data: Context, code: str) -> None:
    result = run(data, code).ok()
    width, height = size(content(data, pictures(result)[0]))
    assert width * height < 17_000_000


def test_other_formats(data: Context) -> None:
    result = run(data, "import dormouse; dormouse.figure_formats('svg', 'png'); plot(1)").ok()
    assert [output["format"] for output in result.outputs] == ["text", "chart", "svg", "png"]
    assert b"<svg" in content(data, result.output("svg"))
    result = run(data, "dormouse.figure_formats('jpeg'); plot(1)").ok()
    assert content(data, result.output("jpeg")).startswith(b"\xff\xd8")
    result = run(data, "dormouse.figure_formats('bmp')")
    assert result.error_name == "ValueError" and "png, svg, jpeg" in str(result.error)


def test_one_figure_in_another_format(data: Context) -> None:
    result = run(data, "plot(1); display(plt.gcf(), format='svg'); plt.show()").ok()
    assert [output["format"] for output in result.outputs] == ["text", "svg"]
    assert result.outputs[0]["value"].startswith("<Figure size")
    result = run(data, "from PIL import Image; display(Image.new('RGBA', (9, 9)), format='jpeg')").ok()
    assert content(data, result.output("jpeg")).startswith(b"\xff\xd8")


ANIMATION = """
from matplotlib.animation import FuncAnimation
fig, ax = plt.subplots()
line, = ax.plot([], [])
ani = FuncAnimation(fig, lambda i: line.set_data([0, i], [0, 1]), frames=3)
"""


def test_an_animation(data: Context) -> None:
    result = run(data, ANIMATION + "plt.show()").ok()
    assert shown(result) == "D" and result.stderr == ""
    result = run(data, ANIMATION + "ani").ok()
    assert content(data, result.output("html")).count(b"data:image/png;base64") >= 3
    assert shown(result) == ""


def test_an_empty_figure_is_a_picture_only_when_asked_for(data: Context) -> None:
    result = run(data, "plt.figure()").ok()
    assert shown(result) == "R" and not charts(result)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("Image.new('RGB', (40, 30), 'red')", "R"),
        ("display(Image.new('RGBA', (40, 30)))", "D"),
        ("Image.new('L', (40, 30)).show()", "D"),
        ("Image.new('CMYK', (40, 30))", "R"),
        ("Image.new('P', (40, 30))", "R"),
        ("Image.new('F', (40, 30))", "R"),
        ("Image.new('1', (40, 30))", "R"),
        ("Image.new('RGB', (40, 30)).save('saved.png')", ""),
    ],
)
def test_pictures_of_pillow(data: Context, code: str, expected: str) -> None:
    result = run(data, f"from PIL import Image; {code}").ok()
    assert shown(result) == expected
    for output in result.outputs:
        assert output["format"] in ("text", "png")
    for output in pictures(result):
        assert size(content(data, output)) == (40, 30) and output["metadata"]["width"] == 40


def test_a_large_picture_of_pillow_is_displayed_smaller(data: Context) -> None:
    result = run(data, "from PIL import Image; Image.new('L', (8000, 8000))").ok()
    width, height = size(content(data, pictures(result)[0]))
    assert width == height and width <= 4000


def points(*pairs: object) -> Json:
    return {"points": [list(pair) for pair in zip(*[iter(pairs)] * 2, strict=True)]}


BAR: Json = {"type": "bar", "bins": None}

# Code, and what must be in the dictionary. Of a list of elements, each must be there; null stands for a key that is missing.
CHARTS: dict[str, tuple[str, Json]] = {
    "line": (
        "plt.plot([1, 2], [3, 4.5], label='a'); plt.title('T'); plt.xlabel('t (s)'); plt.ylabel('v [m/s]')",
        {"type": "line", "title": "T", "x_label": "t (s)", "x_unit": "s", "y_unit": "m/s", "x_scale": "linear",
         "elements": [{"label": "a", **points(1, 3, 2, 4.5)}]},
    ),
    "gaps": ("plot(1, float('nan'), float('inf'))", {"elements": [points(0, 1, 1, None, 2, None)]}),
    "names": (
        "plt.plot(['a', 'b'], [1, 2])",
        {"x_scale": "categorical", "x_ticks": ["a", "b"], "x_tick_labels": ["a", "b"], "elements": [points("a", 1, "b", 2)]},
    ),
    "dates": (
        "import datetime as dt; plt.plot([dt.date(2024, 1, 1), dt.datetime(2024, 1, 5, 6)], [1, 2])",
        {"x_scale": "datetime", "elements": [points("2024-01-01", 1, "2024-01-05T06:00:00", 2)]},
    ),
    "times of a zone": (
        "import datetime as dt; zone = dt.timezone(dt.timedelta(hours=2))\n"
        "plt.plot([dt.datetime(2024, 1, 1, tzinfo=zone), dt.datetime(2024, 1, 1, 1, 0, 0, 250000, zone)], [1, 2])",
        {"elements": [points("2024-01-01T00:00:00+02:00", 1, "2024-01-01T01:00:00.250+02:00", 2)]},
    ),
    "datetime64": (
        "plt.scatter(np.array(['2024-01-01', '2024-01-02'], 'M8[D]'), [1, 2])",
        {"type": "scatter", "x_scale": "datetime", "elements": [points("2024-01-01", 1, "2024-01-02", 2)]},
    ),
    "log": (
        "plt.loglog([1, 10, 100], [1, 2, 3])",
        {"x_scale": "log", "y_scale": "log", "x_ticks": [1, 10, 100], "x_tick_labels": ["10^0", "10^1", "10^2"]},
    ),
    "set ticks": (
        "plot(1, 2); plt.xticks([0, 1], ['zero', 'one'])",
        {"x_ticks": [0, 1], "x_tick_labels": ["zero", "one"]},
    ),
    "a legend only": ("plot(1); plot(2); plt.legend(['a', 'b'])", {"elements": [{"label": "a"}, {"label": "b"}]}),
    "rules are no data": (
        "plot(1, 2); plt.axhline(1); plt.axvline(0); plt.plot([0, 1], [1.5, 1.5]); plt.axline((0, 0), slope=1); plt.grid()",
        {"type": "line", "elements": [points(0, 1, 1, 2)]},
    ),
    "error bars": (
        "plt.errorbar([1, 2], [3, 4], yerr=[1, 1], capsize=3, label='e')",
        {"type": "line", "elements": [{"label": "e", **points(1, 3, 2, 4)}]},
    ),
    "dots of plot": ("plt.plot([1, 2], 'o')", {"type": "scatter", "elements": [points(0, 1, 1, 2)]}),
    "scatter": (
        "plt.scatter([1, 2], [3, 4], label='dots'); plt.plot([1, 2], [3, 4], label='fit')",
        {"type": "scatter", "elements": [{"label": "fit"}, {"label": "dots", **points(1, 3, 2, 4)}]},
    ),
    "bar": (
        "plt.bar(['a', 'b'], [3, 4], label='g')",
        {**BAR, "elements": [{"label": "a", "value": 3, "group": "g"}, {"label": "b", "value": 4, "group": "g"}]},
    ),
    "bars of groups": (
        "x = np.arange(2); plt.bar(x - 0.2, [1, 2], 0.4, label='m'); plt.bar(x + 0.2, [3, 4], 0.4, label='w')\n"
        "plt.xticks(x, ['G1', 'G2'])",
        {**BAR, "elements": [{"label": "G1", "value": 1, "group": "m"}, {"label": "G2", "value": 2, "group": "m"},
                             {"label": "G1", "value": 3, "group": "w"}, {"label": "G2", "value": 4, "group": "w"}]},
    ),
    "stacked bars": (
        "plt.bar([1, 2], [3, 4]); plt.bar([1, 2], [5, 6], bottom=[3, 4]); plt.legend(['low', 'high'])",
        {**BAR, "elements": [{"label": "1", "value": 3, "group": "low"}, {"label": "2", "value": 4, "group": "low"},
                             {"label": "1", "value": 5, "group": "high"}, {"label": "2", "value": 6, "group": "high"}]},
    ),
    "lying bars": (
        "plt.barh(['a', 'b'], [3, 4]); plt.xlabel('kg')",
        {**BAR, "x_label": "kg", "elements": [{"label": "a", "value": 3}, {"label": "b", "value": 4}]},
    ),
    "histogram": (
        "plt.hist([1, 2, 2, 3], bins=2, label='h')",
        {"type": "bar", "bins": [1, 2, 3], "elements": [{"label": "1 – 2", "value": 1, "group": "h"},
                                                        {"label": "2 – 3", "value": 3, "group": "h"}]},
    ),
    "stacked histogram": (
        "plt.hist([[1, 2], [2, 2]], bins=[1, 2, 3], stacked=True, label=['a', 'b'])",
        {"bins": [1, 2, 3],
         "elements": [{"value": 1, "group": "a"}, {"value": 1}, {"value": 0, "group": "b"}, {"value": 2}]},
    ),
    "steps": ("plt.hist([1, 2, 2], bins=2, histtype='step')", {"type": "bar", "elements": [{"value": 1}, {"value": 2}]}),
    "pie": (
        "plt.pie([1, 3], labels=['p', 'q'], autopct='%d'); plt.title('P')",
        {"type": "pie", "title": "P", "elements": [{"label": "p", "angle": 90, "radius": 1}, {"label": "q", "angle": 270}]},
    ),
    "box": (
        "plt.boxplot([[1, 2, 3, 4, 30], [2, 4]]); plt.xticks([1, 2], ['u', 'v'])",
        {"type": "box_and_whisker",
         "elements": [{"label": "u", "min": 1, "first_quartile": 2, "median": 3, "third_quartile": 4, "max": 4,
                       "outliers": [30]}, {"label": "v", "median": 3, "outliers": []}]},
    ),
    "imshow": (
        "plt.imshow([[1, 2], [3, np.nan]]); plt.colorbar(); plt.yticks([0, 1], ['r', 's'])",
        {"type": "heatmap", "x_tick_labels": ["0", "1"], "y_tick_labels": ["r", "s"],
         "elements": [{"x": "0", "y": "r", "value": 1}, {"value": 2}, {"value": 3}, {"x": "1", "y": "s", "value": None}]},
    ),
    "pcolormesh": (
        "plt.pcolormesh([0, 1, 2], [0, 2, 4], [[1, 2], [3, 4]])",
        {"type": "heatmap", "x_tick_labels": ["0.5", "1.5"], "y_tick_labels": ["3", "1"],
         "elements": [{"value": 3}, {"value": 4}, {"value": 1}, {"value": 2}]},
    ),
    "several": (
        "fig, (a, b, c) = plt.subplots(1, 3); fig.suptitle('S'); a.plot([1]); b.pie([1]); c.set_axis_off()",
        {"type": "superchart", "title": "S", "elements": [{"type": "line"}, {"type": "pie"}]},
    ),
    "a title of the figure": ("plot(1); plt.suptitle('S')", {"type": "line", "title": "S"}),
    "two scales": (
        "ax = plt.gca(); ax.plot([1]); b = ax.twinx(); b.plot([2]); b.set_ylabel('right')",
        {"type": "superchart", "elements": [{"y_label": None}, {"y_label": "right"}]},
    ),
}  # fmt: skip


def check(found: object, expected: object) -> None:
    if isinstance(expected, dict):
        assert isinstance(found, dict)
        for key, value in expected.items():
            check(found.get(key), value)
    elif isinstance(expected, list):
        assert isinstance(found, list) and len(found) == len(expected), found
        for item, value in zip(found, expected, strict=True):
            check(item, value)
    else:
        assert found == expected


@pytest.mark.parametrize("name", CHARTS)
def test_what_a_figure_shows(data: Context, name: str) -> None:
    code, expected = CHARTS[name]
    result = run(data, code + "\nNone").ok()
    [chart] = charts(result)
    check_keys(chart)
    check(chart, expected)
    assert shown(result) == "D" and result.stderr == ""


@pytest.mark.parametrize(
    "code",
    [
        "plt.contourf([[1, 2], [3, 4]])",
        "plt.polar([1, 2], [3, 4])",
        "plt.figure().add_subplot(projection='3d').plot([1], [2], [3])",
        "plt.plot(range(30_000))",
        "plt.imshow(np.zeros((5, 5, 3)))",
        "plt.subplots()",
        "plot(1); plt.gca().xaxis.get_label_text = lambda: 1 / 0",
    ],
)
def test_figures_that_are_no_charts(data: Context, code: str) -> None:
    result = run(data, f"{code}\nNone").ok()
    assert shown(result) == "D" and not charts(result) and result.stderr == ""


@pytest.fixture
def pandas(data: Context) -> Iterator[Context]:
    if data.value("bool(importlib.util.find_spec('pandas'))") != "True":
        pytest.skip("the engine has no pandas")
    data.run("import pandas as pd; df = pd.DataFrame({'a': [1, 2, 3], 'b': [3.5, 2, 1]}, index=list('xyz'))").ok()
    yield data


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("df.plot()", {"type": "line", "elements": [{"label": "a"}, {"label": "b"}]}),
        (
            "df.set_axis(pd.date_range('2024-01-01', periods=3)).a.plot()",
            {"x_scale": "datetime", "elements": [points("2024-01-01", 1, "2024-01-02", 2, "2024-01-03", 3)]},
        ),
        ("df.b.plot.bar()", {"type": "bar", "elements": [{"label": "x", "value": 3.5}, {"label": "y"}, {"label": "z"}]}),
        ("df.plot.barh(stacked=True)", {"elements": [{"label": "x", "group": "a"}, {}, {}, {"group": "b"}, {}, {}]}),
        ("df.plot.box()", {"type": "box_and_whisker", "elements": [{"label": "a", "median": 2}, {"label": "b"}]}),
        ("df.a.plot.hist(bins=2)", {"type": "bar", "bins": [1, 2, 3]}),
        ("df.a.plot.pie()", {"type": "pie", "elements": [{"label": "x", "angle": 60}, {"label": "y"}, {"label": "z"}]}),
        ("df.plot.scatter('a', 'b')", {"type": "scatter", "x_label": "a", "elements": [points(1, 3.5, 2, 2, 3, 1)]}),
    ],
)
def test_plots_of_pandas(pandas: Context, code: str, expected: Json) -> None:
    result = run(pandas, code).ok()
    [chart] = charts(result)
    check_keys(chart)
    check(chart, expected)
    assert shown(result) == "D"
