# SPDX-License-Identifier: Apache-2.0
"""The engine with pandas: what frames do, over an evict too, and how they are shown."""

import pytest

from conftest import Between
from quick.client import Context, Sandbox
from quick.engines import needs_data

pytestmark = needs_data

ROWS = """
import numpy as np, pandas as pd
frame = pd.DataFrame({"key": np.arange(100_000) % 7, "value": np.arange(100_000.)})
"""
CSV = """
import pandas as pd
frame = pd.DataFrame({"n": range(10), "text": [f"é {i}" for i in range(10)], "day": pd.date_range("2024-02-28", periods=10)})
frame.to_csv("t.csv", index=False)
chunks = pd.read_csv("t.csv", chunksize=4, parse_dates=["day"])
first = next(chunks)
"""
ZONES = """
import pandas as pd, pytz
from zoneinfo import ZoneInfo
noon = pd.Timestamp("2024-03-31 12:00", tz="Europe/Berlin")
hours = pd.date_range("2024-03-31", periods=4, freq="h", tz=ZoneInfo("Europe/Berlin"))
"""
TEXTS = """
import pandas as pd
names = pd.Series(["Ada Lovelace", None, "Émile Zola", "x"], dtype="string")
size = pd.Categorical(["small", "large", "small"], categories=["small", "large"], ordered=True)
"""
GAPS = """
import numpy as np, pandas as pd
gaps = pd.DataFrame({"a": [1.0, None, 3.0], "b": pd.array([1, None, 3], dtype="Int64"), "c": ["x", None, "z"]})
"""
SALES = """
import pandas as pd
sales = pd.DataFrame({"city": ["Rom", "Rom", "Oslo"], "year": [2023, 2024, 2024], "sum": [1, 2, 3]})
"""
GROWN = """
import pandas as pd
grown = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "z"]})
grown["c"] = 1.5
grown.insert(0, "first", 0)
"""

