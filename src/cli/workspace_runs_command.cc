// SPDX-License-Identifier: Apache-2.0
#include "cli/workspace_runs_command.h"

#include <chrono>
#include <thread>

#include "cli/interrupter.h"
#include "cli/output.h"
#include "cli/pack.h"
#include "cli/report.h"
#include "cli/resolve.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using WorkspaceRunsAction = WorkspaceRunsArguments::Action;

constexpr std::string_view kRuns = "/v1/workspace-runs";
// How often a stream that broke off is taken up again without a new event.
constexpr int kReconnects = 5;

std::string RunPath(const std::string& run_id, const std::string& rest = "") {
  return std::string(kRuns) + "/" + http::PercentEncode(run_id, http::Slash::kEncode) + rest;
}

// The words as a line from which the same words come again. A single word is a line already.
std::string CommandLine(const std::vector<std::string>& words) {
  if (words.size() == 1) return words[0];
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line.push_back(' ');
    // `&&` and assignments mean what they mean to a shell.
    if (word == "&&" || (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos)) {
      line += word;
      continue;
    }
    line.push_back('\'');
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line.push_back('\'');
  }
  return line;
}

int ExitCodeOf(const json::object& run) {
  const std::string status = TextOf(run, "status");
  const json::value* const code = run.if_contains("exitCode");
  if (code != nullptr && code->is_int64()) {
    const std::int64_t number = code->get_int64();
    return number >= 0 && number <= 255 ? static_cast<int>(number) : kExitRunError;
  }
  if (status == "succeeded") return kExitOk;
  return TextOf(run, "failureClass") == "platform" ? kExitServerError : kExitRunError;
}

Result<json::object> CreateRun(Backend& backend, const WorkspaceRunsArguments& arguments) {
  json::object body{{"command", CommandLine(arguments.command)},
                    {"keepSandbox", arguments.keep_sandbox}};
  json::array artifacts;
  for (const std::string& path : arguments.artifacts)
    artifacts.push_back(json::object{{"path", path}});
  if (!artifacts.empty()) body["artifacts"] = std::move(artifacts);
  if (!arguments.sandbox.empty()) {
    DORMOUSE_ASSIGN(const std::string sandbox_id,
                    ResolveSandbox(backend, arguments.sandbox, Missing::kFail));
    body["sandboxId"] = sandbox_id;
  }
  if (arguments.timeout_ms) body["timeoutMs"] = *arguments.timeout_ms;
  return Unwrap(CallJson(backend, {"POST", std::string(kRuns), std::move(body)}), "workspaceRun");
}

Result<void> Upload(Backend& backend, const std::string& url, const PackedArchive& packed,
                    Progress::Audience audience) {
  Progress progress("uploading", audience);
  progress.Expect(packed.size_bytes);
  ApiRequest upload{"PUT", url, {}};
  upload.upload = packed.file.get();
  upload.progress = &progress;
  return backend.Send(upload, [](std::string_view) { return true; });
}

Result<void> UploadAndStart(Backend& backend, const std::string& run_id,
                            const PackedArchive& packed, Progress::Audience audience) {
  const json::object announced{{"sha256", packed.digest.Hex()}, {"sizeBytes", packed.size_bytes}};
  DORMOUSE_ASSIGN(
      const json::object transfer,
      Unwrap(CallJson(backend, {"POST", RunPath(run_id, "/archive-transfer"), announced}),
             "transfer"));
  DORMOUSE_TRY(Upload(backend, TextOf(transfer, "uploadUrl"), packed, audience));
  json::object finalize = announced;
  finalize["uploadId"] = TextOf(transfer, "id");
  DORMOUSE_TRY(
      CallJson(backend, {"POST", RunPath(run_id, "/archive/finalize"), std::move(finalize)}));
  DORMOUSE_TRY(CallJson(backend, {"POST", RunPath(run_id, "/start"), json::object()}));
  return {};
}

