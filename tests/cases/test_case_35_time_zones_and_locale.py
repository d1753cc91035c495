# SPDX-License-Identifier: Apache-2.0
"""Case 35: time zones ship with us; UTC and UTF-8 are the defaults, whatever the host has set."""

import pytest

from conftest import Between
from quick.client import Context


def test_python_zones(python: Context, between: Between) -> None:
    python.run(
        "from zoneinfo import ZoneInfo, available_timezones\nfrom datetime import datetime, timezone\nimport time, os, sys, locale"
    ).ok()
    between(python)
    assert (
        python.value(
            "str(datetime(2024, 7, 1, 12, tzinfo=timezone.utc).astimezone(ZoneInfo('Europe/Paris')))"
        )
        == "'2024-07-01 14:00:00+02:00'"
    )
    assert (
        python.value(
            "datetime(2024, 1, 1, tzinfo=ZoneInfo('Asia/Kolkata')).utcoffset().total_seconds()"
        )
        == "19800.0"
    )
    assert (
        python.value(
            "len(available_timezones()) > 400, {'UTC', 'America/New_York', 'Pacific/Auckland'} <= available_timezones()"
        )
        == "(True, True)"
    )
    assert python.run("ZoneInfo('No/Where')").error_name == "ZoneInfoNotFoundError"


def test_python_defaults(python: Context, between: Between) -> None:
    python.run("import time, os, sys, locale\nfrom datetime import datetime").ok()
    between(python)
    assert (
        python.value("time.tzname[0], time.timezone, str(datetime.now().astimezone().tzinfo)")
        == "('UTC', 0, 'UTC')"
    )
    assert (
        python.value(
            "sys.getfilesystemencoding(), sys.getdefaultencoding(), locale.getpreferredencoding(), open('x', 'w').encoding.lower()"
        )
        == "('utf-8', 'utf-8', 'utf-8', 'utf-8')"
    )
    assert python.value("time.strftime('%c', time.gmtime(0))") == "'Thu Jan  1 00:00:00 1970'"


def test_python_tzset(python: Context, between: Between) -> None:
    python.run("import os, time; os.environ['TZ'] = 'Asia/Tokyo'; time.tzset()").ok()
    between(python)
    assert (
        python.value(
            "time.localtime(0)[:5], time.strftime('%H %Z', time.localtime(0)), time.timezone"
        )
        == "((1970, 1, 1, 9, 0), '09 JST', -32400)"
    )
    assert (
        python.run("time.strftime('%Z', time.localtime(0))", env={"TZ": "UTC"}).ok().result
        == "'UTC'"
    )


def test_a_missing_locale_says_so(python: Context) -> None:
    run = python.run("import locale; locale.setlocale(locale.LC_ALL, 'de_DE.UTF-8')")
    assert (
        run.error is not None and run.error["name"] == "Error" and "locale" in run.error["message"]
    )
    assert python.value("locale.setlocale(locale.LC_ALL, 'C')") == "'C'"


def test_javascript_dates(javascript: Context, between: Between) -> None:
    between(javascript)
    assert (
        javascript.value(
            "[new Date(0).getTimezoneOffset(), new Date(0).toISOString(), new Date(0).getHours()]"
        )
        == "[ 0, '1970-01-01T00:00:00.000Z', 0 ]"
    )
    assert javascript.value("new Date(0).toString()") in (
        "'Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)'",
        "'Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)'",
        "'Thu Jan 01 1970 00:00:00 GMT+0000'",
    )


@pytest.mark.parametrize(
    "code",
    [
        "new Intl.NumberFormat('de-DE').format(1234.5)",
        "new Date(0).toLocaleString('de-DE', { timeZone: 'Asia/Tokyo' })",
    ],
)
def test_javascript_locales_are_right_or_refused(javascript: Context, code: str) -> None:
    """A wrong answer would be the fault: either what a browser says, or an error that can be caught."""
    run = javascript.run(code)
    if run.status == "ok":
        assert run.result in ("'1.234,5'", "'1.1.1970, 09:00:00'"), run.raw
    else:
        assert run.error_name in ("ReferenceError", "TypeError", "RangeError", "Error")
