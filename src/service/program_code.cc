// SPDX-License-Identifier: Apache-2.0
#include "service/program_code.h"

#include <boost/json.hpp>

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

// The program's text is evaluated where no name of the launcher is in scope, and from the package whose frames `caller`
// does not show, so that `main() unless caller` is what it is elsewhere.
constexpr std::string_view kPerlEvaluation = R"pl(package Dormouse::Cell;
no feature;
sub run_program { CORE::evalbytes($Dormouse::Program::source) }
package Dormouse::Program;
our ($kind, $target, @options);
)pl";

// Follows the assignments of these three, and of @ARGV.
constexpr std::string_view kPerlLauncher = R"pl(
our $source = load();
sub load {
  my $text = $target;
  if ($kind eq 'file') {
    my ($file, $reason);
    $reason = -d $target ? 'Is a directory' : open($file, '<:raw', $target) ? undef : "$!";
    if (defined $reason) {
      print STDERR qq{Can't open perl script "$target": $reason\n};
      exit 2;
    }
    local $/;
    $text = <$file> // '';
    $text =~ s/\A\xEF\xBB\xBF//;
  }
  my $before = '';
  my @libraries;
  for my $option (@options) {
    push @libraries, $1 if $option =~ /\A-I(.+)/s;
    $^W = 1 if $option eq '-w';
    $before .= 'use feature ":' . ($^V =~ /\Av(5\.\d+)/)[0] . '"; ' if $option eq '-E';
  }
  $^W = 1 if $text =~ /\A#!.*perl\S*\s+-\w*w/;
  # Cells begin with warnings that are off, not with those that $^W decides about.
  $before .= 'use warnings; ' if $^W;
  unshift @INC, @libraries, grep { length } split /:/, $ENV{PERL5LIB} // '';
  $0 = $kind eq 'file' ? $target : '-e';
  if ($text =~ /^__(?:DATA|END)__[ \t]*\r?\n(.*)\z/ms) {
    my $data = $1;
    open *main::DATA, '<', \$data or die "DATA: $!";
  }
  my $name = $0 =~ tr/"\n//dr;
  return "${before}package main;\n#line 1 \"$name\"\n$text";
}
$@ = '';
Dormouse::Cell::run_program();
if (ref $@ || length $@) {
  print STDERR $@;
  exit 255;
}
exit 0;
)pl";

// `launch` is (kind, target, options, arguments). Frames of this code are not shown.
constexpr std::string_view kRubyLauncher = R"rb(
launch = lambda do |kind, target, options, arguments|
  ARGV.replace(arguments)
  options.each do |option|
    $VERBOSE = true if option == "-w"
    $LOAD_PATH.unshift(File.expand_path(option.delete_prefix("-I"))) if option.start_with?("-I")
  end
  ENV.fetch("RUBYLIB", "").split(":").reverse_each { |path| $LOAD_PATH.unshift(File.expand_path(path)) unless path.empty? }
  path = File.expand_path(target)
  if kind == "file" && !File.file?(path)
    warn "ruby: No such file or directory -- #{target} (LoadError)"
    exit 1
  end
  begin
    options.each { |option| require option.delete_prefix("-r") if option.start_with?("-r") }
    if kind == "code"
      $PROGRAM_NAME = "-e"
      eval(target, TOPLEVEL_BINDING, "-e", 1)
    else
      $PROGRAM_NAME = path
      text = File.binread(path)
      if (at = text =~ /^__END__\r?\n/)
        data = File.open(path)
        data.seek(at + $~[0].bytesize)
        Object.__send__(:remove_const, :DATA) if Object.const_defined?(:DATA, false)
        Object.const_set(:DATA, data)
      end
      load path
    end
  rescue StandardError, ScriptError, SystemStackError => error
    own = Regexp.union(/\Acell-\d+:/, %r{\A/usr/lib/dormouse}, /\A<internal:/)
    error.set_backtrace((error.backtrace || []).grep_v(own))
    $stderr.write(error.full_message(highlight: false, order: :top))
    exit 1
  end
  exit 0
end
)rb";

std::string Quoted(std::string_view text) {
  return boost::json::serialize(boost::json::string(text));
}

std::string QuotedList(const std::vector<std::string>& items) {
  return boost::json::serialize(boost::json::array(items.begin(), items.end()));
}

std::string_view NameOf(Program::Kind kind) {
  switch (kind) {
    case Program::Kind::kFile:
      return "file";
    case Program::Kind::kCode:
      return "code";
    case Program::Kind::kModule:
      return "module";
  }
  return "file";
}

// JSON strings, with other characters as they are, are literals of Python and JavaScript alike.
std::string PythonCell(const Program& program) {
  return "exec(compile(" + Quoted(kPythonLauncher) + ", \"<dormouse>\", \"exec\"), {\"__name__\": \"dormouse\", " +
         "\"spec\": (\"" + std::string(NameOf(program.kind)) + "\", " + Quoted(program.target) + ", " +
         QuotedList(program.arguments) + ")})";
}

// As Perl and Ruby write text that is nothing but text.
std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "'";
}

std::string SingleQuotedList(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ", ") + SingleQuoted(item);
  return list;
}

std::string PerlCell(const Program& program) {
  return std::string(kPerlEvaluation) + "$kind = " + SingleQuoted(NameOf(program.kind)) +
         ";\n$target = " + SingleQuoted(program.target) + ";\n@options = (" +
         SingleQuotedList(program.options) + ");\n@ARGV = (" + SingleQuotedList(program.arguments) +
         ");\n" + std::string(kPerlLauncher);
}

std::string RubyCell(const Program& program) {
  return std::string(kRubyLauncher) + "launch.(" + SingleQuoted(NameOf(program.kind)) + ", " +
         SingleQuoted(program.target) + ", [" + SingleQuotedList(program.options) + "], [" +
         SingleQuotedList(program.arguments) + "])";
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
