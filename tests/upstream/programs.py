# SPDX-License-Identifier: Apache-2.0
"""What is run in a context for a file of each suite, and how its answer is read.

A program prints one line `UPSTREAM {json}` with passed, skipped and failed: names with what they reported. Perl's tests print TAP instead."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from quick.client import Run

PYTHON = """
import json, re, sys, unittest
def tell(name):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    last = lambda trace: next((l for l in reversed(trace.strip().splitlines()) if l and not l.startswith(' ')), '')[:200]
    failed = [[str(test), last(trace)] for test, trace in result.failures + result.errors]
    failed += [[str(test), 'unexpected success'] for test in result.unexpectedSuccesses]
    bad = {test.split(' [')[0] for test, _ in failed}
    skipped = sum(type(test).__name__ != '_SubTest' for test, _ in result.skipped)
    passed = result.testsRun - len(bad) - skipped
    print('UPSTREAM', json.dumps({'passed': max(passed, 0), 'skipped': skipped, 'failed': failed}))
tell('test.test_@')
"""

RUBY = r"""
require "json"
$LOAD_PATH.unshift "/workspace/tool/lib", "/workspace/test/ruby", "/workspace/test/lib"
require "test/unit/testcase"
require "core_assertions"
require "envutil"
# The whole framework, of which this is a part, loads it.
require "delegate"
require "tempfile"
# Files that need it for a few of their tests ask for it as a whole.
$LOADED_FEATURES << "continuation.rb"
module Kernel
  def callcc = raise(NotImplementedError, "continuations are not possible here")
end
class Omitted < StandardError; end
module NoProcesses
  %i[assert_separately assert_in_out_err assert_ruby_status assert_normal_exit assert_ruby_hard_exit assert_no_memory_leak
     assert_ractor assert_cpu_usage_low].each { |name| define_method(name) { |*, **, &_| raise Omitted, "needs another process" } }
  def omit(message = nil, *) = raise(Omitted, message.to_s)
  alias skip omit
  alias pend omit
  def omit_if(condition, message = nil) = (omit(message) if condition)
  alias omit_unless_jis omit_if
end
class Test::Unit::TestCase
  include Test::Unit::CoreAssertions if defined?(Test::Unit::CoreAssertions)
  prepend NoProcesses
end
passed, skipped, failed = 0, 0, []
require "/workspace/test/ruby/test_@.rb"
ObjectSpace.each_object(Class).select { |c| c < Test::Unit::TestCase && c.name }.sort_by(&:name).each do |group|
  group.public_instance_methods(true).grep(/\Atest_?/).sort.each do |name|
    test = group.new(name.to_s)
    begin
      begin
        test.setup if test.respond_to?(:setup)
        test.__send__(name)
        passed += 1
      ensure
        test.teardown if test.respond_to?(:teardown)
      end
    rescue Omitted, (defined?(Test::Unit::PendedError) ? Test::Unit::PendedError : Omitted)
      skipped += 1
    rescue Interrupt
      raise
    rescue Exception => error
      failed << ["#{group}##{name}", "#{error.class}: #{error.message.to_s.scrub.split.join(" ")[0, 300]}"]
    end
  end
