# SPDX-License-Identifier: Apache-2.0
"""Cases 48 and 50, Ruby: who writes where, randomness, environment, what results are made of, and limits."""

from conftest import Between
from quick.client import Sandbox
from quick.engines import needs

pytestmark = needs("ruby")

RANDOM = "[rand(10**9), Random.new_seed, Random.new.rand, SecureRandom.hex(4)]"


def test_contexts_and_forks_draw_different_numbers(sandbox: Sandbox) -> None:
    first, second = sandbox.context("ruby"), sandbox.context("ruby")
    assert first.run(RANDOM).result != second.run(RANDOM).result
    fork = first.fork()
    drawn, of_fork = first.run(RANDOM).result, fork.run(RANDOM).result
    assert drawn is not None and of_fork is not None
    assert not set(drawn.strip("[]").split(", ")) & set(of_fork.strip("[]").split(", "))


def test_a_seed_of_the_user_stays(sandbox: Sandbox, between: Between) -> None:
    context = sandbox.context("ruby")
    context.run("srand 5")
    between(context)
    fork = context.fork()
    assert context.run("rand 10**9").result == fork.run("rand 10**9").result


def test_environment_and_directory_of_one_run(sandbox: Sandbox, between: Between) -> None:
    context = sandbox.context("ruby")
    context.run("Dir.mkdir 'below'")
    between(context)
    code = "[ENV['FOO'], Dir.pwd]"
    run = context.run(code, env={"FOO": "é"}, cwd="/workspace/below")
    assert run.result == '["é", "/workspace/below"]'
    assert context.run(code).result == '[nil, "/workspace"]'


def test_plain_data_is_json_too(sandbox: Sandbox) -> None:
    code = "{n: 1, 's' => '1', u: nil, t: true, l: [1.5, Float::INFINITY, :sym]}"
    run = sandbox.context("ruby").run(code)
    values = [output["value"] for output in run.outputs if output["format"] == "json"]
    assert values == [{"n": 1, "s": "1", "u": None, "t": True, "l": [1.5, None, "sym"]}]


def test_what_is_not_plain_is_text_only(sandbox: Sandbox) -> None:
    run = sandbox.context("ruby").run("[1, Object]")
    assert [output["format"] for output in run.outputs] == ["text"]


def test_displays_come_before_the_result(sandbox: Sandbox) -> None:
    code = """
    display("**x**", format: "markdown"); display({a: 1}); Dormouse.display("<b>", format: "html"); "end"
    """
    run = sandbox.context("ruby").run(code)
    formats = [(output["format"], output["isResult"]) for output in run.outputs]
    assert formats[0] == ("markdown", False) and ("html", False) in formats
    assert ("json", False) in formats and formats[-1] == ("text", True)


def test_objects_may_show_themselves(sandbox: Sandbox) -> None:
    code = """
    class Table
      def to_html = "<table></table>"
      def to_svg = raise("not today")
    end
    Table.new
    """
    run = sandbox.context("ruby").run(code)
    assert sorted(output["format"] for output in run.outputs) == ["html", "text"]


def test_a_signal_of_the_user_is_an_exception(sandbox: Sandbox, between: Between) -> None:
    context = sandbox.context("ruby")
    context.run("trap('INT') { puts 'trapped' }")
    between(context)
    assert context.run("Process.kill(:INT, $$); 1").stdout == "trapped\n"


def test_memory_runs_out_for_one_run(sandbox: Sandbox, between: Between) -> None:
    context = sandbox.context("ruby")
    context.run("keep = 'kept'")
    run = context.run("a = []; loop { a << 'x' * 100_000 }", memoryBytes=128 << 20)
    assert run.status in ("error", "oom"), run.status
    between(context)
    assert context.run("keep").result == '"kept"'
    objects = context.run("b = []; loop { b << [b, {b => 1}] }", memoryBytes=128 << 20)
    assert objects.status in ("error", "oom"), objects.status
    between(context)
    assert context.run("keep").result == '"kept"'


def test_a_stopped_run_keeps_what_it_did(sandbox: Sandbox, between: Between) -> None:
    context = sandbox.context("ruby")
    run = context.run("steps = 0; loop { steps += 1 }", timeoutMs=600)
    assert (run.status, run.state) == ("timeout", "kept")
    between(context)
    assert context.run("steps > 0").result == "true"


def test_garbage_is_collected_while_variables_live_on_the_stack(
    sandbox: Sandbox, between: Between
) -> None:
    context = sandbox.context("ruby")
    context.run(
        """
        def fiber(n)
          Fiber.new do
            text = "s" * n
            [1, 2].sort_by { |i| Fiber.yield text + i.to_s; i }.each { |i| Fiber.yield text * i }
            text
          end
        end
        fibers = (1..50).map { |n| fiber(n) }
        first = fibers.map(&:resume)
        """
    )
    between(context)
    run = context.run(
        """
        GC.stress = true
        again = fibers.first(5).map(&:resume)
        GC.stress = false
        200.times { "x" * 10_000 }; GC.start
        again + fibers.last(45).map(&:resume).map(&:size).minmax
        """
    )
    assert run.result == '["s2", "ss2", "sss2", "ssss2", "sssss2", 7, 51]'
    between(context)
    assert context.run("GC.start; fibers.map { |f| f.resume.size }.sum").result == str(
        sum(range(1, 51))
    )
