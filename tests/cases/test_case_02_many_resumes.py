# SPDX-License-Identifier: Apache-2.0
"""Case 2: the twentieth resume keeps as much as the first."""

from quick.client import Context


def test_twenty_cycles_lose_nothing(python: Context) -> None:
    python.run("import os").ok()
    for i in range(1, 21):
        python.run(
            f"log = globals().get('log', []) + [{i}]\nopen('/workspace/{i}', 'w').write(str({i}))"
        ).ok()
        python.evict()
        run = python.run(
            "log, len(os.listdir('/workspace')), all(open(f'/workspace/{n}').read() == str(n) for n in log)"
        )
        assert run.ok().result == f"({list(range(1, i + 1))}, {i}, True)"
        assert run.context["resumed"] is True and run.context["stale"] is False


def test_a_resume_without_a_run_between_loses_nothing(javascript: Context) -> None:
    javascript.run("let n = 0; const big = 'x'.repeat(500_000)").ok()
    for i in range(10):
        javascript.evict()
        assert javascript.value("big.length") == "500000"
        javascript.evict()
        assert javascript.value("++n") == str(i + 1)


def test_memory_that_shrinks_and_grows_over_resumes(python: Context) -> None:
    for size in (5_000_000, 10, 2_000_000, 20_000_000, 0, 1_000):
        python.run(
            f"data = bytes(i & 255 for i in range({min(size, 1000)})) + bytes({max(size - 1000, 0)})"
        ).ok()
        python.evict()
        assert (
            python.value("len(data), sum(data)")
            == f"({size}, {sum(i & 255 for i in range(min(size, 1000)))})"
        )
