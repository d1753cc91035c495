// SPDX-License-Identifier: Apache-2.0
// The command line as plain values. Everything about its syntax is in arguments.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::cli {

// Exit codes of every command; `run` also passes on what the code's own exit() asked for, 1 to 125,
// and `workspace-runs run` what the command ended with.
enum ExitCode : int {
  kExitOk = 0,
  kExitRunError = 1,     // the code raised, was stopped or crashed
  kExitUsage = 2,        // the command line is wrong
  kExitServerError = 3,  // the server refused, failed or cannot be reached; a local file likewise
  kExitNotSaved = 4,     // the code ended well, but what it did, or earlier state, is not saved
};

// Where the API is, and how results are shown.
struct CommonArguments {
  std::string url;       // empty: the server on `data`, or the service in this process
  std::string key_file;  // empty: DORMOUSE_API_KEY
  std::string data;      // empty: the default directory
  std::string engines;   // empty: found, see data_directory.h
  std::string config;    // empty: none
  bool json = false;
};

struct ServeArguments {
  std::string listen;  // empty: as configured
};

// Which context code runs in.
struct ContextChoice {
  std::string sandbox = "default";  // a name or sbx_…
  std::string context;              // a name or cctx_…; empty: the language's default context
  std::string language;
  std::string binding;
};

struct RunArguments {
  ContextChoice where;
  bool stateless = false;           // neither a sandbox nor a context is named
  std::optional<std::string> code;  // -c
  std::string file;                 // "-": standard input
  std::string stdin_file;           // "-": standard input; empty: none
  std::string cwd;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::int64_t> timeout_ms;
  std::optional<std::int64_t> fuel;
  std::optional<std::int64_t> memory_bytes;
  bool promote = false;       // pictures and pages become artifacts
  bool capture_full = false;  // so do standard output and error, whole
};

struct ReplArguments {
  ContextChoice where;
  std::optional<std::int64_t> timeout_ms;
};

struct SandboxesArguments {
  enum class Action { kList, kCreate, kShow, kDelete };
  Action action = Action::kList;
  std::string sandbox;
  std::optional<std::int64_t> ttl_ms;
};

struct ContextsArguments {
  enum class Action {
    kList,
    kCreate,
    kShow,
    kDelete,
    kInterrupt,
    kEvict,
    kFork,
    kRollback,
    kSnapshots
  };
  Action action = Action::kList;
  ContextChoice where;
  std::string new_name;  // of a created context or a fork
  std::optional<std::int64_t> generation;
};

struct FilesArguments {
  enum class Action { kList, kStat, kRead, kWrite, kDelete, kMkdir, kMove };
  Action action = Action::kList;
  std::string sandbox = "default";
  std::string path = "/workspace";
  std::string to;          // kMove
  std::string local_file;  // kRead: where to write; kWrite: what to read; "-": the standard streams
  bool overwrite = false;
  bool parents = false;
};

struct KeysArguments {
  enum class Action { kList, kCreate, kRevoke };
  Action action = Action::kList;
  std::string name;
  std::string key_id;
  std::vector<std::string> scopes;    // empty: the usual ones
  std::vector<std::string> projects;  // empty: all
};

struct ProjectsArguments {
  enum class Action { kList, kCreate };
  Action action = Action::kList;
  std::string name;
};

struct ArtifactsArguments {
  enum class Action { kList, kCreate, kGet, kDownload, kDelete };
  Action action = Action::kList;
  std::string sandbox = "default";
  std::string artifact;     // art_…
  std::string path;         // kCreate: the file in the sandbox
  std::string name;         // kCreate
  std::string local_file;   // kDownload: where to write; empty or "-": standard output
  bool historical = false;  // kList: also deleted ones
};

struct WorkspaceRunsArguments {
  enum class Action { kRun, kList, kGet, kCancel };
  Action action = Action::kList;
  std::string source;                // kRun: a directory or a .tar.gz
  std::vector<std::string> command;  // kRun: words, or one line
  std::vector<std::string> artifacts;
  std::string sandbox;  // empty: one for this run
  bool keep_sandbox = false;
  std::optional<std::int64_t> timeout_ms;
  std::string run;  // kGet, kCancel
};

struct EnginesArguments {
  enum class Action { kList, kAdd, kPrune };
  Action action = Action::kList;
  std::string package;        // kAdd: a directory
  bool keep_current = false;  // kAdd: new contexts get the build that they got before
  bool dry_run = false;       // kPrune
};

struct PackagesArguments {
  enum class Action { kList, kAdd, kRemove };
  Action action = Action::kList;
  std::string language = "python";
  std::vector<std::string> packages;  // kAdd: names or files; kRemove: names
  std::string from;                   // kAdd: a directory of wheels, in place of an index
  bool build = false;                 // kAdd: source packages may be built here
};

struct Arguments {
  CommonArguments common;
  std::variant<ServeArguments, RunArguments, ReplArguments, SandboxesArguments, ContextsArguments,
               FilesArguments, ArtifactsArguments, KeysArguments, ProjectsArguments,
               WorkspaceRunsArguments, EnginesArguments, PackagesArguments>
      command;
};

// What to do, or the exit code after help or a complaint was printed.
std::variant<Arguments, int> ParseArguments(int argc, char** argv);

}  // namespace dormouse::cli
