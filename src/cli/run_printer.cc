// SPDX-License-Identifier: Apache-2.0
#include "cli/run_printer.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "cli/arguments.h"
#include "cli/disk_space.h"
#include "cli/output.h"
#include "cli/resolve.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

// What is above it, shells keep for themselves.
constexpr std::int64_t kMaxPassedExitCode = 125;

std::int64_t IntegerOf(const json::object& object, std::string_view name, std::int64_t otherwise) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : otherwise;
}

bool TruthOf(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

json::object ContextOf(const json::object& run) {
  const json::value* const context = run.if_contains("context");
  return context != nullptr && context->is_object() ? context->get_object() : json::object();
}

std::string EndingWithNewline(std::string text) {
  if (!text.empty() && text.back() != '\n') text.push_back('\n');
  return text;
}

std::string Explain(const std::string& status) {
  if (status == "timeout") return "stopped at its deadline";
  if (status == "fuel_exhausted") return "stopped at its CPU budget";
  if (status == "interrupted") return "interrupted";
  if (status == "oom") return "out of memory";
  if (status == "crashed") return "the interpreter crashed";
  return status;
}

// The lines of the traceback, and the headline if they do not have it.
std::string ErrorText(const json::object& error) {
  std::string text;
  if (const json::value* const lines = error.if_contains("traceback");
      lines != nullptr && lines->is_array()) {
    for (const json::value& line : lines->get_array()) {
      if (line.is_string()) text += EndingWithNewline(std::string(line.get_string()));
    }
  }
  const std::string headline = TextOf(error, "name") + ": " + TextOf(error, "message") + "\n";
  if (text.find(TextOf(error, "name")) == std::string::npos) text += headline;
  return text;
}

void PrintCodeError(const json::object& run) {
  const json::value* const member = run.if_contains("error");
  if (member == nullptr || !member->is_object()) return;
  const json::object& error = member->get_object();
  std::string text;
  if (TextOf(run, "status") == "exited") {
    // As interpreters do: exit() with a message shows it, with a number it does not.
    const std::string message = TextOf(error, "message");
    if (message != Cell(run, "exitCode")) text = EndingWithNewline(message);
  } else {
    text = ErrorText(error);
  }
  if (!text.empty()) WriteErr(Styled(Style::kError, text.substr(0, text.size() - 1)) + "\n");
}

}  // namespace

int ExitCodeOfRun(const json::object& run) {
  const std::string status = TextOf(run, "status");
  const std::int64_t code = status == "ok" ? 0 : IntegerOf(run, "exitCode", 0);
  if (status != "ok" && status != "exited") return kExitRunError;
  if (code != 0) return code > 0 && code <= kMaxPassedExitCode ? static_cast<int>(code) : kExitRunError;
  const json::object context = ContextOf(run);
  const bool lost = TextOf(run, "state") == "rolled_back" || TruthOf(context, "stale") ||
                    TruthOf(context, "stateLost");
  return lost ? kExitNotSaved : kExitOk;
}

void RunPrinter::OnEvent(const json::object& event) {
  const std::string type = TextOf(event, "type");
  const json::value* const data = event.if_contains("data");
  if (data == nullptr) return;
  const bool is_output = type == "output" && data->is_object();
  PrintUnkept(is_output ? TextOf(data->get_object(), "format") : std::string());
  if (data->is_string()) {
    const std::string_view text = data->get_string();
    if (type == "stdout") WriteOut(text);
    if (type == "stderr") WriteErr(text);
  } else if (data->is_object()) {
    const json::object& object = data->get_object();
    if (type == "output") PrintOutput(object);
    // An error of the code comes again with the result, where it is known whether it was only an
    // exit.
    if (type == "error" && object.contains("requestId")) OnServerFailure(object);
    if (type == "complete") PrintResult(object);
  }
}

void RunPrinter::PrintUnkept(const std::string& next_format) {
  if (unkept_.empty() || next_format == "svg" || next_format == "png" || next_format == "jpeg") return;
  // The page that comes with data is a table, whose text was shown.
  const bool is_table = unkept_ == "html" && (next_format == "json" || next_format == "data");
  if (!is_table) {
    WriteErr(Styled(Style::kDim, "[" + unkept_ + ": --promote keeps it as an artifact]") + "\n");
  }
  unkept_.clear();
}

