# SPDX-License-Identifier: Apache-2.0
"""Fork, rollback, snapshots, evict, interrupt."""

import threading
from collections.abc import Callable

import pytest

from quick.client import ApiError, Context, Run, Sandbox
from quick.processes import wait_until


def in_background(call: Callable[[], Run]) -> tuple[threading.Thread, list[Run]]:
    """Starts a run in a thread; its result is appended to the list."""
    results: list[Run] = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    return thread, results


def test_fork_copies_memory_and_shares_the_workspace(python: Context) -> None:
    python.run("import os; x = [1]; f = open('f.txt', 'w+'); f.write('abc'); f.flush()").ok()
    forked = python.fork(name="copy")
    assert forked.get()["name"] == "copy" and forked.get()["isDefault"] is False
    forked.run("x.append(2); open('from_fork', 'w').close()").ok()
    python.run("x.append(3)").ok()
    assert forked.value("x") == "[1, 2]"
    assert python.value("x, os.path.exists('from_fork')") == "([1, 3], True)"
    assert forked.value("f.tell(), f.name") == "(3, 'f.txt')"
    python.delete()
    assert forked.value("x") == "[1, 2]"


def test_fork_of_a_context_that_never_ran(python: Context) -> None:
    forked = python.fork()
    assert forked.value("x = 1; x") == "1"
    assert python.run("x").error_name == "NameError"


def test_fork_of_an_earlier_generation(python: Context) -> None:
    for n in range(4):
        python.run(f"x = {n}").ok()
    generations = {item["executions"]: item["generation"] for item in python.generations()}
    assert python.fork(generation=generations[2]).value("x") == "1"
    assert python.value("x") == "3"
    with pytest.raises(ApiError) as caught:
        python.fork(generation=10**9)
    assert caught.value.code == "not_found"


def test_forks_of_forks_share_nothing(python: Context) -> None:
    python.run("chain = [0]").ok()
    contexts = [python]
    for n in range(1, 6):
        contexts.append(contexts[-1].fork())
        contexts[-1].run(f"chain.append({n})").ok()
        contexts[-1].evict()
    for n, context in enumerate(contexts):
        assert context.value("chain") == str(list(range(n + 1)))


def test_snapshots_are_listed_and_rollback_returns_to_one(python: Context) -> None:
    runs = [python.run(f"x = {n}").ok() for n in range(5)]
    generations = [run.context["generation"] for run in runs]
    assert sorted(set(generations)) == generations
    listed = python.generations()
    assert [item["generation"] for item in listed][:5] == generations[::-1]
    for item in listed:
        assert item["storedBytes"] > 0 and item["pages"] > 0 and item["takenAt"].endswith("Z")
    rolled = python.rollback(generations[1])
    assert rolled["id"] == python.id
    assert python.value("x") == "1"
    python.evict()
    assert python.value("x") == "1"
    # Forward again is possible as long as that generation is kept.
    after = {item["generation"] for item in python.generations()}
    if generations[4] in after:
        python.rollback(generations[4])
        assert python.value("x") == "4"


def test_rollback_leaves_the_workspace_alone(python: Context) -> None:
    first = python.run("x = 1; open('a', 'w').write('first')").ok()
    python.run("x = 2; open('a', 'w').write('second')").ok()
    python.rollback(first.context["generation"])
    assert python.value("x, open('a').read()") == "(1, 'second')"


@pytest.mark.parametrize("generation", [-1, 1.5, "1", None, True])
def test_a_generation_that_is_none_is_refused(python: Context, generation: object) -> None:
    with pytest.raises(ApiError) as caught:
        python.sandbox.client.post(f"{python.path}/rollback", {"generation": generation})
    assert (caught.value.status, caught.value.code) == (400, "invalid_request")


def test_an_unknown_generation_is_not_found(python: Context) -> None:
    python.run("1").ok()
    with pytest.raises(ApiError) as caught:
        python.rollback(10**9)
    assert caught.value.code == "not_found"


def test_only_the_configured_number_of_generations_is_kept(python: Context) -> None:
    capabilities = python.sandbox.client.get("/v1/capabilities")["capabilities"]
    kept = capabilities["limits"]["generationsKept"]
    for n in range(kept + 5):
        python.run(f"x = {n}").ok()
    assert len(python.generations()) == kept
    oldest = python.generations()[-1]
    python.rollback(oldest["generation"])
    assert python.value("x") == str(oldest["executions"] - 1)


def test_evict_makes_a_context_dormant_until_its_next_run(python: Context) -> None:
    python.run("x = 1").ok()
    assert python.get()["resident"] is True
    assert python.evict()["resident"] is False
    assert python.evict()["resident"] is False
    assert python.get()["snapshot"]["stale"] is False
    run = python.run("x").ok()
    assert run.result == "1" and run.context["resumed"] is True
    assert run.context["resumeMs"] > 0 and run.context["stateLost"] is False
    again = python.run("x").ok()
    assert again.context["resumed"] is False and again.context["resumeMs"] == 0


def test_evict_of_a_context_that_never_ran(python: Context) -> None:
    assert python.evict()["resident"] is False
    assert python.value("1") == "1"


def test_evict_waits_for_the_run_in_progress(python: Context) -> None:
    thread, results = in_background(lambda: python.run("import time; time.sleep(0.5); x = 5"))
    wait_until(lambda: python.get()["running"], "the run starts")
    assert python.evict()["resident"] is False
    thread.join(30)
    assert results[0].ok()
    assert python.value("x") == "5"


def test_a_run_reports_its_snapshot(python: Context) -> None:
    run = python.run("x = list(range(1000))").ok()
    context = run.context
    assert context["generation"] >= 1 and context["snapshotBytes"] > 0
    assert context["snapshotMs"] > 0 and context["stale"] is False
    usage = run.raw["usage"]
    assert usage["memoryBytes"] > 0 and usage["peakMemoryBytes"] > 0
    assert usage["cpuMs"] >= 0 and usage["wallMs"] > 0 and usage["fuelLimit"] is None


@pytest.mark.parametrize("language", ["python", "javascript", "typescript"])
def test_interrupt_ends_the_run_and_keeps_the_state(sandbox: Sandbox, language: str) -> None:
    loop = {"python": "while True: pass", "javascript": "for (;;);", "typescript": "for (;;);"}[
        language
    ]
    context = sandbox.context(language)
    context.run("x = 1" if language == "python" else "var x = 1").ok()
    thread, results = in_background(lambda: context.run(loop))
    wait_until(lambda: context.get()["running"], "the run starts")
    assert context.interrupt()["id"] == context.id
    thread.join(30)
    run = results[0]
    assert (run.status, run.state) == ("interrupted", "kept")
    assert run.error is not None
    assert context.value("x") == "1"


def test_interrupt_of_an_idle_context_does_nothing(python: Context) -> None:
    python.run("x = 1").ok()
    python.interrupt()
    assert python.value("x") == "1"


def test_interrupt_of_a_sleep(python: Context) -> None:
    thread, results = in_background(lambda: python.run("x = 1\nimport time\ntime.sleep(1000)"))
    wait_until(lambda: python.get()["running"], "the run starts")
    python.interrupt()
    thread.join(30)
    assert results[0].status == "interrupted"
    assert python.run("1").ok().result == "1"
