// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/quantities.h"

namespace dormouse::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0  success\n"
    "  1  the code failed: it raised, was stopped or crashed\n"
    "  2  wrong usage\n"
    "  3  the server refused, failed or cannot be reached, or a local file cannot be used\n"
    "  4  the code succeeded, but what it did is not saved, or what earlier runs did is lost\n"
    "`run` and `workspace-runs run` also pass on the code's own exit status.\n";

constexpr const char* kMainFooter =
    "Without --url (or DORMOUSE_URL) commands use the server that runs on the data directory, and\n"
    "when there is none, open the directory themselves: no server is needed to run code.\n"
    "`dormouse COMMAND --help` says more about each; these options can also stand behind it.\n"
    "\n"
    "Examples:\n"
    "  dormouse run -c 'print(6 * 7)'       in a fresh interpreter; nothing is kept\n"
    "  dormouse run -s box -c 'x = 41'      x is kept in the sandbox \"box\"\n"
    "  dormouse run -s box -c 'x + 1'       prints 42\n"
    "  dormouse repl --language javascript\n"
    "  dormouse serve --listen 127.0.0.1:8787\n"
    "\n"
    "Environment: DORMOUSE_URL, DORMOUSE_API_KEY, DORMOUSE_ENGINES, NO_COLOR.\n"
    "\n";

constexpr const char* kCommonNote =
    "The options of `dormouse --help` (--url, --data, --json, ...) can stand here too.\n";

// The text below the options; otherwise that of the parent would be there.
void SetFooter(CLI::App& app, const std::string& text) {
  app.footer(text.empty() ? kCommonNote : text + "\n" + kCommonNote);
}

// Text that must say something. An empty word is most often a variable that was not set, and would
// select something else than was meant.
const CLI::Validator& NotEmpty() {
  static const CLI::Validator kNotEmpty(
      [](std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); }, "");
  return kNotEmpty;
}

// `kind` is what the help calls the value: NAME, FILE, ...
template <typename Target>
CLI::Option* AddText(CLI::App& app, const std::string& flag, Target& target, const char* kind,
                     const std::string& help) {
  return app.add_option(flag, target, help)->type_name(kind)->check(NotEmpty());
}

template <typename T>
CLI::Option* AddNumber(CLI::App& app, const std::string& flag, std::optional<std::int64_t>& target,
                       T parse, const char* kind, const char* expected, const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag,
          [&target, parse, flag, expected](const std::string& text) {
            target = parse(text);
            if (!target) throw CLI::ValidationError(flag, std::string("expected ") + expected);
          },
          help)
      ->type_name(kind);
}

constexpr const char* kDurationExample = "a duration above 0, such as 30s, 500ms or 5m";

void AddTimeout(CLI::App& app, std::optional<std::int64_t>& target) {
  AddNumber(app, "--timeout", target, ParseDurationMs, "DURATION", kDurationExample,
            "Stop the run after this long (30s, 500ms, 5m)");
}

void AddLanguage(CLI::App& app, ContextChoice& where, const char* otherwise) {
  CLI::Option* const language =
      AddText(app, "-l,--language", where.language, "NAME",
              std::string("Language, one of `dormouse engines list` (default: ") + otherwise + ")");
  AddText(app, "-b,--binding", where.binding, "NAME", "Binding, in place of a language")
      ->excludes(language);
}

CLI::Option* AddSandbox(CLI::App& app, std::string& target) {
  return AddText(app, "-s,--sandbox", target, "NAME", "Sandbox: an id, or a name; made if there is none")
      ->capture_default_str();
}

// Returns the option that names the sandbox.
CLI::Option* AddContextChoice(CLI::App& app, ContextChoice& where, const char* default_language) {
  CLI::Option* const sandbox = AddSandbox(app, where.sandbox);
  AddText(app, "--context", where.context, "NAME",
          "Context: an id, or a name; made if there is none (default: the language's own)");
  AddLanguage(app, where, default_language);
  return sandbox;
}

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& help) {
  CLI::App* const command = parent.add_subcommand(name, help);
  command->fallthrough();
  SetFooter(*command, "");
  return command;
}

