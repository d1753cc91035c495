# SPDX-License-Identifier: Apache-2.0
"""Commands of workspace runs: what they may be, and what their programs see."""

import pytest

from quick.client import ApiError, Client, Json
from quick.engines import INSTALLED_LANGUAGES, needs
from quick.workspace_runs import RUNS, create, events, finish, output, refused


def test_python_scripts_see_what_a_process_would_see(client: Client) -> None:
    run = finish(
        client,
        "cd app && PYTHONPATH=../lib python -m pkg.main x && python -c 'import sys; print(sys.argv, sys.path[0] == \"\")' y"
        " && python script.py && cd .. && python boom.py",
        {
            "app/pkg/__init__.py": "",
            "app/pkg/main.py": "import sys, shared\nprint(__name__, sys.argv[1:], sys.path[0], shared.y)\n",
            "lib/shared.py": "y = 9\n",
            "app/script.py": "import __main__, sys, atexit, os\natexit.register(lambda: print('bye'))\n"
            "def f(): pass\nassert __main__.f is f\nprint(__file__, sys.path[0], os.getcwd())\n",
            "boom.py": "def f():\n    raise ValueError('no')\nf()\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "__main__ ['x'] /workspace/app 9",
        "['-c', 'y'] True",
        "/workspace/app/script.py /workspace/app /workspace/app",
        "bye",
    ]
    trace = output(client, run["id"], "stderr")
    assert trace.startswith("Traceback (most recent call last):\n") and "cell" not in trace
    assert 'File "/workspace/boom.py", line 3, in <module>' in trace
    assert trace.endswith("ValueError: no\n")
    assert (run["status"], run["exitCode"]) == ("failed", 1)
    assert (run["failureReason"], run["failureClass"]) == ("command_exit", "user_command")
    assert run["orchestrationSucceeded"] is True


@pytest.mark.parametrize(
    ("code", "exit_code", "error"),
    [
        ("raise SystemExit(7)", 7, ""),
        ("import sys; sys.exit('nope')", 1, "nope\n"),
        ("exit()", 0, ""),
        ("x = (", 1, "SyntaxError"),
        ("import sys\nsys.excepthook = lambda *a: print('hook')\n1/0", 1, ""),
    ],
)
def test_exit_codes_of_python(client: Client, code: str, exit_code: int, error: str) -> None:
    run = finish(client, "python a.py", {"a.py": code})
    assert run["exitCode"] == exit_code
    assert error in output(client, run["id"], "stderr")
    assert run["status"] == ("succeeded" if exit_code == 0 else "failed")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("python -m nope", "python: No module named nope\n"),
        ("python -m empty", "python: No module named empty.__main__; 'empty' is a package"),
        ("python empty", "python: can't find '__main__' module in '/workspace/empty'"),
    ],
)
def test_a_module_that_is_missing(client: Client, command: str, message: str) -> None:
    run = finish(client, command, {"empty/__init__.py": ""})
    assert run["exitCode"] == 1 and output(client, run["id"], "stderr").startswith(message)


def test_a_file_that_is_missing(client: Client) -> None:
    run = finish(client, "python none.py", {"a": ""})
    assert run["exitCode"] == 2
    assert "can't open file '/workspace/none.py'" in output(client, run["id"], "stderr")
    run = finish(client, "cd none && python a.py", {"a": ""})
    assert run["exitCode"] == 1
    assert output(client, run["id"], "stderr") == "sh: cd: none: No such file or directory\n"
    run = finish(client, "node none.js", {"a": ""})
    assert run["exitCode"] == 1 and "none.js" in output(client, run["id"], "stderr")


