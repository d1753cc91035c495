// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

namespace dormouse::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 success, 1 the code failed, 2 wrong usage, 3 the server refused or failed;\n"
    "`run` also passes on the code's own exit status (1 to 125).\n";

constexpr const char* kMainFooter =
    "Without --url (or DORMOUSE_URL) commands use the server that runs on the data directory, and\n"
    "when there is none, open the directory themselves: no server is needed to run code.\n"
    "\n"
    "Examples:\n"
    "  dormouse run -c 'print(6 * 7)'       in a fresh interpreter; nothing is kept\n"
    "  dormouse run -s box -c 'x = 41'      x is kept in the sandbox \"box\"\n"
    "  dormouse run -s box -c 'x + 1'       prints 42\n"
    "  dormouse repl --language javascript\n"
    "  dormouse serve --listen 127.0.0.1:8787\n"
    "\n"
    "Environment: DORMOUSE_URL, DORMOUSE_API_KEY, DORMOUSE_ENGINES, NO_COLOR.\n";

template <typename T>
CLI::Option* AddNumber(CLI::App& app, const std::string& flag, std::optional<std::int64_t>& target,
                       T parse, const char* expected, const std::string& help) {
  return app.add_option_function<std::string>(
      flag,
      [&target, parse, flag, expected](const std::string& text) {
        target = parse(text);
        if (!target) throw CLI::ValidationError(flag, std::string("expected ") + expected);
      },
      help);
}

std::optional<std::int64_t> ParseCount(const std::string& text) {
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || rest != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

void AddTimeout(CLI::App& app, std::optional<std::int64_t>& target) {
  AddNumber(app, "--timeout", target, ParseDurationMs, "a duration such as 30s, 500ms or 5m",
            "Stop the run after this long (30s, 500ms, 5m)");
}

CLI::Option* AddSandbox(CLI::App& app, std::string& target) {
  return app.add_option("-s,--sandbox", target, "Sandbox: a name (made on demand) or an id")
      ->capture_default_str();
}

CLI::Option* AddContextChoice(CLI::App& app, ContextChoice& where) {
  CLI::Option* const sandbox = AddSandbox(app, where.sandbox);
  app.add_option("--context", where.context,
                 "Context: a name (made on demand) or an id; else the language's default one");
  app.add_option("-l,--language", where.language, "Language (python, javascript, typescript, ...)");
  app.add_option("-b,--binding", where.binding, "Binding, in place of a language");
  return sandbox;
}

CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& help) {
  CLI::App* const command = parent.add_subcommand(name, help);
  command->fallthrough();
  return command;
}

// Selects `Command` when its sub-command was given, and an action of it.
template <typename Command>
class ActionGroup {
 public:
  ActionGroup(CLI::App& parent, Arguments& arguments, Command& target, const std::string& name,
              const std::string& help)
      : arguments_(arguments), target_(target), app_(AddCommand(parent, name, help)) {
    app_->require_subcommand(1);
  }
  CLI::App& Add(const std::string& name, typename Command::Action action, const std::string& help) {
    CLI::App* const command = AddCommand(*app_, name, help);
    command->callback([&arguments = arguments_, &target = target_, action] {
      target.action = action;
      arguments.command = target;
    });
    return *command;
  }
  CLI::App& app() { return *app_; }

 private:
  Arguments& arguments_;
  Command& target_;
  CLI::App* app_;
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
};

void AddCommon(CLI::App& app, CommonArguments& common) {
  app.add_option("--url", common.url, "Server to use, http://HOST:PORT")->envname("DORMOUSE_URL");
  app.add_option("--key-file", common.key_file, "File with the API key (else DORMOUSE_API_KEY)");
  app.add_option("--data", common.data, "Data directory (default ~/.local/share/dormouse)");
  app.add_option("--engines", common.engines, "Directory of engine builds")
      ->envname("DORMOUSE_ENGINES");
  app.add_option("--config", common.config, "Configuration file (TOML)")->check(CLI::ExistingFile);
  app.add_flag("--json", common.json, "Print results as JSON");
}

