# SPDX-License-Identifier: Apache-2.0
"""Case 31: rich results: order, kinds, limits."""

from conftest import Between
from quick.client import Context, Run

ALL_KINDS = """
class Rich:
    def __repr__(self): return "plain"
    def _repr_html_(self): return "<b>html</b>"
    def _repr_markdown_(self): return "**md**"
    def _repr_latex_(self): return "$x$"
    def _repr_svg_(self): return "<svg/>"
    def _repr_png_(self): return b"\\x89PNG"
    def _repr_jpeg_(self): return b"\\xff\\xd8"
    def _repr_json_(self): return {"a": [1]}
Rich()
"""


def kinds(run: Run) -> list[tuple[str, str]]:
    return [(output["format"], output["kind"]) for output in run.outputs]


def test_all_forms_of_one_value(python: Context, between: Between) -> None:
    between(python)
    run = python.run(ALL_KINDS).ok()
    assert kinds(run) == [
        ("text", "inline"),
        ("markdown", "inline"),
        ("html", "rejected"),
        ("latex", "inline"),
        ("json", "inline"),
        ("svg", "rejected"),
        ("png", "rejected"),
        ("jpeg", "rejected"),
    ]
    assert all(output["isResult"] for output in run.outputs)
    assert run.output("text")["value"] == "plain" and run.output("json")["value"] == {"a": [1]}
    assert run.output("markdown")["value"] == "**md**" and run.output("latex")["value"] == "$x$"
    for name in ("html", "svg", "png", "jpeg"):
        assert run.output(name)["reason"] == "requires_artifact_promotion"


def test_displays_and_the_result_keep_their_order(python: Context) -> None:
    run = python.run("display(1); print('between'); display('two', [3]); 4").ok()
    assert [
        (output["value"], output["isResult"])
        for output in run.outputs
        if output["format"] == "text"
    ] == [
        ("1", False),
        ("'two'", False),
        ("[3]", False),
        ("4", True),
    ]


def test_unknown_types_are_rejected_by_name(python: Context) -> None:
    run = python.run(
        "display({'application/x-unknown': 'x', 'text/plain': 'p', 'application/pdf': b'%PDF'}, raw=True)"
    ).ok()
    assert run.output("text")["value"] == "p"
    for name in ("application/x-unknown", "application/pdf"):
        output = run.output(name)
        assert (output["kind"], output["reason"]) == ("rejected", "unsupported_format")


def test_charts_and_tables_are_data(python: Context) -> None:
    run = python.run(
        "display({'application/vnd.vega-lite.v5+json': {'mark': 'bar'}, 'application/vnd.dataresource+json': {'data': [1]}}, raw=True)"
    ).ok()
    assert run.output("chart")["value"] == {"mark": "bar"} and run.output("data")["value"] == {
        "data": [1]
    }
    assert run.output("text")["kind"] == "inline"


def test_large_values_are_cut_or_rejected(python: Context) -> None:
    run = python.run(
        "display({'text/plain': 'é' * 100_000, 'application/json': ['x' * 200_000]}, raw=True)"
    ).ok()
    text = run.output("text")
    assert text["kind"] == "inline" and text["truncated"] is True and text["sizeBytes"] == 200_000
    assert set(text["value"].split("\n")[0]) == {"é"} == set(text["value"].split("\n")[-1])
    assert len(text["value"].encode()) <= 65536
    assert (run.output("json")["kind"], run.output("json")["reason"]) == (
        "rejected",
        "output_too_large",
    )


def test_all_outputs_of_a_run_together_are_bounded(python: Context) -> None:
    run = python.run("for _ in range(10): display({'text/plain': 'x' * 60_000}, raw=True)").ok()
    inline = [output for output in run.outputs if output["kind"] == "inline"]
    assert sum(len(output["value"]) for output in inline) <= 256 * 1024
    assert len(run.outputs) == 10


def test_broken_forms_are_left_out_with_a_note(python: Context) -> None:
    run = python.run(
        "class B:\n    def _repr_html_(self): raise RuntimeError('html broke')\n    def _repr_json_(self): return object()\n    def __repr__(self): return 'still'\nB()"
    ).ok()
    assert run.result == "still" and kinds(run) == [("text", "inline")]
    assert "html broke" in run.stderr


def test_a_value_may_show_itself(python: Context) -> None:
    run = python.run(
        "class S:\n    def _ipython_display_(self): display('shown by itself')\nS()"
    ).ok()
    assert [output["value"] for output in run.outputs] == ["'shown by itself'"]


def test_promotion_is_refused_or_works_but_never_lies(python: Context) -> None:
    run = python.run("display({'image/png': b'\\x89PNG'}, raw=True)", artifactPolicy="promote").ok()
    png = run.output("png")
    assert png["kind"] in ("artifact", "rejected")
    if png["kind"] == "rejected":
        assert png["reason"]


def test_javascript_display(javascript: Context, between: Between) -> None:
    between(javascript)
    run = javascript.run(
        "display({ a: 1 }); display.html('<b>x</b>'); display('# md', { format: 'markdown' }); 5"
    ).ok()
    texts = [
        output["value"]
        for output in run.outputs
        if output["format"] == "text" and output["kind"] == "inline"
    ]
    assert texts[0] == "{ a: 1 }" and texts[-1] == "5"
    assert ("html", "rejected") in kinds(run) and run.output("markdown")["value"] == "# md"
