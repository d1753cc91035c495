// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <boost/json/array.hpp>
#include <filesystem>
#include <mutex>
#include <optional>

#include "cli/interrupter.h"
#include "cli/local_file.h"
#include "cli/output.h"
#include "cli/run_printer.h"
#include "common/utf8.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

// The server has limits of its own; this one only keeps a wrong file name from filling our memory.
constexpr std::uint64_t kMaxInputBytes = 256u << 20;

std::string LanguageOfFile(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".js" || extension == ".mjs" || extension == ".cjs") return "javascript";
  if (extension == ".ts" || extension == ".mts" || extension == ".cts") return "typescript";
  if (extension == ".pl") return "perl";
  if (extension == ".rb") return "ruby";
  if (extension == ".lua") return "lua";
  return "python";
}

Result<std::string> ReadText(const std::string& file, std::string_view what) {
  DORMOUSE_ASSIGN(std::string text, ReadLocalFile(file, kMaxInputBytes));
  if (!IsValidUtf8(text)) {
    return Error(ErrorCode::kInvalidFileEncoding,
                 std::string(what) + " is not UTF-8 text: " + file);
  }
  return text;
}

Result<json::object> MakeBody(const ResolvedContext& context, const RunArguments& arguments) {
  std::string code;
  if (arguments.code) {
    code = *arguments.code;
    if (!IsValidUtf8(code)) return Error(ErrorCode::kInvalidFileEncoding, "the code is not UTF-8");
  } else {
    DORMOUSE_ASSIGN(code, ReadText(arguments.file, "the code"));
  }
  json::object body = RunBody(context, code);
  if (!arguments.stdin_file.empty()) {
    DORMOUSE_ASSIGN(const std::string text, ReadText(arguments.stdin_file, "the input"));
    body["stdin"] = text;
  }
  if (!arguments.cwd.empty()) body["cwd"] = arguments.cwd;
  if (arguments.timeout_ms) body["timeoutMs"] = *arguments.timeout_ms;
  if (arguments.fuel) body["fuel"] = *arguments.fuel;
  if (arguments.memory_bytes) body["memoryBytes"] = *arguments.memory_bytes;
  if (arguments.promote) body["artifactPolicy"] = "promote";
  if (arguments.capture_full) body["captureFullOutput"] = true;
  json::object env;
  for (const auto& [name, value] : arguments.env) env[name] = value;
  if (!env.empty()) body["env"] = std::move(env);
  return body;
}

// Which context the run in progress is in, when only its language is known.
std::string FindRunningDefault(Backend& backend, const ResolvedContext& context) {
  const auto contexts = ListAll(backend, SandboxPath(context.sandbox_id, "/code/contexts"));
  if (!contexts.ok()) return "";
  for (const json::value& item : *contexts) {
    if (!item.is_object()) continue;
    const json::object& object = item.get_object();
    const json::value* const is_default = object.if_contains("isDefault");
    if (is_default == nullptr || *is_default != json::value(true)) continue;
    const bool matches = context.binding.empty() ? TextOf(object, "language") == context.language
                                                 : TextOf(object, "binding") == context.binding;
    if (matches) return TextOf(object, "id");
  }
  return "";
}

std::string RunsPath(const ResolvedContext& context) {
  return context.sandbox_id.empty() ? "/v1/runs" : SandboxPath(context.sandbox_id, "/code/runs");
}

// The id of the run that is followed, for the thread that waits for Ctrl-C.
class FollowedRun {
 public:
  void Set(const std::string& run_id) {
    const std::lock_guard lock(mutex_);
    run_id_ = run_id;
  }
  std::string Get() const {
    const std::lock_guard lock(mutex_);
    return run_id_;
  }

 private:
  mutable std::mutex mutex_;
  std::string run_id_;
};

void InterruptRun(Backend& backend, const std::string& run_id) {
  if (run_id.empty()) return;
  const std::string id = http::PercentEncode(run_id, http::Slash::kEncode);
  const auto answer =
      CallJson(backend, {"POST", "/v1/runs/" + id + "/interrupt", json::object()});
  if (!answer.ok()) ReportError(answer.error(), false);
}

