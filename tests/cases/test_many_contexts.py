# SPDX-License-Identifier: Apache-2.0
"""Many dormant contexts and many busy ones at once: each keeps its own state, the dormant cost no process.

DORMOUSE_DORMANT and DORMOUSE_BUSY set the numbers; the product's bar is 1,000 and 30."""

import os
from concurrent.futures import ThreadPoolExecutor

from conftest import NewServer
from quick.client import Context, Sandbox
from quick.processes import wait_until, workers_of

DORMANT = int(os.environ.get("DORMOUSE_DORMANT", "24"))
BUSY = int(os.environ.get("DORMOUSE_BUSY", "10"))
STEPS = 10
PER_SANDBOX = 8
LANGUAGES = ("python", "javascript", "typescript")


def make(sandboxes: list[Sandbox], number: int) -> Context:
    language = LANGUAGES[number % len(LANGUAGES)]
    context = sandboxes[number // PER_SANDBOX].context(language, name=f"c{number}")
    prefix = "" if language == "python" else "let "
    context.run(f"{prefix}own = {number}").ok()
    return context


def test_dormant_and_busy_contexts(new_server: NewServer) -> None:
    server = new_server(f"[limits]\ncontexts_per_sandbox = {PER_SANDBOX}\n")
    total = DORMANT + BUSY
    sandboxes = [server.client.sandbox() for _ in range(0, total, PER_SANDBOX)]
    contexts: list[Context] = []
    for number in range(total):
        context = make(sandboxes, number)
        context.evict()
        contexts.append(context)
    assert all(context.get()["resident"] is False for context in contexts[:5])

    def keep_busy(number: int) -> None:
        for step in range(1, STEPS + 1):
            assert contexts[number].value(f"own += {total}; own") == str(number + step * total)

    with ThreadPoolExecutor(BUSY) as pool:
        for done in [pool.submit(keep_busy, DORMANT + i) for i in range(BUSY)]:
            done.result()
    for number in range(0, DORMANT, max(1, DORMANT // 50)):
        assert contexts[number].value("own") == str(number)
        contexts[number].evict()
    for number in range(DORMANT, total):
        assert contexts[number].value("own") == str(number + STEPS * total)
        contexts[number].evict()
    # What is left are the spares, one of each engine.
    engines = {binding["buildId"] for binding in server.client.get("/v1/bindings")["data"]}
    wait_until(
        lambda: len(workers_of(server.pid)) <= len(engines), "no workers but one spare per engine"
    )
