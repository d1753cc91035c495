// SPDX-License-Identifier: Apache-2.0
#include "cli/artifacts_command.h"

#include "cli/download.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/resolve.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using ArtifactsAction = ArtifactsArguments::Action;

std::vector<std::string> ArtifactRow(const json::object& artifact) {
  const bool deleted = artifact.contains("deletedAt");
  return {Cell(artifact, "id"), Cell(artifact, "sizeBytes"), Cell(artifact, "contentType"),
          Cell(artifact, "createdAt"), Cell(artifact, "name") + (deleted ? " (deleted)" : "")};
}

Table ArtifactTable() { return {{"ID", "BYTES", "TYPE", "CREATED", "NAME"}, ArtifactRow}; }

// Lists the artifacts of a sandbox, or makes one there.
int InSandbox(Backend& backend, const CommonArguments& common,
              const ArtifactsArguments& arguments) {
  const auto sandbox_id = ResolveSandbox(backend, arguments.sandbox, Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  const std::string artifacts = SandboxPath(*sandbox_id, "/artifacts");
  if (arguments.action == ArtifactsAction::kList) {
    const std::string filter = arguments.historical ? "include=historical" : "";
    return ReportList(ListAll(backend, artifacts, filter), common, ArtifactTable());
  }
  json::object body{{"path", arguments.path}};
  if (!arguments.name.empty()) body["name"] = arguments.name;
  return ReportObject(CallJson(backend, {"POST", artifacts, std::move(body)}), "artifact", common,
                      PrintId);
}

}  // namespace

int ArtifactsCommand(Backend& backend, const CommonArguments& common,
                     const ArtifactsArguments& arguments) {
  const std::string path =
      "/v1/artifacts/" + http::PercentEncode(arguments.artifact, http::Slash::kEncode);
  switch (arguments.action) {
    case ArtifactsAction::kList:
    case ArtifactsAction::kCreate:
      return InSandbox(backend, common, arguments);
    case ArtifactsAction::kDownload:
      return Download(backend, path + "/download", arguments.local_file, common);
    case ArtifactsAction::kDelete:
      return ReportDone(CallJson(backend, {"DELETE", path, {}}), common);
    case ArtifactsAction::kGet:
      break;
  }
  return ReportObject(CallJson(backend, {"GET", path, {}}), "artifact", common, ArtifactTable());
}

}  // namespace dormouse::cli