void Interrupt(Backend& backend, ResolvedContext context) {
  if (context.context_id.empty()) context.context_id = FindRunningDefault(backend, context);
  if (context.context_id.empty()) return;
  const auto answer =
      CallJson(backend, {"POST", ContextPath(context, "/interrupt"), json::object()});
  if (!answer.ok()) ReportError(answer.error(), false);
}

int RunAndPrintJson(Backend& backend, const ResolvedContext& context, json::object body) {
  // A run without a context has no name before its end: Ctrl-C then ends this process.
  std::optional<Interrupter> interrupter;
  if (!context.sandbox_id.empty()) {
    interrupter.emplace([&backend, &context] { Interrupt(backend, context); });
  }
  const auto text = CallText(backend, {"POST", RunsPath(context), std::move(body)});
  if (!text.ok()) return ReportError(text.error(), true);
  const auto answer = ParseAnswer(*text);
  if (!answer.ok()) return ReportError(answer.error(), true);
  WriteOut(*text + "\n");
  const json::value* const run = answer->get_object().if_contains("run");
  return run != nullptr && run->is_object() ? ExitCodeOfRun(run->get_object()) : kExitServerError;
}

Result<ResolvedContext> FindContext(Backend& backend, const RunArguments& arguments) {
  const ContextChoice& where = arguments.where;
  const std::string language = LanguageOfFile(arguments.file);
  if (!arguments.stateless) return ResolveContext(backend, where, Missing::kCreate, language);
  ResolvedContext fresh;
  fresh.binding = where.binding;
  fresh.language = where.language.empty() && where.binding.empty() ? language : where.language;
  return fresh;
}

}  // namespace

json::object RunBody(const ResolvedContext& context, std::string_view code) {
  json::object body{{"code", code}};
  if (!context.context_id.empty()) body["contextId"] = context.context_id;
  if (!context.binding.empty()) {
    body["binding"] = context.binding;
  } else if (!context.language.empty()) {
    body["language"] = context.language;
  }
  return body;
}

StreamedRun StreamRun(Backend& backend, const ResolvedContext& context, json::object body,
                      Afterwards afterwards) {
  const std::filesystem::path own_directory = backend.OwnDirectory();
  Unsaved unsaved = Unsaved::kHeldByServer;
  if (!own_directory.empty()) {
    unsaved = afterwards == Afterwards::kEnd ? Unsaved::kLost : Unsaved::kHeldMeanwhile;
  }
  RunPrinter printer(unsaved, own_directory);
  FollowedRun followed;
  const Interrupter interrupter([&backend, &context, &followed] {
    if (context.sandbox_id.empty()) {
      InterruptRun(backend, followed.Get());
    } else {
      Interrupt(backend, context);
    }
  });
  ApiRequest request{"POST", RunsPath(context) + "/stream", std::move(body)};
  request.on_run = [&followed](const std::string& run_id) { followed.Set(run_id); };
  const auto ended = CallEvents(backend, request, [&printer](const json::object& event) {
    printer.OnEvent(event);
  });
  if (!ended.ok()) return {ReportError(ended.error(), false)};
  if (printer.exit_code()) {
    return {*printer.exit_code(), printer.has_result(), printer.is_unsaved()};
  }
  return {ReportError(
      Error(ErrorCode::kUnavailable, "the stream broke off before the run's result came"), false)};
}

int RunCommand(Backend& backend, const CommonArguments& common, const RunArguments& arguments) {
  const Result<ResolvedContext> context = FindContext(backend, arguments);
  if (!context.ok()) return ReportError(context.error(), common.json);
  auto body = MakeBody(*context, arguments);
  if (!body.ok()) return ReportError(body.error(), common.json);
  return common.json ? RunAndPrintJson(backend, *context, std::move(*body))
                     : StreamRun(backend, *context, std::move(*body), Afterwards::kEnd).exit_code;
}

}  // namespace dormouse::cli