def test_javascript_and_typescript(client: Client) -> None:
    run = finish(
        client,
        "cd js && A=1 node main.js x && node module.mjs && tsx main.ts y && node -e 'console.log(process.argv.length)' z",
        {
            "js/main.js": "const h = require('./helper.js');\n"
            "console.log(process.argv, __filename, process.env.A, h.y);\n"
            "process.on('exit', (code) => console.log('exit', code));\n"
            "setTimeout(() => console.log('later'), 5);\n",
            "js/helper.js": "exports.y = 3;\n",
            "js/module.mjs": "import fs from 'node:fs';\nconst x = await Promise.resolve(2);\n"
            "console.log(import.meta.url, x, fs.existsSync('main.js'));\n",
            "js/main.ts": "import { w } from './lib';\nconst a: number = w;\nconsole.log(a, process.argv.slice(2));\n",
            "js/lib.ts": "export const w: number = 9;\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "[ '/usr/bin/node', '/workspace/js/main.js', 'x' ] /workspace/js/main.js 1 3",
        "later",
        "exit 0",
        "file:///workspace/js/module.mjs 2 true",
        "9 [ 'y' ]",
        "2",
    ], events(client, run["id"])
    assert run["exitCode"] == 0


@pytest.mark.parametrize(
    ("code", "exit_code", "error"),
    [
        ("process.exit(5)", 5, ""),
        ("process.exitCode = 4", 4, ""),
        ("throw new TypeError('bad')", 1, "TypeError: bad"),
        ("Promise.reject(new Error('late'))", 1, "Error: late"),
        ("process.on('exit', (c) => console.error('at exit', c)); throw new Error('x')", 1, "at exit 1"),
        ("process.on('beforeExit', () => { console.error('before'); process.exitCode = 6 })", 6, "before\n"),
        ("process.on('beforeExit', () => { throw new Error('late') })", 1, "Error: late"),
        ("process.on('beforeExit', () => console.error('no')); process.exit(2)", 2, ""),
        ("process.exit = () => {}; process.emit = null", 1, "TypeError"),
    ],
)
def test_exit_codes_of_javascript(client: Client, code: str, exit_code: int, error: str) -> None:
    run = finish(client, "node a.js", {"a.js": code})
    assert run["exitCode"] == exit_code
    text = output(client, run["id"], "stderr")
    assert error in text and "cell-" not in text


def test_before_exit_is_told_again_while_it_finds_work(client: Client) -> None:
    code = (
        "let left = 2;\n"
        "process.on('beforeExit', (code) => {\n"
        "  console.log('before', code, left);\n"
        "  if (left-- > 0) setTimeout(() => console.log('worked'), 30);\n"
        "  Promise.resolve().then(() => console.log('then'));\n"
        "});\n"
        "process.on('exit', () => console.log('exit'));\n"
    )
    run = finish(client, "node a.js", {"a.js": code})
    assert run["exitCode"] == 0
    assert output(client, run["id"]).split("\n") == [
        *("before 0 2", "then", "worked", "before 0 1", "then", "worked"),
        *("before 0 0", "then", "exit", ""),
    ]


def test_scripts_know_that_they_are_the_program(client: Client) -> None:
    run = finish(
        client,
        "node a.js && node b.mjs && tsx c.ts",
        {
            "a.js": "const b = require('./lib.js');\nconsole.log(require.main === module, require.main.filename, b);\n",
            "lib.js": "module.exports = require.main === module;\n",
            "b.mjs": "import other from './lib.mjs';\nconsole.log(import.meta.main, other);\n",
            "lib.mjs": "export default import.meta.main;\n",
            "c.ts": "console.log(import.meta.main as boolean);\n",
        },
    )
    assert output(client, run["id"]) == "true /workspace/a.js false\ntrue false\ntrue\n", events(
        client, run["id"]
    )


def test_the_first_failure_ends_the_line(client: Client) -> None:
    run = finish(client, "python -c 'import sys; sys.exit(3)' && python -c 'print(1)'", {"a": ""})
    assert run["exitCode"] == 3 and output(client, run["id"]) == ""


@pytest.mark.parametrize(
    "command",
    ["ls", "bash a.sh", "python a.py | cat", "python a.py > x", "python $X", "python a.py; node b.js", "python"],
)
def test_what_needs_a_shell_is_refused(client: Client, command: str) -> None:
    with pytest.raises(ApiError) as caught:
        create(client, command)
    assert (caught.value.status, caught.value.code) == (400, "unsupported_runtime_option")
    assert "possible are" in caught.value.message and caught.value.details["field"] == "command"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"command": ""}, "invalid_request"),
        ({"command": "python 'a"}, "invalid_request"),
        ({"command": "cd /etc && python a.py"}, "path_outside_workspace"),
        ({"command": "CROWNEST_X=1 python a.py"}, "reserved_env_key"),
        ({"command": "python a.py", "timeoutMs": 600_001}, "invalid_request"),
        ({"command": "python a.py", "artifacts": [{"name": "x"}]}, "invalid_request"),
        ({"command": "python a.py", "env": {"A": "1"}}, "invalid_request"),
        ({"command": "python a.py", "sandboxId": "sbx_none"}, "not_found"),
        ({"command": "python a.py", "projectId": "prj_none"}, "not_found"),
    ],
)
def test_bad_requests(client: Client, fields: Json, code: str) -> None:
    assert refused(lambda: client.post(RUNS, fields))[1] == code