// Follows the events to the end; the run as it ended.
Result<json::object> Follow(Backend& backend, const std::string& run_id, bool prints) {
  std::int64_t after = 0;
  std::optional<json::object> ended;
  int failures = 0;
  while (!ended) {
    const std::int64_t before = after;
    const auto streamed = CallEvents(
        backend,
        {"GET", RunPath(run_id, "/events?stream=true&afterSeq=" + std::to_string(after)), {}},
        [&](const json::object& event) {
          const json::value* const seq = event.if_contains("seq");
          if (seq != nullptr && seq->is_int64()) after = seq->get_int64();
          const std::string type = TextOf(event, "type");
          if (prints && type == "stdout") WriteOut(TextOf(event, "data"));
          if (prints && type == "stderr") WriteErr(TextOf(event, "data"));
          if (prints && type == "artifact_collected") {
            WriteErr(Styled(Style::kDim, "[artifact " + Cell(event, "artifactId") + " " +
                                             Cell(event, "path") + "]") +
                     "\n");
          }
          const json::value* const run = event.if_contains("workspaceRun");
          if (type == "terminal" && run != nullptr && run->is_object()) ended = run->get_object();
        });
    if (ended) break;
    failures = after > before ? 0 : failures + 1;
    if (failures > kReconnects) {
      if (!streamed.ok()) return streamed.error();
      return Error(ErrorCode::kUnavailable, "the stream broke off before the end of the run");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(250 * failures));
  }
  return *ended;
}

void PrintEnd(const json::object& run) {
  const json::value* const errors = run.if_contains("artifactErrors");
  if (errors != nullptr && errors->is_array()) {
    for (const json::value& item : errors->get_array()) {
      if (!item.is_object()) continue;
      WriteErr(Styled(Style::kDim, "[not collected: " + Cell(item.get_object(), "path") + ": " +
                                       Cell(item.get_object(), "message") + "]") +
               "\n");
    }
  }
  if (TextOf(run, "status") == "succeeded" || TextOf(run, "failureReason") == "command_exit")
    return;
  const std::string reason = TextOf(run, "failureReason");
  WriteErr(Styled(Style::kError, "dormouse: the run is " + TextOf(run, "status") +
                                     (reason.empty() ? "" : " (" + reason + ")")) +
           "\n");
}

int RunIt(Backend& backend, const CommonArguments& common,
          const WorkspaceRunsArguments& arguments) {
  const auto packed = Pack(arguments.source, AudienceOf(common));
  if (!packed.ok()) return ReportError(packed.error(), common.json);
  const auto created = CreateRun(backend, arguments);
  if (!created.ok()) return ReportError(created.error(), common.json);
  const std::string run_id = TextOf(*created, "id");
  const auto cancel = [&backend, run_id] {
    (void)CallJson(backend, {"POST", RunPath(run_id, "/cancel"), json::object()});
  };
  const Interrupter interrupter(cancel);
  const auto started = UploadAndStart(backend, run_id, *packed, AudienceOf(common));
  if (!started.ok()) {
    cancel();
    return ReportError(started.error(), common.json);
  }
  const auto ended = Follow(backend, run_id, !common.json);
  if (!ended.ok()) return ReportError(ended.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"workspaceRun", *ended}});
  } else {
    PrintEnd(*ended);
  }
  return ExitCodeOf(*ended);
}

std::vector<std::string> RunRow(const json::object& run) {
  return {Cell(run, "id"), Cell(run, "status"), Cell(run, "exitCode"), Cell(run, "createdAt"),
          Cell(run, "command")};
}

}  // namespace

int WorkspaceRunsCommand(Backend& backend, const CommonArguments& common,
                         const WorkspaceRunsArguments& arguments) {
  const Table table{{"ID", "STATUS", "EXIT", "CREATED", "COMMAND"}, RunRow};
  ApiRequest request{"GET", RunPath(arguments.run), {}};
  switch (arguments.action) {
    case WorkspaceRunsAction::kRun:
      return RunIt(backend, common, arguments);
    case WorkspaceRunsAction::kList:
      return ReportList(ListAll(backend, std::string(kRuns)), common, table);
    case WorkspaceRunsAction::kCancel:
      request = {"POST", RunPath(arguments.run, "/cancel"), json::object()};
      break;
    case WorkspaceRunsAction::kGet:
      break;
  }
  return ReportObject(CallJson(backend, request), "workspaceRun", common, table);
}

}  // namespace dormouse::cli