void AddServe(CLI::App& app, Targets& targets) {
  CLI::App* const serve = AddCommand(app, "serve", "Run the server until SIGINT or SIGTERM");
  serve->add_option("--listen", targets.serve.listen,
                    "ADDRESS:PORT (default 127.0.0.1:8787); port 0 takes a free one");
  serve->footer(
      "The chosen URL is printed and written to server.json in the data directory.\n"
      "Example: dormouse serve --data /var/lib/dormouse --listen 127.0.0.1:0\n");
  serve->callback([&targets] { targets.arguments.command = targets.serve; });
}

void AddRun(CLI::App& app, Targets& targets) {
  RunArguments& run = targets.run;
  CLI::App* const command = AddCommand(app, "run", "Run code, with --sandbox or --context in one that keeps its state");
  CLI::Option* const code = command->add_option("-c,--code", targets.run_code, "The code itself");
  command->add_option("file", run.file, "File with the code; - for standard input")->excludes(code);
  CLI::Option* const sandbox = AddContextChoice(*command, run.where);
  AddTimeout(*command, run.timeout_ms);
  command->add_option("--stdin", run.stdin_file,
                      "File that the code reads as standard input; - for our own");
  command->add_option("--cwd", run.cwd, "Working directory of this run, below /workspace");
  command->add_option("-e,--env", targets.run_env, "NAME=VALUE for this run; may be repeated");
  AddNumber(*command, "--fuel", run.fuel, ParseCount, "a number", "CPU budget in microseconds");
  AddNumber(*command, "--memory", run.memory_bytes, ParseBytes, "a size such as 256M",
            "Memory limit (256M, 1G)");
  command->add_flag("--promote", run.promote, "Keep pictures, pages and large data as artifacts");
  command->add_flag("--full-output", run.capture_full,
                    "With --promote: also keep all of standard output and error");
  command->footer(std::string("Examples:\n"
                              "  dormouse run -c 'print(1)'\n"
                              "  dormouse run script.py --timeout 30s\n"
                              "  dormouse run -s box -c 'x = 1'\n"
                              "  dormouse run -l javascript - <script.js\n"
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
  AddContextChoice(*command, targets.repl.where);
  AddTimeout(*command, targets.repl.timeout_ms);
  command->footer("Ctrl-C stops the run in progress, Ctrl-D leaves, :help lists the commands.\n");
  command->callback([&targets] { targets.arguments.command = targets.repl; });
}

void AddSandboxes(CLI::App& app, Targets& targets) {
  using Action = SandboxesArguments::Action;
  SandboxesArguments& target = targets.sandboxes;
  ActionGroup group(app, targets.arguments, target, "sandboxes", "List, make and remove sandboxes");
  group.Add("list", Action::kList, "List the sandboxes");
  CLI::App& create = group.Add("create", Action::kCreate, "Make a sandbox and print its id");
  create.add_option("name", target.sandbox, "Its name");
  AddNumber(create, "--ttl", target.ttl_ms, ParseDurationMs, "a duration such as 1h",
            "Destroy it after this long (30m, 1h, 7d)");
  group.Add("show", Action::kShow, "Show a sandbox, its contexts and its size")
      .add_option("sandbox", target.sandbox, "Name or id")
      ->required();
  group.Add("delete", Action::kDelete, "Destroy a sandbox with all it holds")
      .add_option("sandbox", target.sandbox, "Name or id")
      ->required();
}

void AddContexts(CLI::App& app, Targets& targets) {
  using Action = ContextsArguments::Action;
  ContextsArguments& target = targets.contexts;
  ActionGroup group(app, targets.arguments, target, "contexts",
                    "List, fork, roll back and remove contexts");
  AddSandbox(group.app(), target.where.sandbox);
  group.Add("list", Action::kList, "List the contexts of the sandbox");
  CLI::App& create = group.Add("create", Action::kCreate, "Make a context");
  create.add_option("name", target.new_name, "Its name");
  create.add_option("-l,--language", target.where.language, "Language (default python)");
  create.add_option("-b,--binding", target.where.binding, "Binding, in place of a language");
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    command.add_option("context", target.where.context, "Name or id")->required();
    return command;
  };
  add("show", Action::kShow, "Show a context");
  add("delete", Action::kDelete, "Remove a context and its state");
  add("interrupt", Action::kInterrupt, "Stop the run in progress");
  add("evict", Action::kEvict, "Put the context to sleep on disk");
  add("snapshots", Action::kSnapshots, "List the states that it can be rolled back to");
  CLI::App& fork = add("fork", Action::kFork, "Make a new context with the same memory");
  fork.add_option("--name", target.new_name, "Name of the new context");
  AddNumber(fork, "--generation", target.generation, ParseCount, "a number",
            "State to start from (default: the latest)");
  CLI::App& rollback = add("rollback", Action::kRollback, "Return to an earlier state");
  AddNumber(rollback, "generation", target.generation, ParseCount, "a number",
            "State to return to, from `contexts snapshots`")
      ->required();
}

void AddFiles(CLI::App& app, Targets& targets) {
  using Action = FilesArguments::Action;
  FilesArguments& target = targets.files;
  ActionGroup group(app, targets.arguments, target, "files", "Read and change a sandbox's files");
  AddSandbox(group.app(), target.sandbox);
  group.Add("list", Action::kList, "List a directory")
      .add_option("path", target.path, "Directory")
      ->capture_default_str();
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    command.add_option("path", target.path, "Path in the sandbox, from /workspace")->required();
    return command;
  };
  add("stat", Action::kStat, "Show a file's type, size and times");
  add("read", Action::kRead, "Write a file of any size to standard output")
      .add_option("-o,--output", target.local_file, "Write to this file instead");
  CLI::App& write = add("write", Action::kWrite, "Put a local file of any size into the sandbox");
  write.alias("put");
  write.add_option("local", target.local_file, "Local file; - or absent: standard input");
  write.add_flag("--parents", target.parents, "Make missing directories");
  add("delete", Action::kDelete, "Remove a file or an empty directory");
  add("mkdir", Action::kMkdir, "Make a directory")
      .add_flag("-p,--parents", target.parents, "Also its parents; no error if it exists");
  CLI::App& move = add("move", Action::kMove, "Move or rename");
  move.add_option("to", target.to, "New path")->required();
  move.add_flag("--overwrite", target.overwrite, "Replace what is there");
}