@needs("perl")
def test_perl_programs_see_what_a_process_would_see(client: Client) -> None:
    run = finish(
        client,
        "cd app && PERL5LIB=../lib perl -Imore main.pl x 'y z' \"it's\" && perl -e 'print \"$0 @ARGV\\n\"' a"
        " && perl -E 'say for reverse 1..2' && perl -w warns.pl",
        {
            "app/main.pl": "#!/usr/bin/perl\nuse strict; use warnings;\nuse Shared; use More;\nmy $kind = 'outer';\n"
            "sub main { print join('|', $0, __FILE__, @ARGV), ' ', Shared::value(), More::value(), ' ', <DATA> }\n"
            "main() unless caller;\nEND { print \"main ends\\n\" }\n__END__\ndata\n",
            "app/more/More.pm": "package More; sub value { defined caller(0) ? 2 : 3 } 1;\n",
            "app/warns.pl": 'my @list = (1); my $x = "a" + 1; print defined $kind ? "leak\\n" : "clean\\n";\n',
            "lib/Shared.pm": "package Shared; sub value { 9 } END { print \"shared ends\\n\" } 1;\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "main.pl|main.pl|x|y z|it's 92 data",
        "main ends",
        "shared ends",
        "-e a",
        "2",
        "1",
        "clean",
    ], events(client, run["id"])
    assert run["exitCode"] == 0
    assert "isn't numeric in addition (+) at warns.pl line 1." in output(client, run["id"], "stderr")


@needs("perl")
@pytest.mark.parametrize(
    ("command", "exit_code", "error"),
    [
        ("perl -e 'exit 3'", 3, ""),
        ("perl -e 'die qq{no\\n}'", 255, "no\n"),
        ("perl -e 'sub f { die \"deep\" } f()'", 255, "deep at -e line 1.\n"),
        ("perl -e 'END { $? = 4 } exit 3'", 4, ""),
        ("perl -e 'my $x = ('", 255, "syntax error at -e line 1"),
        ("perl -e 'eval { die 1 }; exit(length $@ ? 0 : 1)'", 0, ""),
        ("perl none.pl", 2, 'Can\'t open perl script "none.pl": No such file or directory\n'),
        ("perl lib", 2, 'Can\'t open perl script "lib": Is a directory\n'),
    ],
)
def test_exit_codes_of_perl(client: Client, command: str, exit_code: int, error: str) -> None:
    run = finish(client, command, {"lib/a": ""})
    text = output(client, run["id"], "stderr")
    assert (run["exitCode"], text.startswith(error)) == (exit_code, True), text
    assert error or text == ""


@needs("perl")
def test_a_perl_program_can_be_stopped(client: Client) -> None:
    run = finish(client, "perl -e '1 while 1'", {"a": ""}, timeoutMs=500)
    assert (run["status"], run["failureReason"]) == ("failed", "timeout")


@needs("ruby")
def test_ruby_programs_see_what_a_process_would_see(client: Client) -> None:
    run = finish(
        client,
        "cd app && RUBYLIB=../lib ruby -Imore main.rb x 'y z' \"it's\" && ruby -e 'p $0, ARGV' a && ruby -w warns.rb",
        {
            "app/main.rb": "require 'shared'\nrequire 'more'\nrequire_relative 'near'\n"
            "def main = puts([ARGV.inspect, SHARED, MORE, NEAR, DATA.read].join(' '))\n"
            "main if __FILE__ == $0\nat_exit { puts 'bye' }\n__END__\ndata\n",
            "app/more/more.rb": "MORE = 2\n",
            "app/near.rb": "NEAR = 3\n",
            "app/warns.rb": "p $VERBOSE, defined?(launch)\n",
            "lib/shared.rb": "SHARED = 9\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "[\"x\", \"y z\", \"it's\"] 9 2 3 data",
        "bye",
        '"-e"',
        '["a"]',
        "true",
        "nil",
    ], events(client, run["id"])
    assert run["exitCode"] == 0


@needs("ruby")
@pytest.mark.parametrize(
    ("command", "exit_code", "error"),
    [
        ("ruby -e 'exit 3'", 3, ""),
        ("ruby -e 'abort %q{no}'", 1, "no"),
        ("ruby -e 'def f = raise(ArgumentError, %q{bad}); f'", 1, "bad (ArgumentError)"),
        ("ruby -e 'x = ('", 1, "SyntaxError"),
        ("ruby none.rb", 1, "ruby: No such file or directory -- none.rb (LoadError)"),
    ],
)
def test_exit_codes_of_ruby(client: Client, command: str, exit_code: int, error: str) -> None:
    run = finish(client, command, {"lib/a": ""})
    text = output(client, run["id"], "stderr")
    assert run["exitCode"] == exit_code and error in text and "cell-" not in text, text


@needs("lua")
def test_lua_programs_see_what_a_process_would_see(client: Client) -> None:
    run = finish(
        client,
        "cd app && LUA_PATH='../lib/?.lua;;' lua main.lua x 'y z' \"it's\" && lua -e 'print(arg[0], #arg, ...)' a",
        {
            "app/main.lua": "#!/usr/bin/lua\nlocal shared, near = require 'shared', require 'near'\n"
            "print(arg[0], #arg, table.concat({...}, '|'), shared, near, kind, launch)\n",
            "app/near.lua": "return 3\n",
            "lib/shared.lua": "return 9\n",
        },
    )
    assert output(client, run["id"]).splitlines() == [
        "main.lua\t3\tx|y z|it's\t9\t3\tnil\tnil",
        "lua\t1\ta",
    ], events(client, run["id"])
    assert run["exitCode"] == 0


@needs("lua")
@pytest.mark.parametrize(
    ("command", "exit_code", "error"),
    [
        ("lua -e 'os.exit(3)'", 3, ""),
        ("lua -e 'os.exit(false)'", 1, ""),
        (
            "lua -e 'function f() error(\"deep\") end f()'",
            1,
            "lua: (command line):1: deep\nstack traceback:\n\t[C]: in function 'error'\n"
            "\t(command line):1: in function 'f'\n\t(command line):1: in main chunk\n\t[C]: in ?\n",
        ),
        ("lua -e 'error({})'", 1, "lua: (error object is a table value)\n"),
        ("lua -e 'x = ('", 1, "lua: (command line):1: unexpected symbol near <eof>\n"),
        ("lua none.lua", 1, "lua: cannot open none.lua: No such file or directory\n"),
        ("lua -e 'pcall(os.exit, 0); error(1)'", 0, ""),
    ],
)
def test_exit_codes_of_lua(client: Client, command: str, exit_code: int, error: str) -> None:
    run = finish(client, command, {"lib/a": ""})
    assert (run["exitCode"], output(client, run["id"], "stderr")) == (exit_code, error)


@needs("lua")
def test_a_lua_program_can_be_stopped(client: Client) -> None:
    run = finish(client, "lua -e 'while true do pcall(function() while true do end end) end'", {"a": ""}, timeoutMs=500)
    assert (run["status"], run["failureReason"]) == ("failed", "timeout")


@pytest.mark.parametrize("program", sorted({"perl", "ruby", "lua"} - INSTALLED_LANGUAGES))
def test_programs_without_an_engine_are_refused(client: Client, program: str) -> None:
    assert refused(lambda: create(client, f"{program} a"))[1] == "unsupported_code_language"