// Selects `Command` when its sub-command was given, and an action of it.
template <typename Command>
class ActionGroup {
 public:
  ActionGroup(CLI::App& parent, Arguments& arguments, Command& target, const std::string& name,
              const std::string& help, const std::string& examples)
      : arguments_(arguments), target_(target), app_(AddCommand(parent, name, help)) {
    app_->require_subcommand(1);
    SetFooter(*app_, examples);
  }
  // For all actions.
  void AddSandbox(std::string& sandbox) {
    AddText(*app_, "-s,--sandbox", sandbox, "NAME", "Sandbox: an id or a name")
        ->capture_default_str();
    note_ = "-s,--sandbox NAME: the sandbox, an id or a name (default \"default\").\n";
  }
  CLI::App& app() { return *app_; }
  CLI::App& Add(const std::string& name, typename Command::Action action, const std::string& help) {
    CLI::App* const command = AddCommand(*app_, name, help);
    if (!note_.empty()) SetFooter(*command, note_);
    command->callback([&arguments = arguments_, &target = target_, action] {
      target.action = action;
      arguments.command = target;
    });
    return *command;
  }

 private:
  Arguments& arguments_;
  Command& target_;
  CLI::App* app_;
  std::string note_;
};

// Everything that options write to while parsing.
struct Targets {
  Arguments arguments;
  ServeArguments serve;
  RunArguments run;
  std::vector<std::string> run_env;
  std::string run_code;
  ReplArguments repl;
  SandboxesArguments sandboxes;
  ContextsArguments contexts;
  FilesArguments files;
  KeysArguments keys;
  ProjectsArguments projects;
  ArtifactsArguments artifacts;
  WorkspaceRunsArguments workspace_runs;
  EnginesArguments engines;
  PackagesArguments packages;
};

void AddCommon(CLI::App& app, CommonArguments& common) {
  AddText(app, "--url", common.url, "URL", "Server to use, http://HOST:PORT")
      ->envname("DORMOUSE_URL");
  AddText(app, "--key-file", common.key_file, "FILE",
          "File with the API key (default: DORMOUSE_API_KEY, or the data directory's own)");
  AddText(app, "--data", common.data, "DIR", "Data directory (default ~/.local/share/dormouse)");
  AddText(app, "--engines", common.engines, "DIR", "Directory of engine builds")
      ->envname("DORMOUSE_ENGINES");
  AddText(app, "--config", common.config, "FILE", "Configuration file (TOML)")
      ->check(CLI::ExistingFile.description(""));
  app.add_flag("--json", common.json, "Print results and errors as JSON");
}

void AddServe(CLI::App& app, Targets& targets) {
  CLI::App* const serve = AddCommand(app, "serve", "Run the server until SIGINT or SIGTERM");
  AddText(*serve, "--listen", targets.serve.listen, "ADDRESS:PORT",
          "Where to listen (default 127.0.0.1:8787); port 0 takes a free one");
  SetFooter(*serve,
            "The chosen URL is printed and written to server.json in the data directory, beside\n"
            "admin.key, the first API key.\n"
            "Example: dormouse serve --data /var/lib/dormouse --listen 127.0.0.1:0\n");
  serve->callback([&targets] { targets.arguments.command = targets.serve; });
}