void AddKeys(CLI::App& app, Targets& targets) {
  using Action = KeysArguments::Action;
  KeysArguments& target = targets.keys;
  ActionGroup group(app, targets.arguments, target, "keys", "Make, list and revoke API keys");
  group.Add("list", Action::kList, "List the keys, revoked ones too");
  CLI::App& create = group.Add("create", Action::kCreate, "Make a key and print it, this once");
  create.add_option("name", target.name, "What it is for")->required();
  create
      .add_option("--scope", target.scopes,
                  "What it may do (code:run, ...); may be repeated. Default: all but keys, projects "
                  "and backups")
      ->allow_extra_args(false);
  create
      .add_option("--project", target.projects, "Restrict it to a project (id); may be repeated")
      ->allow_extra_args(false);
  group.Add("revoke", Action::kRevoke, "Make a key useless")
      .add_option("key", target.key_id, "Its id (key_...)")
      ->required();
}

void AddProjects(CLI::App& app, Targets& targets) {
  using Action = ProjectsArguments::Action;
  ProjectsArguments& target = targets.projects;
  ActionGroup group(app, targets.arguments, target, "projects", "Make and list projects");
  group.Add("list", Action::kList, "List the projects");
  group.Add("create", Action::kCreate, "Make a project and print its id")
      .add_option("name", target.name, "Its name")
      ->required();
}

