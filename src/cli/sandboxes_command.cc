// SPDX-License-Identifier: Apache-2.0
#include "cli/sandboxes_command.h"

#include "cli/output.h"
#include "cli/report.h"
#include "cli/resolve.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using SandboxesAction = SandboxesArguments::Action;

std::string NameOf(const json::object& sandbox) {
  const json::value* const metadata = sandbox.if_contains("metadata");
  return metadata != nullptr && metadata->is_object() ? Cell(metadata->get_object(), "name") : "-";
}

std::vector<std::string> SandboxRow(const json::object& sandbox) {
  return {Cell(sandbox, "id"), NameOf(sandbox), Cell(sandbox, "status"), Cell(sandbox, "createdAt"),
          Cell(sandbox, "lastUsedAt")};
}

Table SandboxTable() { return {{"ID", "NAME", "STATUS", "CREATED", "LAST USED"}, SandboxRow}; }

// A second sandbox of one name could not be told from the first by the commands.
Result<void> CheckNameIsFree(Backend& backend, const std::string& name) {
  if (name.empty()) return {};
  if (name.starts_with("sbx_")) {
    return Error(ErrorCode::kInvalidRequest, "a name cannot begin with \"sbx_\", as ids do",
                 {{"field", "name"}});
  }
  const auto found = ResolveSandbox(backend, name, Missing::kFail);
  if (found.ok()) {
    return Error(ErrorCode::kConflict, "there is a sandbox named \"" + name + "\" already: " + *found,
                 {{"field", "name"}});
  }
  if (found.error().code != ErrorCode::kNotFound) return found.error();
  return {};
}

int Create(Backend& backend, const CommonArguments& common, const SandboxesArguments& arguments) {
  if (const auto free = CheckNameIsFree(backend, arguments.sandbox); !free.ok()) {
    return ReportError(free.error(), common.json);
  }
  json::object body;
  if (!arguments.sandbox.empty()) body["metadata"] = json::object{{"name", arguments.sandbox}};
  if (arguments.ttl_ms) body["ttlMs"] = *arguments.ttl_ms;
  return ReportObject(CallJson(backend, {"POST", "/v1/sandboxes", std::move(body)}), "sandbox",
                      common, PrintId);
}

void PrintInfo(const json::object& info) {
  const json::value* const sandbox = info.if_contains("sandbox");
  if (sandbox != nullptr && sandbox->is_object()) {
    PrintObjects(json::array{*sandbox}, SandboxTable());
  }
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

}  // namespace

int SandboxesCommand(Backend& backend, const CommonArguments& common,
                     const SandboxesArguments& arguments) {
  if (arguments.action == SandboxesAction::kList) {
    return ReportList(ListAll(backend, "/v1/sandboxes"), common, SandboxTable());
  }
  if (arguments.action == SandboxesAction::kCreate) return Create(backend, common, arguments);
  const auto sandbox_id = ResolveSandbox(backend, arguments.sandbox, Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  if (arguments.action == SandboxesAction::kShow) {
    return ReportObject(CallJson(backend, {"GET", SandboxPath(*sandbox_id, "/info"), {}}), "info",
                        common, PrintInfo);
  }
  return ReportDone(CallJson(backend, {"DELETE", SandboxPath(*sandbox_id), {}}), common);
}

}  // namespace dormouse::cli