void AddRun(CLI::App& app, Targets& targets) {
  RunArguments& run = targets.run;
  CLI::App* const command = AddCommand(app, "run", "Run code, with --sandbox or --context in one that keeps its state");
  CLI::Option* const code =
      command->add_option("-c,--code", targets.run_code, "The code itself")->type_name("CODE");
  AddText(*command, "file", run.file, "FILE", "File with the code; - for standard input")
      ->excludes(code);
  CLI::Option* const sandbox =
      AddContextChoice(*command, run.where, "by the file's ending, else python");
  AddTimeout(*command, run.timeout_ms);
  AddText(*command, "--stdin", run.stdin_file, "FILE",
          "File that the code reads as standard input; - for our own (default: empty)");
  AddText(*command, "--cwd", run.cwd, "DIR", "Working directory of this run, below /workspace");
  command
      ->add_option("-e,--env", targets.run_env, "Environment variable of this run; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  AddNumber(*command, "--fuel", run.fuel, ParseCount, "NUMBER", "a whole number, 0 or more",
            "CPU budget in microseconds");
  AddNumber(*command, "--memory", run.memory_bytes, ParseBytes, "SIZE", "a size above 0, such as 256M",
            "Memory limit (128M, 512M)");
  command->add_flag("--promote", run.promote, "Keep pictures, pages and large data as artifacts");
  command->add_flag("--full-output", run.capture_full,
                    "With --promote: also keep all of standard output and error");
  SetFooter(*command,
            std::string("Examples:\n"
                        "  dormouse run -c 'print(1)'\n"
                        "  dormouse run script.py --timeout 30s\n"
                        "  dormouse run -s box -c 'x = 1'\n"
                        "  dormouse run -l javascript - <script.js\n"
                        "  dormouse run --context analysis -e LEVEL=3 step2.py\n"
                        "  dormouse run --json -c '1/0'\n\n"
                        "Without a sandbox and a context the code runs in a fresh interpreter with "
                        "an empty\n/workspace, and nothing is kept.\n\n") +
                kExitCodes);
  command->callback([&targets, code, sandbox] {
    if (code->count() > 0) targets.run.code = targets.run_code;
    targets.run.stateless = sandbox->count() == 0 && targets.run.where.context.empty();
    if (targets.run.promote && targets.run.stateless) {
      throw CLI::ValidationError("--promote", "needs --sandbox: artifacts belong to one");
    }
    if (!targets.run.code && targets.run.file.empty()) {
      throw CLI::RequiredError("code: -c CODE, FILE or -");
    }
    if (targets.run.capture_full && !targets.run.promote) {
      throw CLI::ValidationError("--full-output", "needs --promote");
    }
    if (targets.run.file == "-" && targets.run.stdin_file == "-") {
      throw CLI::ValidationError("--stdin", "standard input cannot be both code and data");
    }
    for (const std::string& pair : targets.run_env) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw CLI::ValidationError("--env", "expected NAME=VALUE");
      }
      targets.run.env.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    }
    targets.arguments.command = targets.run;
  });
}

void AddRepl(CLI::App& app, Targets& targets) {
  CLI::App* const command =
      AddCommand(app, "repl", "Type code and see its results; the state is kept between sessions");
  AddContextChoice(*command, targets.repl.where, "python");
  AddTimeout(*command, targets.repl.timeout_ms);
  SetFooter(*command,
            "Ctrl-C stops the run in progress, Ctrl-D leaves, :help lists the commands.\n"
            "Input that is no terminal is run as a script; the last cell decides the exit code.\n");
  command->callback([&targets] { targets.arguments.command = targets.repl; });
}

void AddSandboxes(CLI::App& app, Targets& targets) {
  using Action = SandboxesArguments::Action;
  SandboxesArguments& target = targets.sandboxes;
  ActionGroup group(app, targets.arguments, target, "sandboxes", "List, make and remove sandboxes",
                    "A sandbox is a file tree, /workspace, and the contexts that work in it.\n"
                    "Examples:\n"
                    "  dormouse sandboxes create experiment --ttl 7d\n"
                    "  dormouse run -s experiment -c 'x = 1'\n"
                    "  dormouse sandboxes show experiment\n");
  group.Add("list", Action::kList, "List the sandboxes");
  CLI::App& create = group.Add("create", Action::kCreate, "Make a sandbox and print its id");
  AddText(create, "name", target.sandbox, "NAME", "Its name (default: none, only an id)");
  AddNumber(create, "--ttl", target.ttl_ms, ParseDurationMs, "DURATION", "a duration above 0, such as 1h",
            "Destroy it after this long (30m, 1h, 7d)");
  const auto add = [&](const char* name, Action action, const char* help) {
    AddText(group.Add(name, action, help), "sandbox", target.sandbox, "NAME", "A name or an id")
        ->required();
  };
  add("show", Action::kShow, "Show a sandbox, its contexts and its size");
  add("delete", Action::kDelete, "Destroy a sandbox with all it holds");
}