void AddArtifacts(CLI::App& app, Targets& targets) {
  using Action = ArtifactsArguments::Action;
  ArtifactsArguments& target = targets.artifacts;
  ActionGroup group(app, targets.arguments, target, "artifacts",
                    "Files that outlive their sandbox");
  AddSandbox(group.app(), target.sandbox);
  group.Add("list", Action::kList, "List a sandbox's artifacts")
      .add_flag("--all", target.historical, "Also deleted ones");
  CLI::App& create = group.Add("create", Action::kCreate, "Make an artifact of a file and print its id");
  create.add_option("path", target.path, "Path in the sandbox, from /workspace")->required();
  create.add_option("--name", target.name, "Its name (default: the file's)");
  const auto add = [&](const char* name, Action action, const char* help) -> CLI::App& {
    CLI::App& command = group.Add(name, action, help);
    command.add_option("artifact", target.artifact, "Id, art_...")->required();
    return command;
  };
  add("get", Action::kGet, "Show an artifact");
  add("download", Action::kDownload, "Write an artifact to standard output")
      .add_option("-o,--output", target.local_file, "Write to this file instead");
  add("delete", Action::kDelete, "Delete an artifact");
}

void AddWorkspaceRuns(CLI::App& app, Targets& targets) {
  using Action = WorkspaceRunsArguments::Action;
  WorkspaceRunsArguments& target = targets.workspace_runs;
  ActionGroup group(app, targets.arguments, target, "workspace-runs",
                    "Upload a directory, run a command in it, collect files");
  CLI::App& run = group.Add("run", Action::kRun, "Pack, upload, run and follow");
  run.add_option("source", target.source, "Directory, or a .tar.gz")->required();
  run.add_option("command", target.command, "After --: the program and its words, or one line")
      ->required();
  run.add_option("-a,--artifact", target.artifacts, "File to collect; may be repeated")
      ->allow_extra_args(false);
  run.add_option("-s,--sandbox", target.sandbox, "Existing sandbox; else one is made for the run");
  run.add_flag("--keep-sandbox", target.keep_sandbox, "Do not destroy the sandbox afterwards");
  AddTimeout(run, target.timeout_ms);
  run.footer("Example: dormouse workspace-runs run . -a report.html -- python -m app --fast\n\n" +
             std::string(kExitCodes));
  group.Add("list", Action::kList, "List the runs");
  group.Add("get", Action::kGet, "Show a run").add_option("run", target.run, "Its id")->required();
  group.Add("cancel", Action::kCancel, "Stop a run")
      .add_option("run", target.run, "Its id")
      ->required();
}

void AddEngines(CLI::App& app, Targets& targets) {
  using Action = EnginesArguments::Action;
  EnginesArguments& target = targets.engines;
  ActionGroup group(app, targets.arguments, target, "engines",
                    "Engines and the bindings that offer them");
  group.Add("list", Action::kList, "List the bindings with their engines, and all installed builds");
  CLI::App& add = group.Add("add", Action::kAdd, "Check an engine package and install it");
  add.add_option("package", target.package, "Directory with engine.so, boot.img and engine.json")
      ->required();
  add.add_flag("--keep-current", target.keep_current,
               "Do not give the new build to new contexts");
  add.footer("A server that runs on the data directory takes the build up at once. Packages hold "
             "native\ncode: add only those whose origin you trust.\n");
  group.Add("prune", Action::kPrune, "Remove builds that no binding and no context needs")
      .add_flag("--dry-run", target.dry_run, "Only say which");
  AddCommand(group.app(), "boot",
             "Boot an engine build and save its image; see `engines boot --help`");
}

// A number with a unit; nothing for a malformed one or an unknown unit.
std::optional<double> ParseScaled(
    const std::string& text, std::initializer_list<std::pair<std::string_view, double>> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, factor] : units) {
    if (unit == name) return number * factor;
  }
  return std::nullopt;
}

std::optional<std::int64_t> WholeAtLeastOne(std::optional<double> value) {
  if (!value || *value < 1 || *value > 9e15) return std::nullopt;
  return std::llround(*value);
}

}  // namespace

std::optional<std::int64_t> ParseDurationMs(const std::string& text) {
  return WholeAtLeastOne(ParseScaled(
      text, {{"ms", 1}, {"s", 1e3}, {"", 1e3}, {"m", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}}));
}

std::optional<std::int64_t> ParseBytes(const std::string& text) {
  return WholeAtLeastOne(
      ParseScaled(text, {{"", 1}, {"K", 1024.0}, {"M", 1048576.0}, {"G", 1073741824.0}}));
}

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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return targets.arguments;
}

}  // namespace dormouse::cli
