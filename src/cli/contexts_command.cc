// SPDX-License-Identifier: Apache-2.0
#include "cli/contexts_command.h"

#include "cli/output.h"
#include "cli/report.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using ContextsAction = ContextsArguments::Action;

std::string BytesCell(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_number() ? HumanBytes(value->to_number<double>()) : "-";
}

std::string StateOf(const json::object& context) {
  if (Cell(context, "running") == "true") return "running";
  return Cell(context, "resident") == "true" ? "resident" : "dormant";
}

std::vector<std::string> ContextRow(const json::object& context) {
  const json::value* const snapshot = context.if_contains("snapshot");
  const bool has_snapshot = snapshot != nullptr && snapshot->is_object();
  return {Cell(context, "id"),
          Cell(context, "name"),
          Cell(context, "binding"),
          StateOf(context),
          Cell(context, "executions"),
          has_snapshot ? Cell(snapshot->get_object(), "generation") : "-",
          has_snapshot ? BytesCell(snapshot->get_object(), "storedBytes") : "-",
          Cell(context, "lastUsedAt")};
}

Table ContextTable() {
  return {{"ID", "NAME", "BINDING", "STATE", "RUNS", "GENERATION", "STORED", "LAST USED"},
          ContextRow};
}

std::vector<std::string> SnapshotRow(const json::object& snapshot) {
  return {Cell(snapshot, "generation"), Cell(snapshot, "executions"),
          BytesCell(snapshot, "storedBytes"), Cell(snapshot, "takenAt")};
}

int ListContexts(Backend& backend, const CommonArguments& common, const std::string& sandbox) {
  const auto sandbox_id = ResolveSandbox(backend, sandbox, Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  return ReportList(ListAll(backend, SandboxPath(*sandbox_id, "/code/contexts")), common,
                    ContextTable());
}

Result<ApiRequest> CreateRequest(Backend& backend, const ContextsArguments& arguments) {
  DORMOUSE_ASSIGN(const std::string sandbox_id,
                  ResolveSandbox(backend, arguments.where.sandbox, Missing::kCreate));
  json::object body;
  if (!arguments.new_name.empty()) body["name"] = arguments.new_name;
  if (!arguments.where.binding.empty()) {
    body["binding"] = arguments.where.binding;
  } else {
    body["language"] = arguments.where.language.empty() ? "python" : arguments.where.language;
  }
  return ApiRequest{"POST", SandboxPath(sandbox_id, "/code/contexts"), std::move(body)};
}

Result<ApiRequest> RequestFor(Backend& backend, const ContextsArguments& arguments) {
  if (arguments.action == ContextsAction::kCreate) return CreateRequest(backend, arguments);
  DORMOUSE_ASSIGN(const ResolvedContext context,
                  ResolveContext(backend, arguments.where, Missing::kFail, ""));
  json::object body;
  if (arguments.generation) body["generation"] = *arguments.generation;
  if (!arguments.new_name.empty()) body["name"] = arguments.new_name;
  switch (arguments.action) {
    case ContextsAction::kDelete:
      return ApiRequest{"DELETE", ContextPath(context), {}};
    case ContextsAction::kInterrupt:
      return ApiRequest{"POST", ContextPath(context, "/interrupt"), body};
    case ContextsAction::kEvict:
      return ApiRequest{"POST", ContextPath(context, "/evict"), body};
    case ContextsAction::kFork:
      return ApiRequest{"POST", ContextPath(context, "/fork"), body};
    case ContextsAction::kRollback:
      return ApiRequest{"POST", ContextPath(context, "/rollback"), body};
    default:
      return ApiRequest{"GET", ContextPath(context), {}};
  }
}

}  // namespace

int PrintSnapshots(Backend& backend, const ResolvedContext& context,
                   const CommonArguments& common) {
  return ReportList(ListUnpaged(backend, ContextPath(context, "/snapshots")), common,
                    {{"GENERATION", "RUNS", "STORED", "TAKEN"}, SnapshotRow});
}

int ContextsCommand(Backend& backend, const CommonArguments& common,
                    const ContextsArguments& arguments) {
  if (arguments.action == ContextsAction::kList) {
    return ListContexts(backend, common, arguments.where.sandbox);
  }
  if (arguments.action == ContextsAction::kSnapshots) {
    const auto context = ResolveContext(backend, arguments.where, Missing::kFail, "");
    if (!context.ok()) return ReportError(context.error(), common.json);
    return PrintSnapshots(backend, *context, common);
  }
  const auto request = RequestFor(backend, arguments);
  if (!request.ok()) return ReportError(request.error(), common.json);
  return ReportObject(CallJson(backend, *request), "context", common, ContextTable());
}

}  // namespace dormouse::cli