# What one run makes, and what expressions say in later ones.
PROGRAMS = [
    (ROWS, "frame.groupby('key')['value'].sum().tolist()[:2]", "[714264285.0, 714278571.0]"),
    (ROWS, "frame.groupby('key').agg(low=('value', 'min'), n=('value', 'size')).loc[3].tolist()", "[3.0, 14286.0]"),
    (ROWS, "frame.groupby('key')['value'].apply(lambda part: part.iloc[-1]).sum().item()", "699972.0"),
    (ROWS, "frame.merge(frame.head(10), on='value', how='left', indicator=True)['_merge'].value_counts()['both'].item()", "10"),
    (ROWS, "frame.sort_values('value', ascending=False).iloc[0].tolist()", "[4.0, 99999.0]"),
    (ROWS, "frame['value'].rolling(3).mean().iloc[-1].item()", "99998.0"),
    (ROWS, "frame.query('key == 2 and value > 99_000').shape", "(143, 2)"),
    (ROWS, "frame['value'].quantile([.25, .5]).tolist() + [frame['value'].corr(-frame['value']).round(6).item()]", "[24999.75, 49999.5, -1.0]"),
    (ROWS, "pd.cut(frame['value'], [0, 10, 1000, 1e6]).value_counts().tolist()", "[98999, 990, 10]"),
    (ROWS, "frame['value'].ewm(span=3).mean().iloc[-1].round(3).item()", "99998.0"),
    (CSV, "next(chunks)['text'].tolist(), len(first), sum(len(part) for part in chunks)", "(['é 4', 'é 5', 'é 6', 'é 7'], 4, 2)"),
    (CSV, "first.dtypes.astype(str).tolist()", "['int64', 'object', 'datetime64[ns]']"),
    (CSV, "pd.read_csv('t.csv', engine='python', sep=None)['n'].sum().item(), pd.read_csv('t.csv', dtype=str).iloc[3, 0]", "(45, '3')"),
    (CSV, "frame.to_json('t.json', orient='records'); pd.read_json('t.json')['n'].tolist() == frame['n'].tolist()", "True"),
    (CSV, "frame.to_pickle('t.pickle'); pd.read_pickle('t.pickle').equals(frame)", "True"),
    (CSV, "frame.to_csv('t.csv.gz'); pd.read_csv('t.csv.gz', index_col=0).shape", "(10, 3)"),
    (CSV, "import sqlite3; base = sqlite3.connect('t.db'); frame.to_sql('t', base); pd.read_sql('select sum(n) s from t', base).s[0].item()", "45"),
    (ZONES, "str(noon.tz_convert('UTC')), str(noon.astimezone(pytz.timezone('Asia/Tokyo')))", "('2024-03-31 10:00:00+00:00', '2024-03-31 19:00:00+09:00')"),
    (ZONES, "[str(hour)[11:] for hour in hours]", "['00:00:00+01:00', '01:00:00+01:00', '03:00:00+02:00', '04:00:00+02:00']"),
    (ZONES, "str(pd.Timestamp('2024-02-29') + pd.DateOffset(years=1)), (pd.Timestamp('2024-03-01') - pd.Timestamp('2024-02-28')).days", "('2025-02-28 00:00:00', 2)"),
    (ZONES, "pd.Series(1, index=hours).resample('2h').sum().tolist(), pd.Period('2024Q1').end_time.isoformat()[:10]", "([2, 2], '2024-03-31')"),
    (ZONES, "pd.to_datetime(['3 May 2024', 'none'], errors='coerce', format='mixed').isna().tolist()", "[False, True]"),
    (ZONES, "abs((pd.Timestamp.now('UTC') - pd.Timestamp('now', tz='Asia/Tokyo')).total_seconds()) < 5 and pd.Timestamp.now().year > 2024", "True"),
    (TEXTS, "names.str.upper().tolist()[2], names.str.split().str[-1].fillna('-').tolist()", "('ÉMILE ZOLA', ['Lovelace', '-', 'Zola', 'x'])"),
    (TEXTS, "names.str.contains('l', regex=False).sum().item(), names.str.extract(r'(\\w+) (\\w+)')[1].dropna().tolist()", "(2, ['Lovelace', 'Zola'])"),
    (TEXTS, "size.max(), (size < 'large').tolist(), pd.Series(size).value_counts().tolist(), size.codes.tolist()", "('large', [True, False, True], [2, 1], [0, 1, 0])"),
    (TEXTS, "pd.get_dummies(pd.Series(size)).sum().tolist(), size.rename_categories(str.upper).tolist()[0]", "([2, 1], 'SMALL')"),
    (GAPS, "gaps.isna().sum().tolist(), gaps['a'].mean().item(), gaps['b'].sum().item(), gaps.dropna().shape", "([1, 1, 1], 2.0, 4, (2, 3))"),
    (GAPS, "gaps['a'].interpolate().tolist(), gaps['b'].fillna(0).tolist(), gaps['c'].ffill().tolist()", "([1.0, 2.0, 3.0], [1, 0, 3], ['x', 'x', 'z'])"),
    (GAPS, "gaps['b'].max() + 1, pd.NA is gaps['b'][1], str(gaps['b'].dtype), np.isnan(gaps['a'][1]).item()", "(np.int64(4), True, 'Int64', True)"),
    (SALES, "sales.pivot_table(index='city', columns='year', values='sum', fill_value=0).values.tolist()", "[[0.0, 3.0], [1.0, 2.0]]"),
    (SALES, "sales.set_index(['city', 'year']).loc[('Rom', 2024), 'sum'].item(), sales.groupby('city').cumsum()['sum'].tolist()", "(2, [1, 3, 3])"),
    (SALES, "pd.concat([sales, sales]).drop_duplicates().shape, sales.melt(id_vars='city').shape, sales.set_index('city').T.shape", "((3, 3), (6, 3), (2, 3))"),
    (GROWN, "grown.groupby('a').mean(numeric_only=True).shape, pd.concat([grown, grown]).shape", "((2, 2), (6, 4))"),
    (GROWN, "grown.pivot_table(index='a', columns='b', values='c').shape", "(2, 3)"),
    (GROWN, "grown.pop('b').tolist(), grown.columns.tolist()", "(['x', 'y', 'z'], ['first', 'a', 'c'])"),
    (SALES, "sales.to_html(index=False).count('<tr'), sales.describe().loc['mean', 'sum'].item()", "(4, 2.0)"),
]  # fmt: skip


@pytest.fixture
def data(sandbox: Sandbox) -> Context:
    return sandbox.context("python")


def test_frames_work(data: Context, between: Between) -> None:
    made = ""
    for code, expression, expected in PROGRAMS:
        if code != made:
            assert data.run(code).ok().stderr == ""
            between(data)
            made = code
        run = data.run(expression).ok()
        assert (run.result, run.stderr) == (expected, ""), expression


def test_importing_costs_nothing(data: Context) -> None:
    data.run("1").ok()
    run = data.run("import time; began = time.perf_counter(); import pandas; round(time.perf_counter() - began, 1)")
    assert run.ok().result == "0.0"


def shown(data: Context, code: str) -> dict[str, object]:
    """The forms of the only thing that a run shows."""
    run = data.run(code, artifactPolicy="promote").ok()
    assert run.stderr == ""
    formats = [output["format"] for output in run.outputs]
    assert formats == ["text", "html", "data"], formats
    found: dict[str, object] = {}
    for output in run.outputs:
        if output["kind"] == "inline":
            found[output["format"]] = output["value"]
        else:
            answer = data.sandbox.client.http.get(f"/v1/artifacts/{output['artifactId']}/download")
            found[output["format"]] = answer.json() if output["format"] == "data" else answer.text
    return found


def test_frames_are_shown(data: Context, between: Between) -> None:
    data.run("import pandas as pd; frame = pd.DataFrame({'a': [1, 2], 'b': [None, 'é'], 'c': [.5, float('nan')]})").ok()
    between(data)
    forms = shown(data, "frame")
    assert str(forms["text"]).splitlines()[0].split() == ["a", "b", "c"]
    assert "<td>é</td>" in str(forms["html"]) and str(forms["html"]).count("<table") == 1
    assert forms["data"] == {
        "schema": {"fields": [{"name": "a", "type": "integer"}, {"name": "b", "type": "string"}, {"name": "c", "type": "number"}]},
        "data": [{"a": 1, "b": None, "c": 0.5}, {"a": 2, "b": "é", "c": None}],
        "rowCount": 2,
    }  # fmt: skip