end
puts "UPSTREAM " + JSON.generate({passed: passed, skipped: skipped, failed: failed})
nil
"""

JAVASCRIPT = """
const vm = require('node:vm'), fs = require('node:fs');
let passed = 0; const failed = [];
for (const name of fs.readdirSync('/workspace/tests/@').filter((n) => n.endsWith('.js') && !n.endsWith('.module.js')).sort()) {
  let compiled = true;
  try { new vm.Script(fs.readFileSync('/workspace/tests/@/' + name, 'utf8')); } catch (error) { compiled = error instanceof SyntaxError ? false : String(error); }
  if (compiled === ('@' === 'pass')) passed++; else failed.push([name, compiled === true ? 'compiles' : 'does not compile']);
}
console.log('UPSTREAM ' + JSON.stringify({ passed, skipped: 0, failed })); undefined
"""

QUICKJS = """
var upstreamPassed = 0, upstreamFailed = [];
function upstreamCall(name, call) { try { call(); upstreamPassed++; } catch (error) { upstreamFailed.push([name, String(error).slice(0, 160)]); } }
@
console.log('UPSTREAM ' + JSON.stringify({ passed: upstreamPassed, skipped: 0, failed: upstreamFailed })); undefined
"""


@dataclass
class Outcome:
    """What became of one file."""

    passed: int = 0
    skipped: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)


def read_line(run: Run) -> Outcome:
    """Of a program that tells itself."""
    for line in run.stdout.splitlines():
        if line.startswith("UPSTREAM "):
            told = json.loads(line.removeprefix("UPSTREAM "))
            return Outcome(told["passed"], told["skipped"], [(name, what) for name, what in told["failed"]])
    if run.error_name == "SkipTest":
        return Outcome(skipped=1)
    return Outcome(failed=[("the whole file", why(run))])


def explanations(stderr: str) -> dict[str, str]:
    """What was got and expected, by the numbers of tests that failed."""
    found = {}
    for part in re.split(r"(?m)^# Failed test ", stderr)[1:]:
        lines = [line.lstrip("# ") for line in part.splitlines()[1:3] if line.startswith("#")]
        found[part.split(" ", 1)[0]] = ", ".join(lines)[:300]
    return found


def read_tap(run: Run) -> Outcome:
    outcome = Outcome()
    explained = explanations(run.stderr)
    planned = None
    for line in run.stdout.splitlines():
        plan = re.match(r"1\.\.(\d+)(\s*#\s*skip.*)?", line, re.IGNORECASE)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                return Outcome(skipped=1)
        point = re.match(r"(not )?ok\b\s*(\d*)\s*-?\s*(.*)", line)
        if not point:
            continue
        if re.search(r"#\s*(skip|todo)", point[3], re.IGNORECASE):
            outcome.skipped += 1
        elif point[1]:
            outcome.failed.append((f"{point[2]} {point[3]}"[:120].strip(), explained.get(point[2]) or "not ok"))
        else:
            outcome.passed += 1
    told = outcome.passed + outcome.skipped + len(outcome.failed)
    if run.status not in ("ok", "exited") or planned is None or told < planned:
        outcome.failed.append((f"ended after {told} of {planned if planned is not None else '?'}", why(run)))
    return outcome


def why(run: Run) -> str:
    if not run.error:
        return f"status {run.status}"
    message = str(run.error["message"]).strip()
    return f"{run.error_name}: {message.splitlines()[0] if message else ''}"[:200]


@dataclass(frozen=True)
class Program:
    code: Callable[[Path, str], str]
    read: Callable[[Run], Outcome]
    cwd: str = "/workspace"


def perl_code(root: Path, name: str) -> str:
    """The file as it is, under its own name, without the features with which cells begin, and with the warnings that its first line asks for."""
    content = (root / name).read_bytes()
    before = f'no feature; BEGIN {{ $0 = "{name}"; $Dormouse::is_program = 1 }} '
    if re.match(rb"#!.*perl.* -\w*w", content):
        before += "BEGIN { $^W = 1 } "
    try:
        return f'{before}\n#line 1 "{name}"\n{content.decode()}'
    except UnicodeDecodeError:
        # Cells are UTF-8.
        return f'{before} do "./{name}" // die $@'


def quickjs_code(root: Path, name: str) -> str:
    """The file with its calls of the tests counted."""
    text = (root / name).read_text()
    text = re.sub(r"(?m)^(test\w*)\(\);?$", r"upstreamCall('\1', () => \1());", text)
    # What a file does not compile with is compiled by itself.
    cyclic = r"upstreamCall('test_cyclic_labels', () => new Function('for (;;) { l: break l; l: break l; l: break l; }'));"
    text = re.sub(r"(?ms)^function test_cyclic_labels\(\)\n\{.*?^\}$", cyclic, text)
    strict = '"use strict";\n' if text.startswith('"use strict"') else ""
    return strict + QUICKJS.replace("@", text)


def javascript_program(name: str) -> Program:
    if not name.endswith(".js"):
        return Program(lambda _, which: JAVASCRIPT.replace("@", which), read_line)
    return Program(quickjs_code, read_line)


def program_of(language: str, name: str) -> Program:
    if language == "python":
        return Program(lambda _, which: PYTHON.replace("@", which), read_line)
    if language == "ruby":
        return Program(lambda _, which: RUBY.replace("@", which), read_line)
    if language == "perl":
        return Program(perl_code, read_tap, "/workspace/t")
    return javascript_program(name)
