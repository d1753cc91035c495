// SPDX-License-Identifier: Apache-2.0
#include "cli/repl_command.h"

#include <unistd.h>

#include <boost/json/array.hpp>
#include <charconv>

#include "cli/cell_completeness.h"
#include "cli/contexts_command.h"
#include "cli/line_reader.h"
#include "cli/output.h"
#include "cli/resolve.h"
#include "cli/run_command.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

constexpr const char* kHelp =
    ":help              this list\n"
    ":snapshots         the states that this context can go back to\n"
    ":rollback NUMBER   go back to one of them\n"
    ":fork [NAME]       go on in a copy of this context\n"
    ":reset             begin anew, with empty memory\n"
    ":quit              leave (Ctrl-D); the state is kept\n"
    "An empty line ends a block. Ctrl-C stops a run.\n";

class Repl {
 public:
  Repl(Backend& backend, const ReplArguments& arguments, ResolvedContext context,
       std::unique_ptr<LineReader> reader)
      : backend_(backend),
        arguments_(arguments),
        context_(std::move(context)),
        label_(context_.binding.empty() ? context_.language : context_.binding),
        interactive_(::isatty(STDIN_FILENO) == 1),
        reader_(std::move(reader)) {}

  // Returns the exit code of the last cell, so that a piped script can be judged by it; of a
  // session that loses what could not be saved, kExitNotSaved.
  int Run() {
    int exit_code = kExitOk;
    bool is_unsaved = false;
    std::string cell;
    while (ReadCell(cell)) {
      if (cell.find_first_not_of(" \t\n") == std::string::npos) continue;
      reader_->Remember(cell);
      if (cell.front() == ':') {
        if (!Command(cell.substr(1))) break;
        continue;
      }
      json::object body = RunBody(context_, cell);
      if (arguments_.timeout_ms) body["timeoutMs"] = *arguments_.timeout_ms;
      const StreamedRun run = StreamRun(backend_, context_, std::move(body), Afterwards::kMoreRuns);
      exit_code = run.exit_code;
      // A refused run leaves what was in memory there.
      if (run.has_result) is_unsaved = run.is_unsaved;
      // A person goes on typing; a pipe whose server is gone does not.
      if (!run.has_result && !interactive_) break;
    }
    if (is_unsaved && !backend_.OwnDirectory().empty()) {
      WriteErr(Styled(Style::kError, "dormouse: what could not be saved is lost now") + "\n");
      return interactive_ || exit_code == kExitOk ? int{kExitNotSaved} : exit_code;
    }
    return interactive_ ? int{kExitOk} : exit_code;
  }

 private:
  // False at the end of the input.
  bool ReadCell(std::string& cell) {
    cell.clear();
    std::string line;
    while (true) {
      const std::string prompt =
          cell.empty() ? label_ + "> " : std::string(label_.size(), '.') + "> ";
      switch (reader_->Read(prompt, line)) {
        case LineReader::Outcome::kEnd:
          return !cell.empty();
        case LineReader::Outcome::kInterrupted:
          cell.clear();
          continue;
        case LineReader::Outcome::kLine:
          break;
      }
      if (cell.empty() && line.starts_with(':')) {
        cell = line;
        return true;
      }
      cell += cell.empty() && line.empty() ? "" : (cell.empty() ? line : "\n" + line);
      if (!NeedsMoreLines(context_.language, cell)) return true;
    }
  }

  // False to leave.
  bool Command(const std::string& text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string name = text.substr(0, space);
    const std::string argument =
        text.substr(std::min(text.find_first_not_of(' ', space), text.size()));
    if (name == "quit" || name == "q" || name == "exit") return false;
    if (name == "help") {
      WriteOut(kHelp);
    } else if (name == "snapshots" && FindContext()) {
      PrintSnapshots(backend_, context_, CommonArguments{});
    } else if (name == "rollback") {
      Rollback(argument);
    } else if (name == "fork" && FindContext()) {
      Fork(argument);
    } else if (name == "reset" && FindContext()) {
      Reset();
    } else if (name != "snapshots" && name != "fork" && name != "reset") {
      WriteErr("unknown command; :help lists them\n");
    }
    return true;
  }