void AddContexts(CLI::App& app, Targets& targets) {
  using Action = ContextsArguments::Action;
  ContextsArguments& target = targets.contexts;
  ActionGroup group(app, targets.arguments, target, "contexts",
                    "List, fork, roll back and remove contexts",
                    "A context is a REPL that keeps its state. The one that each language has of\n"
                    "its own has no name: use its id, from `contexts list`.\n"
                    "Examples:\n"
                    "  dormouse contexts create analysis -l python\n"
                    "  dormouse run --context analysis -c 'x = 1'\n"
                    "  dormouse contexts fork analysis --name attempt\n"
                    "  dormouse contexts snapshots analysis\n"
                    "  dormouse contexts rollback analysis 3\n");
  group.AddSandbox(target.where.sandbox);
  group.Add("list", Action::kList, "List the contexts of the sandbox");
  CLI::App& create =
      group.Add("create", Action::kCreate, "Make a context, and the sandbox if there is none");
  AddText(create, "name", target.new_name, "NAME", "Its name (default: none, only an id)");
  AddLanguage(create, target.where, "python");
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    AddText(command, "context", target.where.context, "NAME", "A name or an id")->required();
    return command;
  };
  add("show", Action::kShow, "Show a context");
  add("delete", Action::kDelete, "Remove a context and its state");
  add("interrupt", Action::kInterrupt, "Stop the run in progress");
  add("evict", Action::kEvict, "Put the context to sleep on disk");
  add("snapshots", Action::kSnapshots, "List the states that it can be rolled back to");
  CLI::App& fork = add("fork", Action::kFork, "Make a new context with the same memory");
  AddText(fork, "--name", target.new_name, "NAME", "Name of the new context");
  AddNumber(fork, "--generation", target.generation, ParseCount, "NUMBER", "a number",
            "State to start from, from `contexts snapshots` (default: the latest)");
  CLI::App& rollback = add("rollback", Action::kRollback, "Return to an earlier state");
  AddNumber(rollback, "generation", target.generation, ParseCount, "NUMBER", "a number",
            "State to return to, from `contexts snapshots`")
      ->required();
}

void AddFiles(CLI::App& app, Targets& targets) {
  using Action = FilesArguments::Action;
  FilesArguments& target = targets.files;
  ActionGroup group(app, targets.arguments, target, "files", "Read and change a sandbox's files",
                    "Paths in the sandbox are relative to /workspace, or begin with it.\n"
                    "Examples:\n"
                    "  dormouse files put data.csv ~/data.csv\n"
                    "  dormouse files list\n"
                    "  dormouse files read out/report.html -o report.html\n");
  group.AddSandbox(target.sandbox);
  AddText(group.Add("list", Action::kList, "List a directory"), "path", target.path, "PATH",
          "Directory in the sandbox")
      ->capture_default_str();
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    AddText(command, "path", target.path, "PATH", "Path in the sandbox, from /workspace")
        ->required();
    return command;
  };
  add("stat", Action::kStat, "Show a file's type, size and times");
  AddText(add("read", Action::kRead, "Write a file of any size to standard output"), "-o,--output",
          target.local_file, "FILE", "Write to this local file instead");
  CLI::App& write = add("write", Action::kWrite, "Put a local file of any size into the sandbox");
  write.alias("put");
  AddText(write, "local", target.local_file, "FILE",
          "Local file; - for standard input (default: -)");
  write.add_flag("--parents", target.parents, "Make missing directories");
  add("delete", Action::kDelete, "Remove a file or an empty directory");
  add("mkdir", Action::kMkdir, "Make a directory")
      .add_flag("-p,--parents", target.parents, "Also its parents; no error if it exists");
  CLI::App& move = add("move", Action::kMove, "Move or rename");
  AddText(move, "to", target.to, "PATH", "New path")->required();
  move.add_flag("--overwrite", target.overwrite, "Replace what is there");
}

