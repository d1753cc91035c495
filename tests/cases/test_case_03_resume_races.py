# SPDX-License-Identifier: Apache-2.0
"""Case 3: many runs at once on a dormant context; every optional field may be left out."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from quick.client import Client, Context

# An absent body, an empty object, an empty body that claims to be JSON.
BODIES: list[dict[str, Any]] = [
    {},
    {"json": {}},
    {"content": b"", "headers": {"content-type": "application/json"}},
]


def test_ten_runs_at_once_on_a_dormant_context(python: Context) -> None:
    python.run("log = []").ok()
    for _ in range(3):
        python.run("log.clear()").ok()
        python.evict()
        with ThreadPoolExecutor(10) as pool:
            runs = list(pool.map(lambda n: python.run(f"log.append({n}); len(log)"), range(10)))
        assert sorted(int(run.ok().result or "0") for run in runs) == list(range(1, 11))
        assert sum(run.context["resumed"] for run in runs) == 1


def test_evicts_and_runs_at_once(python: Context) -> None:
    python.run("n = 0").ok()
    with ThreadPoolExecutor(8) as pool:
        evictions = [
            pool.submit(python.sandbox.client.post, f"{python.path}/evict") for _ in range(10)
        ]
        runs = [pool.submit(python.run, "n += 1; n") for _ in range(10)]
        assert sorted(int(run.result(60).ok().result or "0") for run in runs) == list(range(1, 11))
        for eviction in evictions:
            assert eviction.result(60)["context"]["id"] == python.id
    assert python.value("n") == "10"


def test_calls_without_fields_need_no_body(client: Client, python: Context) -> None:
    python.run("x = 1").ok()
    for action, status in (("evict", 200), ("interrupt", 200), ("fork", 201)):
        for options in BODIES:
            response = client.http.post(f"{python.path}/{action}", **options)
            assert response.status_code == status, (action, options)
    assert python.value("x") == "1"