  // The default context has an id only once it has run something.
  bool FindContext() {
    if (!context_.context_id.empty()) return true;
    const auto contexts = ListAll(backend_, SandboxPath(context_.sandbox_id, "/code/contexts"));
    if (!contexts.ok()) {
      ReportError(contexts.error(), false);
      return false;
    }
    for (const json::value& item : *contexts) {
      if (!item.is_object()) continue;
      const json::object& object = item.get_object();
      const bool matches = context_.binding.empty()
                               ? TextOf(object, "language") == context_.language
                               : TextOf(object, "binding") == context_.binding;
      if (matches && Cell(object, "isDefault") == "true")
        context_.context_id = TextOf(object, "id");
    }
    if (context_.context_id.empty()) WriteErr("nothing has run yet\n");
    return !context_.context_id.empty();
  }

  void Rollback(const std::string& argument) {
    std::int64_t generation = 0;
    const char* const end = argument.data() + argument.size();
    const auto [rest, failure] = std::from_chars(argument.data(), end, generation);
    if (failure != std::errc() || rest != end) {
      WriteErr("which state? :snapshots lists them\n");
    } else if (FindContext()) {
      const auto answer = CallJson(backend_, {"POST", ContextPath(context_, "/rollback"),
                                              json::object{{"generation", generation}}});
      if (!answer.ok()) ReportError(answer.error(), false);
    }
  }

  void Fork(const std::string& name) {
    json::object body;
    if (!name.empty()) body["name"] = name;
    const auto made = Unwrap(
        CallJson(backend_, {"POST", ContextPath(context_, "/fork"), std::move(body)}), "context");
    if (!made.ok()) {
      ReportError(made.error(), false);
      return;
    }
    context_.context_id = TextOf(*made, "id");
    WriteErr(Styled(Style::kDim, "[now in " + context_.context_id + "]") + "\n");
  }

  void Reset() {
    const auto answer = CallJson(backend_, {"DELETE", ContextPath(context_), {}});
    if (!answer.ok()) {
      ReportError(answer.error(), false);
      return;
    }
    const auto again =
        ResolveContext(backend_, arguments_.where, Missing::kCreate, context_.language);
    if (again.ok()) {
      context_ = *again;
    } else {
      ReportError(again.error(), false);
    }
  }

  Backend& backend_;
  const ReplArguments& arguments_;
  ResolvedContext context_;
  const std::string label_;
  const bool interactive_;
  const std::unique_ptr<LineReader> reader_;
};

// The language of a context that was named by its id, or of a binding.
Result<void> CompleteLanguage(Backend& backend, ResolvedContext& context) {
  if (!context.language.empty()) return {};
  if (!context.context_id.empty()) {
    DORMOUSE_ASSIGN(const json::object found,
                    Unwrap(CallJson(backend, {"GET", ContextPath(context), {}}), "context"));
    context.language = TextOf(found, "language");
    return {};
  }
  DORMOUSE_ASSIGN(const json::array bindings, ListUnpaged(backend, "/v1/bindings"));
  for (const json::value& binding : bindings) {
    if (!binding.is_object() || TextOf(binding.get_object(), "name") != context.binding) continue;
    context.language = TextOf(binding.get_object(), "language");
  }
  return {};
}

}  // namespace

int ReplCommand(Backend& backend, const ReplArguments& arguments,
                const std::filesystem::path& history_file) {
  auto context = ResolveContext(backend, arguments.where, Missing::kCreate, "python");
  if (!context.ok()) return ReportError(context.error(), false);
  if (const auto completed = CompleteLanguage(backend, *context); !completed.ok()) {
    return ReportError(completed.error(), false);
  }
  return Repl(backend, arguments, std::move(*context), MakeLineReader(history_file)).Run();
}

}  // namespace dormouse::cli