void AddKeys(CLI::App& app, Targets& targets) {
  using Action = KeysArguments::Action;
  KeysArguments& target = targets.keys;
  ActionGroup group(app, targets.arguments, target, "keys", "Make, list and revoke API keys",
                    "Example: dormouse keys create ci --scope code:run --scope file:read\n");
  group.Add("list", Action::kList, "List the keys, revoked ones too");
  CLI::App& create = group.Add("create", Action::kCreate, "Make a key and print it, this once");
  AddText(create, "name", target.name, "NAME", "What it is for")->required();
  AddText(create, "--scope", target.scopes, "SCOPE",
          "What it may do (code:run, ...); may be repeated. Default: all but keys, projects and "
          "backups")
      ->allow_extra_args(false);
  AddText(create, "--project", target.projects, "ID",
          "Restrict it to a project (prj_...); may be repeated")
      ->allow_extra_args(false);
  AddText(group.Add("revoke", Action::kRevoke, "Make a key useless"), "key", target.key_id, "ID",
          "Its id (key_...)")
      ->required();
}

void AddProjects(CLI::App& app, Targets& targets) {
  using Action = ProjectsArguments::Action;
  ProjectsArguments& target = targets.projects;
  ActionGroup group(app, targets.arguments, target, "projects", "Make and list projects",
                    "Keys can be restricted to projects: `dormouse keys create --project ID`.\n");
  group.Add("list", Action::kList, "List the projects");
  AddText(group.Add("create", Action::kCreate, "Make a project and print its id"), "name",
          target.name, "NAME", "Its name")
      ->required();
}

void AddArtifacts(CLI::App& app, Targets& targets) {
  using Action = ArtifactsArguments::Action;
  ArtifactsArguments& target = targets.artifacts;
  ActionGroup group(app, targets.arguments, target, "artifacts", "Files that outlive their sandbox",
                    "`dormouse run --promote` makes artifacts of what code shows.\n"
                    "Examples:\n"
                    "  dormouse artifacts create out/report.html\n"
                    "  dormouse artifacts download art_... -o report.html\n");
  group.AddSandbox(target.sandbox);
  group.Add("list", Action::kList, "List a sandbox's artifacts")
      .add_flag("--all", target.historical, "Also deleted ones");
  CLI::App& create =
      group.Add("create", Action::kCreate, "Make an artifact of a file and print its id");
  AddText(create, "path", target.path, "PATH", "Path in the sandbox, from /workspace")->required();
  AddText(create, "--name", target.name, "NAME", "Its name (default: the file's)");
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    AddText(command, "artifact", target.artifact, "ID", "Its id (art_...)")->required();
    return command;
  };
  add("get", Action::kGet, "Show an artifact").alias("show");
  AddText(add("download", Action::kDownload, "Write an artifact to standard output"), "-o,--output",
          target.local_file, "FILE", "Write to this local file instead");
  add("delete", Action::kDelete, "Delete an artifact");
}

void AddWorkspaceRuns(CLI::App& app, Targets& targets) {
  using Action = WorkspaceRunsArguments::Action;
  WorkspaceRunsArguments& target = targets.workspace_runs;
  const std::string example =
      "Example: dormouse workspace-runs run . -a report.html -- python -m app --fast\n";
  ActionGroup group(app, targets.arguments, target, "workspace-runs",
                    "Upload a directory, run a command in it, collect files", example);
  CLI::App& run = group.Add("run", Action::kRun, "Pack, upload, run and follow");
  AddText(run, "source", target.source, "DIR", "Directory (without .git), or a .tar.gz")
      ->required();
  run.add_option("command", target.command, "After --: the program and its words, or one line")
      ->type_name("WORD")
      ->required();
  AddText(run, "-a,--artifact", target.artifacts, "PATH",
          "File to keep as an artifact; may be repeated")
      ->allow_extra_args(false);
  AddText(run, "-s,--sandbox", target.sandbox, "NAME",
          "Existing sandbox, an id or a name (default: one is made for the run)");
  run.add_flag("--keep-sandbox", target.keep_sandbox, "Do not destroy that sandbox afterwards");
  AddTimeout(run, target.timeout_ms);
  SetFooter(run, example +
                     "Programs are the interpreters: python, node, tsx, and perl, ruby and lua where their "
                     "engines are installed.\nThere is no shell; one line may join commands "
                     "with && and change directories with cd.\n\n" +
                     kExitCodes);
  group.Add("list", Action::kList, "List the runs");
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    AddText(command, "run", target.run, "ID", "Its id (wsr_...)")->required();
    return command;
  };
  add("get", Action::kGet, "Show a run").alias("show");
  add("cancel", Action::kCancel, "Stop a run");
}

