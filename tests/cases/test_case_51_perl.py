# SPDX-License-Identifier: Apache-2.0
"""Case 51, Perl: randomness, environment, directory, and what results and displays are made of."""

from quick.client import Sandbox
from quick.engines import needs

pytestmark = needs("perl")

RANDOM = "int rand 1e9"


def test_contexts_and_forks_draw_different_numbers(sandbox: Sandbox) -> None:
    first, second = sandbox.context("perl"), sandbox.context("perl")
    assert first.run(RANDOM).result != second.run(RANDOM).result
    fork = first.fork()
    assert first.run(RANDOM).result != fork.run(RANDOM).result


def test_a_seed_of_the_user_stays(sandbox: Sandbox) -> None:
    context = sandbox.context("perl")
    context.run("srand 5")
    fork = context.fork()
    assert context.run(RANDOM).result == fork.run(RANDOM).result


def test_environment_and_directory_of_one_run(sandbox: Sandbox) -> None:
    context = sandbox.context("perl")
    context.run("mkdir 'below'")
    code = "use Cwd; ($ENV{FOO} // 'none') . ' ' . getcwd()"
    run = context.run(code, env={"FOO": "é"}, cwd="/workspace/below")
    assert run.result == "é /workspace/below"
    assert context.run(code).result == "none /workspace"


def test_plain_data_is_json_too(sandbox: Sandbox) -> None:
    code = "{n => 1, s => '1', u => undef, t => 1 == 1, l => [1.5, 9**9**9]}"
    run = sandbox.context("perl").run(code)
    values = [output["value"] for output in run.outputs if output["format"] == "json"]
    assert values == [{"n": 1, "s": "1", "u": None, "t": True, "l": [1.5, None]}]


def test_displays_come_before_the_result(sandbox: Sandbox) -> None:
    code = """
    display("**x**", {format => "markdown"}); display({a => 1}); display("<b>", "html"); "end"
    """
    run = sandbox.context("perl").run(code)
    formats = [(output["format"], output["isResult"]) for output in run.outputs]
    assert formats[0] == ("markdown", False) and ("html", False) in formats
    assert ("json", False) in formats and formats[-1] == ("text", True)


def test_an_unknown_format_is_an_error(sandbox: Sandbox) -> None:
    run = sandbox.context("perl").run('display("x", {format => "nonsense"})')
    assert run.status == "error" and run.error is not None and "nonsense" in run.error["message"]
