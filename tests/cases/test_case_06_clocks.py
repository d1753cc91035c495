# SPDX-License-Identifier: Apache-2.0
"""Case 6: after a resume the wall clock is right and the monotonic one has not gone back."""

import time

from conftest import Between
from quick.client import Context


def test_python_clocks(python: Context, between: Between) -> None:
    python.run(
        "import time, datetime\nt, m, p = time.time(), time.monotonic(), time.perf_counter()"
    ).ok()
    started = time.time()
    between(python)
    time.sleep(1.0)
    before = time.time()
    run = python.run(
        "print(time.time(), time.time() - t, time.monotonic() - m, time.perf_counter() - p)"
    ).ok()
    now, wall, monotonic, counter = map(float, run.stdout.split())
    assert before - 0.1 <= now <= time.time() + 0.1
    assert wall >= time.time() - started - 5 and wall >= 1.0
    assert monotonic >= 0 and counter >= 0
    assert (
        python.value("datetime.datetime.now(datetime.timezone.utc).timestamp() >= t + 1") == "True"
    )


def test_monotonic_clocks_never_go_back(python: Context, between: Between) -> None:
    python.run("import time; last = time.monotonic(), time.perf_counter()").ok()
    for _ in range(5):
        between(python)
        assert (
            python.value(
                "now = time.monotonic(), time.perf_counter(); r = now[0] >= last[0] and now[1] >= last[1]; last = now; r"
            )
            == "True"
        )


def test_boot_and_host_leave_no_time_behind(python: Context) -> None:
    """What boot has seen of the clock is past, and the host's own uptime is nobody's business."""
    python.run("import time; now = time.monotonic()").ok()
    assert 1000 <= float(python.value("now") or 0) < 1000 + 3600
    assert python.value("time.monotonic() >= now >= time.process_time() >= 0") == "True"


def test_javascript_clocks(javascript: Context, between: Between) -> None:
    javascript.run("const t = Date.now(), m = performance.now();").ok()
    between(javascript)
    time.sleep(0.5)
    before = time.time() * 1000
    run = javascript.run("console.log(Date.now(), Date.now() - t, performance.now() - m)").ok()
    now, wall, monotonic = map(float, run.stdout.split())
    assert before - 100 <= now <= time.time() * 1000 + 100
    assert wall >= 500 and monotonic >= 0


def test_overdue_timers_do_not_storm(javascript: Context, between: Between) -> None:
    javascript.run(
        "var fired = 0; const timer = setInterval(() => { fired++; if (fired >= 3) clearInterval(timer); }, 10);"
    ).ok()
    between(javascript)
    time.sleep(0.5)
    assert int(javascript.value("fired") or "0") <= 3
    javascript.run("setTimeout(() => { fired = 'timeout' }, 1)").ok()
    between(javascript)
    assert javascript.value("fired") == "'timeout'"
