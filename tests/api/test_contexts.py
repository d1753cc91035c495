# SPDX-License-Identifier: Apache-2.0
"""Code contexts: creation, defaults, limits, and what may not be mixed."""

import re
from typing import Any

import pytest

from quick.client import ApiError, Client, Sandbox

LANGUAGES = ["python", "javascript", "typescript"]
ONE = {"python": "x = 1", "javascript": "var x = 1", "typescript": "var x: number = 1"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_context_has_every_documented_field(sandbox: Sandbox, language: str) -> None:
    answer = sandbox.client.post(f"{sandbox.path}/code/contexts", {"language": language})
    context = answer["context"]
    assert re.fullmatch(r"cctx_[A-Za-z0-9][A-Za-z0-9_-]*", context["id"])
    assert context["sandboxId"] == sandbox.id and context["language"] == language
    assert context["binding"] == language.upper() and context["cwd"] == "/workspace"
    assert context["isDefault"] is False and "name" not in context
    assert context["executions"] == 0 and context["snapshot"] is None
    assert context["resident"] is False and context["running"] is False
    got = sandbox.client.get(f"{sandbox.path}/code/contexts/{context['id']}")["context"]
    assert got == context


def test_nine_contexts_are_one_too_many(sandbox: Sandbox) -> None:
    made = [sandbox.context(LANGUAGES[n % 3]) for n in range(8)]
    with pytest.raises(ApiError) as caught:
        sandbox.context("python")
    assert (caught.value.status, caught.value.code) == (429, "quota_exceeded")
    assert caught.value.details["limit"] == 8
    with pytest.raises(ApiError) as default:
        sandbox.run("1", language="python")
    assert default.value.code == "quota_exceeded"
    with pytest.raises(ApiError) as fork:
        made[0].fork()
    assert fork.value.code == "quota_exceeded"
    made[3].delete()
    assert sandbox.context("python").value("1 + 1") == "2"
    assert len(sandbox.contexts()) == 8


def test_the_list_is_newest_first_and_paged(sandbox: Sandbox) -> None:
    made = [sandbox.context("python").id for _ in range(3)]
    assert [context["id"] for context in sandbox.contexts()] == made[::-1]
    page = sandbox.client.get(f"{sandbox.path}/code/contexts", limit=2)
    assert page["hasMore"] is True
    rest = sandbox.client.get(f"{sandbox.path}/code/contexts", limit=2, cursor=page["nextCursor"])
    assert [context["id"] for context in page["data"] + rest["data"]] == made[::-1]
    assert rest["hasMore"] is False and "nextCursor" not in rest


def test_names_are_unique_in_their_sandbox_until_freed(client: Client, sandbox: Sandbox) -> None:
    first = sandbox.context("python", name="main")
    with pytest.raises(ApiError) as caught:
        sandbox.context("javascript", name="main")
    assert (caught.value.status, caught.value.code) == (409, "conflict")
    with pytest.raises(ApiError) as fork:
        first.fork(name="main")
    assert fork.value.code == "conflict"
    other = client.sandbox()
    other.context("python", name="main")
    first.run("x = 1").ok()
    first.delete()
    again = sandbox.context("python", name="main")
    assert again.id != first.id
    assert again.run("x").error_name == "NameError"


@pytest.mark.parametrize("name", ["", "a\x00b", "a\nb", "n" * 129, 5, None])
def test_names_that_are_none_are_refused(sandbox: Sandbox, name: Any) -> None:
    with pytest.raises(ApiError) as caught:
        sandbox.context("python", name=name)
    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    assert caught.value.details["field"] == "name"


@pytest.mark.parametrize("name", ["main", "ключ", "🦔", "a b", "../x", "cctx_", "%2e"])
def test_any_printable_name_does(sandbox: Sandbox, name: str) -> None:
    context = sandbox.context("python", name=name)
    assert context.get()["name"] == name
    run = sandbox.run("x = 1", contextName=name, language="python").ok()
    assert run.raw["contextId"] == context.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_runs_without_a_context_share_the_languages_default(
    sandbox: Sandbox, language: str
) -> None:
    first = sandbox.run(ONE[language], language=language).ok()
    second = sandbox.run("x + 1", language=language).ok()
    by_binding = sandbox.run("x + 2", binding=language.upper()).ok()
    assert second.result == "2" and by_binding.result == "3"
    assert first.raw["contextId"] == second.raw["contextId"] == by_binding.raw["contextId"]
    (context,) = sandbox.contexts()
    assert context["isDefault"] is True and context["id"] == first.raw["contextId"]


def test_each_language_has_a_default_of_its_own(sandbox: Sandbox) -> None:
    ids = {
        sandbox.run(ONE[language], language=language).ok().raw["contextId"]
        for language in LANGUAGES
    }
    assert len(ids) == 3
    explicit = sandbox.context("python")
    assert explicit.run("x").error_name == "NameError"


def test_a_deleted_default_is_made_anew(sandbox: Sandbox) -> None:
    first = sandbox.run("x = 1", language="python").ok().raw["contextId"]
    sandbox.client.call("DELETE", f"{sandbox.path}/code/contexts/{first}")
    run = sandbox.run("x", language="python")
    assert run.error_name == "NameError" and run.raw["contextId"] != first


def test_another_language_than_the_contexts_is_refused(sandbox: Sandbox) -> None:
    context = sandbox.context("python", name="p")
    for fields in (
        {"contextId": context.id, "language": "javascript"},
        {"contextId": context.id, "binding": "JAVASCRIPT"},
        {"contextName": "p", "language": "typescript"},
        {"language": "python", "binding": "JAVASCRIPT"},
    ):
        with pytest.raises(ApiError) as caught:
            sandbox.run("1", **fields)
        assert (caught.value.status, caught.value.code) == (400, "invalid_request"), fields
    # The language may be left out where a context is named.
    assert sandbox.run("1", contextId=context.id).ok().result == "1"
    assert sandbox.run("2", contextName="p").ok().result == "2"


def test_contexts_of_another_sandbox_do_not_exist(client: Client, sandbox: Sandbox) -> None:
    theirs = client.sandbox().context("python", name="theirs")
    theirs.run("secret = 1").ok()
    foreign = f"{sandbox.path}/code/contexts/{theirs.id}"
    calls = [
        ("GET", foreign, None),
        ("DELETE", foreign, None),
        ("POST", f"{foreign}/interrupt", {}),
        ("POST", f"{foreign}/evict", {}),
        ("POST", f"{foreign}/fork", {}),
        ("POST", f"{foreign}/rollback", {"generation": 1}),
        ("GET", f"{foreign}/snapshots", None),
        ("POST", f"{sandbox.path}/code/runs", {"code": "secret", "contextId": theirs.id}),
        ("POST", f"{sandbox.path}/code/runs/stream", {"code": "secret", "contextId": theirs.id}),
        ("POST", f"{sandbox.path}/code/runs", {"code": "secret", "contextName": "theirs"}),
    ]
    for call in calls:
        with pytest.raises(ApiError) as caught:
            client.call(*call)
        assert (caught.value.status, caught.value.code) == (404, "not_found"), call
    assert theirs.value("secret") == "1"


def test_a_deleted_context_is_gone_but_the_workspace_stays(sandbox: Sandbox) -> None:
    context = sandbox.context("python")
    context.run("open('kept.txt', 'w').write('kept')").ok()
    deleted = context.delete()
    assert deleted["id"] == context.id
    for call in (context.get, lambda: context.run("1"), context.evict, context.fork):
        with pytest.raises(ApiError) as caught:
            call()
        assert caught.value.code == "not_found"
    assert sandbox.read("kept.txt") == "kept"
    assert sandbox.contexts() == []


def test_a_context_may_start_in_a_directory_with_an_environment(sandbox: Sandbox) -> None:
    sandbox.client.post(f"{sandbox.path}/files/mkdir", {"path": "project/src", "parents": True})
    context = sandbox.context("python", cwd="project/src", env={"MODE": "test", "SECRET": "not to be told"})
    described = context.get()
    assert described["cwd"] == "/workspace/project/src"
    assert described["envKeys"] == ["MODE", "SECRET"] and "not to be told" not in str(described)
    assert (
        context.value("import os; os.getcwd(), os.environ['MODE']")
        == "('/workspace/project/src', 'test')"
    )
    context.evict()
    run = context.run(
        "os.getcwd(), os.environ['MODE'], os.environ['X']", env={"MODE": "once", "X": "y"}
    )
    assert run.ok().result == "('/workspace/project/src', 'once', 'y')"
    assert context.value("os.environ['MODE'], 'X' in os.environ") == "('test', False)"


@pytest.mark.parametrize(
    ("cwd", "code"),
    [
        ("/", "path_outside_workspace"),
        ("..", "path_outside_workspace"),
        ("/etc", "path_outside_workspace"),
        ("/workspace/../etc", "path_outside_workspace"),
        ("a\x00b", "invalid_request"),
        (5, "invalid_request"),
    ],
)
def test_a_directory_outside_is_refused(sandbox: Sandbox, cwd: Any, code: str) -> None:
    with pytest.raises(ApiError) as caught:
        sandbox.context("python", cwd=cwd)
    assert (caught.value.status, caught.value.code) == (400, code)
    with pytest.raises(ApiError) as run:
        sandbox.run("1", language="python", cwd=cwd)
    assert (run.value.status, run.value.code) == (400, code)


@pytest.mark.parametrize(
    "env", [{"1A": "x"}, {"": "x"}, {"A B": "x"}, {"A": 5}, {"A": "x\x00"}, ["A"], "A"]
)
def test_an_environment_that_is_none_is_refused(sandbox: Sandbox, env: Any) -> None:
    for call in (
        lambda: sandbox.context("python", env=env),
        lambda: sandbox.run("1", language="python", env=env),
    ):
        with pytest.raises(ApiError) as caught:
            call()
        assert (caught.value.status, caught.value.code) == (400, "invalid_request")


def test_reserved_environment_names_are_refused(sandbox: Sandbox) -> None:
    for name in ("CROWNEST_API_KEY", "DORMOUSE_X"):
        with pytest.raises(ApiError) as caught:
            sandbox.run("1", language="python", env={name: "x"})
        assert (caught.value.status, caught.value.code) == (400, "reserved_env_key")


def test_execution_counts_are_each_contexts_own(sandbox: Sandbox) -> None:
    first, second = sandbox.context("python"), sandbox.context("python")
    counts = [
        first.run("1").raw["executionCount"],
        second.run("1").raw["executionCount"],
        first.run("1/0").raw["executionCount"],
        first.run("1").raw["executionCount"],
    ]
    assert counts == [1, 1, 2, 3]
    first.evict()
    assert first.run("1").raw["executionCount"] == 4
    assert first.get()["executions"] == 4