# A frame, its columns as shown, and its first row as data.
SHOWN = [
    ("pd.DataFrame({'v': [1]}, index=['x'])", ["index", "v"], ["x", 1]),
    ("pd.DataFrame({'v': [1.5]}, index=pd.Index([3], name='n'))", ["n", "v"], [3, 1.5]),
    ("pd.DataFrame([[1, 2]], columns=['x', 'x'])", ["x", "x.1"], [1, 2]),
    ("pd.DataFrame({'k': ['a'], 'g': [1], 'v': [2]}).groupby(['k', 'g']).agg(['min', 'max'])", ["k", "g", "v_min", "v_max"], ["a", 1, 2, 2]),
    ("pd.DataFrame({'t': pd.to_datetime(['2024-01-01 10:00']).tz_localize('Europe/Berlin')})", ["t"], ["2024-01-01T10:00:00+01:00"]),
    ("pd.DataFrame({'t': [pd.NaT, pd.Timestamp(0)], 'd': [pd.Timedelta('1h'), pd.NaT]})", ["t", "d"], [None, "0 days 01:00:00"]),
    ("pd.DataFrame({'i': pd.array([None, 1], 'Int64'), 's': pd.array([None, 'x'], 'string'), 'c': pd.Categorical([None, 'u'])})", ["i", "s", "c"], [None, None, None]),
    ("pd.DataFrame({'x': np.array([1.5], 'float32'), 'o': [[1, 'x']], 'a': [np.arange(2)]})", ["x", "o", "a"], [1.5, [1, "x"], "[0 1]"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "names", "row"), SHOWN)
def test_how_frames_become_data(data: Context, code: str, names: list[str], row: list[object]) -> None:
    data.run("import numpy as np, pandas as pd").ok()
    table = shown(data, code)["data"]
    assert isinstance(table, dict)
    assert [field["name"] for field in table["schema"]["fields"]] == names
    assert list(table["data"][0].values()) == row


def test_a_long_frame_is_cut(data: Context) -> None:
    data.run("import numpy as np, pandas as pd; long = pd.DataFrame({'a': np.arange(1_000_000), 'b': 1.5})").ok()
    forms = shown(data, "long")
    table = forms["data"]
    assert isinstance(table, dict)
    assert (len(table["data"]), table["rowCount"], table["truncated"]) == (5000, 1_000_000, True)
    assert "[1000000 rows x 2 columns]" in str(forms["text"]) and len(str(forms["html"])) < 10_000


def test_series_and_arrays_as_data(data: Context) -> None:
    data.run("import numpy as np, pandas as pd; series = pd.Series([1, 2], index=['a', 'b'], name='n')").ok()
    assert [output["format"] for output in data.run("series").ok().outputs] == ["text"]
    run = data.run("display(series, format='data')").ok()
    assert run.output("data")["value"]["data"] == [{"index": "a", "n": 1}, {"index": "b", "n": 2}]
    run = data.run("display(np.arange(4).reshape(2, 2), format='data')").ok()
    assert run.output("data")["value"]["data"] == [{"0": 0, "1": 1}, {"0": 2, "1": 3}]
    chart = data.run("chart('line', series.to_frame())").ok().output("chart")["value"]
    assert chart["elements"] == [{"label": "n", "points": [["a", 1], ["b", 2]]}]
    chart = data.run("chart('bar', series)").ok().output("chart")["value"]
    assert [element["value"] for element in chart["elements"]] == [1, 2]


def test_what_was_shown_before_an_error_stays(data: Context) -> None:
    data.run("import pandas as pd; frame = pd.DataFrame({'a': [1]})").ok()
    run = data.run("display(frame)\ndisplay(frame)\nframe['none']", artifactPolicy="promote")
    assert [output["format"] for output in run.outputs] == ["text", "html", "data"] * 2
    assert run.status == "error" and run.error_name == "KeyError" and "cell-2" in run.traceback
    assert data.run("1", artifactPolicy="promote").ok().result == "1"


def test_errors(data: Context) -> None:
    data.run("import pandas as pd").ok()
    run = data.run("pd.read_csv('none.csv')")
    assert run.error_name == "FileNotFoundError" and "none.csv" in run.traceback
    assert data.run("pd.DataFrame({'a': [1]}).merge(pd.DataFrame({'b': [1]}))").error_name == "MergeError"
    assert data.run("pd.to_datetime('nonsense')").error_name == "DateParseError"
    assert data.run("pd.read_csv(__import__('io').StringIO('a\\n1,2,3\\n1,2\\n1,2,3,4'))").error_name == "ParserError"
    assert data.run("pd.DataFrame({'a': [1]}).to_parquet('x')").error_name == "ImportError"
    assert data.run("1").ok().result == "1"