void RunPrinter::PrintOutput(const json::object& output) {
  const std::string kind = TextOf(output, "kind");
  const std::string format = TextOf(output, "format");
  if (kind == "inline") {
    const json::value* const value = output.if_contains("value");
    // One value may come in several formats, text first: a person wants to see it once. What is text to read is shown
    // as well, as its text form is often only its name.
    const bool is_data = format == "json" || format == "data" || format == "chart";
    const bool seen = text_shown_ && is_data;
    if (!is_data) text_shown_ = true;
    if (value == nullptr || seen) return;
    WriteOut(EndingWithNewline(value->is_string() ? std::string(value->get_string())
                                                  : json::serialize(*value)));
    if (output.contains("artifactId")) PrintArtifact(output);
  } else if (kind == "artifact") {
    PrintArtifact(output);
  } else if (Cell(output, "reason") == "requires_artifact_promotion") {
    unkept_ += unkept_.empty() ? format : ", " + format;
  } else {
    WriteErr(Styled(Style::kDim, "[rejected " + format + ": " + Cell(output, "reason") + "]") +
             "\n");
  }
}

void RunPrinter::PrintArtifact(const json::object& output) {
  WriteErr(Styled(Style::kDim, "[artifact " + Cell(output, "artifactId") + " " + TextOf(output, "format") +
                                   " " + Cell(output, "sizeBytes") + " bytes]") +
           "\n");
}

void RunPrinter::OnServerFailure(const json::object& error) {
  std::string message = TextOf(error, "message");
  if (!own_directory_.empty() && TextOf(error, "code") == "resource_allocation_failed") {
    message += "; nothing of this run was saved; " + DescribeDisk(own_directory_);
  }
  PrintFailure(message);
  exit_code_ = kExitServerError;
}

void RunPrinter::PrintFailure(const std::string& message) {
  WriteErr(Styled(Style::kError, "dormouse: " + message) + "\n");
}

void RunPrinter::PrintResult(const json::object& run) {
  exit_code_ = ExitCodeOfRun(run);
  has_result_ = true;
  PrintCodeError(run);
  PrintNotes(run);
  PrintLosses(run);
}

void RunPrinter::PrintNotes(const json::object& run) {
  const std::string status = TextOf(run, "status");
  std::string notes;
  const std::string state = TextOf(run, "state");
  // What is as usual goes without saying.
  const bool usual = status == "ok" || status == "error" || status == "exited";
  if (state == "discarded") {
    if (!usual) notes += "[" + Explain(status) + "]\n";
  } else if (!usual || state == "rolled_back") {
    notes += "[" + Explain(status) + "; state " +
             (state == "kept" ? "kept" : "rolled back to before this run") + "]\n";
  }
  if (const std::int64_t code = IntegerOf(run, "exitCode", 0); code < 0 || code > kMaxPassedExitCode) {
    notes += "[exit status " + std::to_string(code) + "]\n";
  }
  for (const std::string stream : {"stdout", "stderr"}) {
    if (!TruthOf(run, stream + "Truncated")) continue;
    notes += "[" + stream + " was cut; the code wrote " + Cell(run, stream + "Bytes") + " bytes]\n";
  }
  for (const std::string stream : {"stdout", "stderr"}) {
    if (!run.contains(stream + "ArtifactId")) continue;
    notes += "[artifact " + Cell(run, stream + "ArtifactId") + " " + stream + "]\n";
  }
  if (!notes.empty()) WriteErr(Styled(Style::kDim, notes.substr(0, notes.size() - 1)) + "\n");
}

void RunPrinter::PrintLosses(const json::object& run) {
  const json::object context = ContextOf(run);
  if (TruthOf(context, "stateLost")) {
    PrintFailure(
        "earlier runs of the context are gone: its engine is not installed, or they could not be "
        "saved");
  }
  if (!TruthOf(context, "stale")) return;
  is_unsaved_ = TextOf(run, "state") == "kept";
  std::string message =
      "memory and files as this run left them could not be saved: " + Cell(context, "staleReason");
  if (!is_unsaved_ || unsaved_ == Unsaved::kLost) {
    message += "; they are lost, and the next run finds what there was before";
  } else if (unsaved_ == Unsaved::kHeldByServer) {
    message += "; the server holds them, and saves them with the next run if it can";
  } else {
    message += "; they are lost unless a later run of this session can save them";
  }
  if (!own_directory_.empty()) message += "; " + DescribeDisk(own_directory_);
  PrintFailure(message);
}

}  // namespace dormouse::cli
