// SPDX-License-Identifier: Apache-2.0
#include "cli/sandboxes_command.h"

#include <boost/json/array.hpp>

#include "cli/output.h"
#include "cli/resolve.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using SandboxesAction = SandboxesArguments::Action;

std::string NameOf(const json::object& sandbox) {
  const json::value* const metadata = sandbox.if_contains("metadata");
  return metadata != nullptr && metadata->is_object() ? Cell(metadata->get_object(), "name") : "-";
}

void PrintSandboxes(const json::array& sandboxes) {
  std::vector<std::vector<std::string>> rows = {{"ID", "NAME", "STATUS", "CREATED", "LAST USED"}};
  for (const json::value& item : sandboxes) {
    if (!item.is_object()) continue;
    const json::object& sandbox = item.get_object();
    rows.push_back({Cell(sandbox, "id"), NameOf(sandbox), Cell(sandbox, "status"),
                    Cell(sandbox, "createdAt"), Cell(sandbox, "lastUsedAt")});
  }
  PrintTable(rows);
}

int ListSandboxes(Backend& backend, const CommonArguments& common) {
  const auto sandboxes = ListAll(backend, "/v1/sandboxes");
  if (!sandboxes.ok()) return ReportError(sandboxes.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *sandboxes}});
  } else {
    PrintSandboxes(*sandboxes);
  }
  return kExitOk;
}

int Create(Backend& backend, const CommonArguments& common, const SandboxesArguments& arguments) {
  json::object body;
  if (!arguments.sandbox.empty()) body["metadata"] = json::object{{"name", arguments.sandbox}};
  if (arguments.ttl_ms) body["ttlMs"] = *arguments.ttl_ms;
  auto answer = CallJson(backend, {"POST", "/v1/sandboxes", std::move(body)});
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
    return kExitOk;
  }
  const auto sandbox = Unwrap(std::move(answer), "sandbox");
  if (!sandbox.ok()) return ReportError(sandbox.error(), common.json);
  WriteOut(TextOf(*sandbox, "id") + "\n");
  return kExitOk;
}

void PrintInfo(const json::object& info) {
  const json::value* const sandbox = info.if_contains("sandbox");
  if (sandbox != nullptr && sandbox->is_object()) PrintSandboxes(json::array{*sandbox});
  const json::value* const workspace = info.if_contains("workspace");
  if (workspace != nullptr && workspace->is_object()) {
    const json::value* const bytes = workspace->get_object().if_contains("bytes");
    WriteOut(
        "\nworkspace: " + Cell(workspace->get_object(), "files") + " files, " +
        (bytes != nullptr && bytes->is_number() ? HumanBytes(bytes->to_number<double>()) : "-") +
        "\n");
  }
  const json::value* const contexts = info.if_contains("contexts");
  if (contexts == nullptr || !contexts->is_array()) return;
  for (const json::value& item : contexts->get_array()) {
    if (!item.is_object()) continue;
    const json::object& context = item.get_object();
    WriteOut("context:   " + Cell(context, "id") + " " + Cell(context, "binding") + " " +
             Cell(context, "name") + ", " + Cell(context, "executions") + " runs\n");
  }
}

int Show(Backend& backend, const CommonArguments& common, const std::string& sandbox_id) {
  auto answer = CallJson(backend, {"GET", SandboxPath(sandbox_id, "/info"), {}});
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
    return kExitOk;
  }
  const auto info = Unwrap(std::move(answer), "info");
  if (!info.ok()) return ReportError(info.error(), common.json);
  PrintInfo(*info);
  return kExitOk;
}

}  // namespace

int SandboxesCommand(Backend& backend, const CommonArguments& common,
                     const SandboxesArguments& arguments) {
  if (arguments.action == SandboxesAction::kList) return ListSandboxes(backend, common);
  if (arguments.action == SandboxesAction::kCreate) return Create(backend, common, arguments);
  const auto sandbox_id = ResolveSandbox(backend, arguments.sandbox, Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  if (arguments.action == SandboxesAction::kShow) return Show(backend, common, *sandbox_id);
  const auto answer = CallJson(backend, {"DELETE", SandboxPath(*sandbox_id), {}});
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) PrintJson(*answer);
  return kExitOk;
}

}  // namespace dormouse::cli
