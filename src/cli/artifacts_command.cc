// SPDX-License-Identifier: Apache-2.0
#include "cli/artifacts_command.h"

#include <boost/json/array.hpp>

#include "cli/download.h"
#include "cli/output.h"
#include "cli/resolve.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using ArtifactsAction = ArtifactsArguments::Action;

void PrintArtifacts(const json::array& artifacts) {
  std::vector<std::vector<std::string>> rows = {{"ID", "BYTES", "TYPE", "CREATED", "NAME"}};
  for (const json::value& item : artifacts) {
    if (!item.is_object()) continue;
    const json::object& artifact = item.get_object();
    const bool deleted = artifact.contains("deletedAt");
    rows.push_back({Cell(artifact, "id"), Cell(artifact, "sizeBytes"),
                    Cell(artifact, "contentType"), Cell(artifact, "createdAt"),
                    Cell(artifact, "name") + (deleted ? " (deleted)" : "")});
  }
  PrintTable(rows);
}

int ListArtifacts(Backend& backend, const CommonArguments& common, const ArtifactsArguments& arguments) {
  const auto sandbox_id = ResolveSandbox(backend, arguments.sandbox, Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  const auto artifacts = ListAll(backend, SandboxPath(*sandbox_id, "/artifacts"),
                                 arguments.historical ? "include=historical" : "");
  if (!artifacts.ok()) return ReportError(artifacts.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *artifacts}});
  } else {
    PrintArtifacts(*artifacts);
  }
  return kExitOk;
}

Result<ApiRequest> RequestFor(Backend& backend, const ArtifactsArguments& arguments,
                              const std::string& path) {
  if (arguments.action != ArtifactsAction::kCreate) {
    return ApiRequest{arguments.action == ArtifactsAction::kDelete ? "DELETE" : "GET", path, {}};
  }
  DORMOUSE_ASSIGN(const std::string sandbox_id,
                  ResolveSandbox(backend, arguments.sandbox, Missing::kFail));
  json::object body{{"path", arguments.path}};
  if (!arguments.name.empty()) body["name"] = arguments.name;
  return ApiRequest{"POST", SandboxPath(sandbox_id, "/artifacts"), std::move(body)};
}

}  // namespace

int ArtifactsCommand(Backend& backend, const CommonArguments& common,
                     const ArtifactsArguments& arguments) {
  if (arguments.action == ArtifactsAction::kList) return ListArtifacts(backend, common, arguments);
  const std::string path =
      "/v1/artifacts/" + http::PercentEncode(arguments.artifact, http::Slash::kEncode);
  if (arguments.action == ArtifactsAction::kDownload) {
    return Download(backend, path + "/download", arguments.local_file, common.json);
  }
  const auto request = RequestFor(backend, arguments, path);
  if (!request.ok()) return ReportError(request.error(), common.json);
  auto answer = CallJson(backend, *request);
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
    return kExitOk;
  }
  const auto artifact = Unwrap(std::move(answer), "artifact");
  if (!artifact.ok()) return ReportError(artifact.error(), common.json);
  if (arguments.action == ArtifactsAction::kCreate) WriteOut(TextOf(*artifact, "id") + "\n");
  if (arguments.action == ArtifactsAction::kGet) PrintArtifacts(json::array{*artifact});
  return kExitOk;
}

}  // namespace dormouse::cli