void AddEngines(CLI::App& app, Targets& targets) {
  using Action = EnginesArguments::Action;
  EnginesArguments& target = targets.engines;
  ActionGroup group(app, targets.arguments, target, "engines", "Engines and the bindings that offer them",
                    "Examples:\n"
                    "  dormouse engines list\n"
                    "  dormouse engines add ./lua-5.4\n"
                    "  dormouse engines prune --dry-run\n");
  group.Add("list", Action::kList, "List the bindings with their engines, and all installed builds");
  CLI::App& add = group.Add("add", Action::kAdd, "Check an engine package and install it");
  AddText(add, "package", target.package, "DIR", "Directory with engine.so, boot.img and engine.json")
      ->required();
  add.add_flag("--keep-current", target.keep_current, "Do not give the new build to new contexts");
  SetFooter(add,
            "A server that runs on the data directory takes the build up at once. Packages hold native\n"
            "code: add only those whose origin you trust.\n");
  group.Add("prune", Action::kPrune, "Remove builds that no binding and no context needs")
      .add_flag("--dry-run", target.dry_run, "Only say which");
  AddCommand(group.app(), "boot", "Boot a compiled engine and save its image, for `scripts/engines`")
      ->callback([] {
        // Handled before anything else is set up; see internal_commands.h.
        throw CLI::ValidationError("engines boot", "no option can stand in front of it");
      });
}

void AddPackages(CLI::App& app, Targets& targets) {
  using Action = PackagesArguments::Action;
  PackagesArguments& target = targets.packages;
  ActionGroup group(app, targets.arguments, target, "packages", "Packages that code can import",
                    "New contexts of the language can import them; older ones go on with what they have.\n"
                    "Only packages without code for a processor can be used. Python's are fetched\n"
                    "with pip, JavaScript's (and TypeScript's) with npm.\n"
                    "Examples:\n"
                    "  dormouse packages add requests-oauthlib 'rich>=13'\n"
                    "  dormouse packages add ./mine-1.0-py3-none-any.whl\n"
                    "  dormouse packages add -l javascript lodash\n");
  AddText(group.app(), "-l,--language", target.language, "NAME", "python, javascript or typescript")
      ->capture_default_str();
  group.Add("list", Action::kList, "List what is installed");
  CLI::App& add = group.Add("add", Action::kAdd, "Install packages and what they need");
  AddText(add, "packages", target.packages, "PACKAGE", "Names, with versions if wanted, or local files")
      ->required();
  AddText(add, "--from", target.from, "DIR", "Python: take packages from this directory only, from no index");
  add.add_flag("--build", target.build, "Python: build source packages; runs their code on this machine");
  AddText(group.Add("remove", Action::kRemove, "Remove packages"), "packages", target.packages,
          "PACKAGE", "Names")
      ->required();
}

}  // namespace

std::variant<Arguments, int> ParseArguments(int argc, char** argv) {
  Targets targets;
  CLI::App app("Dormouse: a code interpreter server whose sessions sleep on disk", "dormouse");
  app.footer(std::string(kMainFooter) + kExitCodes);
  app.set_version_flag("--version", std::string("dormouse ") + DORMOUSE_VERSION);
  app.require_subcommand(1);
  AddCommon(app, targets.arguments.common);
  AddServe(app, targets);
  AddRun(app, targets);
  AddRepl(app, targets);
  AddSandboxes(app, targets);
  AddContexts(app, targets);
  AddFiles(app, targets);
  AddKeys(app, targets);
  AddProjects(app, targets);
  AddArtifacts(app, targets);
  AddWorkspaceRuns(app, targets);
  AddEngines(app, targets);
  AddPackages(app, targets);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // Of a word that is no command, the parser says only that a command is missing.
    const std::vector<std::string> words = app.remaining(true);
    if (words.empty() || words[0].starts_with('-')) {
      app.exit(error);
      return kExitUsage;
    }
    std::cerr << "there is no command \"" << words[0]
              << "\" here\nRun with --help for more information.\n";
    return kExitUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return targets.arguments;
}

}  // namespace dormouse::cli
