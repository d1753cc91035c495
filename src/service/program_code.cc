// SPDX-License-Identifier: Apache-2.0
#include "service/program_code.h"

#include <boost/json.hpp>

#include "service/program_launchers.h"

namespace dormouse::service {
namespace {

// Runs in a namespace of its own, so that the program finds nothing of it in `__main__`. `spec` is
// (kind, target, arguments). Errors are printed as the interpreter itself does, without the frames of this code;
// a stop must reach the driver as it is.
constexpr std::string_view kPythonLauncher = R"py(
import atexit, os, sys

def launch(kind, target, arguments):
    main = sys.modules["__main__"]
    space = main.__dict__
    library = [path for path in sys.path if path not in ("", "/workspace")]
    extra = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(":") if path]

    def execute(source, filename):
        exec(compile(source, filename, "exec", dont_inherit=True), space)

    if kind == "module":
        sys.argv[:] = ["-m"] + arguments
        sys.path[:] = [os.getcwd()] + extra + library
        import runpy
        runpy._run_module_as_main(target)
        return
    if kind == "code":
        sys.argv[:] = ["-c"] + arguments
        sys.path[:] = [""] + extra + library
        execute(target, "<string>")
        return
    path = os.path.abspath(target)
    sys.argv[:] = [target] + arguments
    source = b""
    if not os.path.isdir(path):
        try:
            with open(path, "rb") as file:
                source = file.read()
        except OSError as error:
            print(f"python: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
            raise SystemExit(2) from None
    if os.path.isdir(path) or source.startswith(b"PK\3\4"):
        sys.path[:] = [path] + extra + library
        import runpy
        runpy._run_module_as_main("__main__", False)
        return
    sys.path[:] = [os.path.dirname(os.path.realpath(path))] + extra + library
    space["__file__"] = path
    space["__cached__"] = None
    execute(source, path)

def is_own(frame):
    name = frame.f_code.co_filename
    return name in ("<dormouse>", "<frozen runpy>") or frame.f_globals is globals() or (
        frame.f_back is None and name.startswith("cell"))

def message_of(failure):
    """What an exit prints. runpy names the interpreter's file, which there is none of."""
    trace = failure.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    text = str(failure.code)
    own = f"{sys.executable}: "
    if trace.tb_frame.f_code.co_filename == "<frozen runpy>" and text.startswith(own):
        return "python: " + text[len(own):]
    return text

code = 0
try:
    launch(*spec)
except SystemExit as failure:
    if failure.code is None:
        code = 0
    elif isinstance(failure.code, int):
        code = failure.code
    else:
        print(message_of(failure), file=sys.stderr)
        code = 1
except KeyboardInterrupt:
    raise
except BaseException as failure:
    trace = failure.__traceback__
    while trace is not None and is_own(trace.tb_frame):
        trace = trace.tb_next
    sys.excepthook(type(failure), failure.with_traceback(trace), trace)
    code = 1
atexit._run_exitfuncs()
for stream in (sys.stdout, sys.stderr):
    try:
        stream.flush()
    except (AttributeError, OSError, ValueError):
        pass
raise SystemExit(code & 255)
)py";

std::string Quoted(std::string_view text) {
  return boost::json::serialize(boost::json::string(text));
}

std::string QuotedList(const std::vector<std::string>& items) {
  return boost::json::serialize(boost::json::array(items.begin(), items.end()));
}

// JSON strings, with other characters as they are, are literals of Python and JavaScript alike.
std::string PythonCell(const Program& program) {
  return "exec(compile(" + Quoted(kPythonLauncher) + ", \"<dormouse>\", \"exec\"), {\"__name__\": \"dormouse\", " +
         "\"spec\": (\"" + std::string(NameOf(program.kind)) + "\", " + Quoted(program.target) + ", " +
         QuotedList(program.arguments) + ")})";
}

std::string AbsoluteFile(const Program& program) {
  if (program.target.starts_with('/')) return program.target;
  return program.directory + "/" + program.target;
}

void AddScriptCells(const Program& program, ProgramCode& code) {
  std::string arguments = "process.argv.length = 1;\n";
  if (program.kind == Program::Kind::kFile) {
    arguments += "process.argv.push(require(\"node:path\").normalize(" + Quoted(AbsoluteFile(program)) + "));\n";
  }
  arguments += "process.argv.push(..." + QuotedList(program.arguments) + ");\n";
  if (program.kind == Program::Kind::kFile) {
    code.cells.push_back(arguments + "await import(process.argv[1]);\nundefined;");
  } else {
    code.cells.push_back(arguments + "undefined;");
    code.cells.push_back(program.target);
  }
  // Listeners of "exit" run now, as the context ends with this program; those of "beforeExit" before, and once more
  // whenever they found something left to do.
  code.last_cell_after_success =
      "process.emit(\"beforeExit\", process.exitCode ?? 0);\n"
      "await new Promise((done) => setImmediate(done));\n"
      "if (process.getActiveResourcesInfo().length === 0) process.exit();\n"
      "undefined;";
  code.last_cell_after_error = "process.exit(process.exitCode || 1);";
}

}  // namespace

ProgramCode CodeOf(const Program& program) {
  ProgramCode code;
  switch (program.language) {
    case Program::Language::kPython:
      code.language = "python";
      code.cells.push_back(PythonCell(program));
      return code;
    case Program::Language::kJavaScript:
      code.language = "javascript";
      break;
    case Program::Language::kTypeScript:
      code.language = "typescript";
      break;
    case Program::Language::kPerl:
      code.language = "perl";
      code.cells.push_back(PerlCell(program));
      return code;
    case Program::Language::kRuby:
      code.language = "ruby";
      code.cells.push_back(RubyCell(program));
      return code;
    case Program::Language::kLua:
      code.language = "lua";
      code.cells.push_back(LuaCell(program));
      return code;
  }
  AddScriptCells(program, code);
  return code;
}

std::string TraceOf(const CodeError& error) {
  std::string text;
  for (const std::string& entry : error.traceback) {
    for (std::size_t start = 0; start < entry.size();) {
      const std::size_t end = std::min(entry.find('\n', start), entry.size());
      const std::string_view line = std::string_view(entry).substr(start, end - start);
      start = end + 1;
      if (line.starts_with("    at cell-")) continue;
      text.append(line).append("\n");
    }
  }
  if (text.empty()) text = error.name + ": " + error.message + "\n";
  return text;
}

}  // namespace dormouse::service
