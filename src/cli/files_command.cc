// SPDX-License-Identifier: Apache-2.0
#include "cli/files_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "cli/download.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/resolve.h"
#include "common/file_descriptor.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using FilesAction = FilesArguments::Action;

std::string PathQuery(const std::string& path) {
  return "?path=" + http::PercentEncode(path, http::Slash::kKeep);
}

std::vector<std::string> FileRow(const json::object& file) {
  const std::string type = Cell(file, "type");
  std::string name = Cell(file, "name");
  if (type == "directory") name += "/";
  if (type == "symlink") name += " -> " + Cell(file, "target");
  return {Cell(file, "mode"), Cell(file, "sizeBytes"), Cell(file, "modifiedAt"), name};
}

Table FileTable() { return {{}, FileRow}; }

ApiRequest RequestFor(const std::string& files, const FilesArguments& arguments) {
  switch (arguments.action) {
    case FilesAction::kDelete:
      return ApiRequest{"DELETE", files + PathQuery(arguments.path), {}};
    case FilesAction::kMkdir:
      return ApiRequest{"POST", files + "/mkdir",
                        json::object{{"path", arguments.path}, {"parents", arguments.parents}}};
    case FilesAction::kMove:
      return ApiRequest{
          "POST", files + "/move",
          json::object{
              {"from", arguments.path}, {"to", arguments.to}, {"overwrite", arguments.overwrite}}};
    default:
      return ApiRequest{"GET", files + "/stat" + PathQuery(arguments.path), {}};
  }
}

Result<json::value> Write(Backend& backend, const std::string& files, const CommonArguments& common,
                          const FilesArguments& arguments) {
  const bool from_stdin = arguments.local_file.empty() || arguments.local_file == "-";
  FileDescriptor opened;
  if (!from_stdin) {
    opened = FileDescriptor(::open(arguments.local_file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.valid()) return SystemError("opening " + arguments.local_file, errno);
    if (std::filesystem::is_directory(arguments.local_file)) {
      return Error(ErrorCode::kInvalidRequest, arguments.local_file + " is a directory; one file at a time can be put");
    }
  }
  ApiRequest request{"PUT", files + "/content" + PathQuery(arguments.path), {}};
  if (arguments.parents) request.target += "&createParents=true";
  request.upload = from_stdin ? STDIN_FILENO : opened.get();
  Progress progress("uploading", AudienceOf(common));
  if (const auto size_bytes = BytesLeft(request.upload)) progress.Expect(*size_bytes);
  request.progress = &progress;
  return CallJson(backend, request);
}

}  // namespace

int FilesCommand(Backend& backend, const CommonArguments& common, const FilesArguments& arguments) {
  const bool writes =
      arguments.action == FilesAction::kWrite || arguments.action == FilesAction::kMkdir;
  const auto sandbox_id =
      ResolveSandbox(backend, arguments.sandbox, writes ? Missing::kCreate : Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  const std::string files = SandboxPath(*sandbox_id, "/files");
  switch (arguments.action) {
    case FilesAction::kList:
      return ReportList(ListUnpaged(backend, files + PathQuery(arguments.path)), common,
                        FileTable());
    case FilesAction::kStat:
      return ReportObject(CallJson(backend, RequestFor(files, arguments)), "file", common,
                          FileTable());
    case FilesAction::kRead:
      return Download(backend, files + "/download" + PathQuery(arguments.path),
                      arguments.local_file, common);
    case FilesAction::kWrite:
      return ReportDone(Write(backend, files, common, arguments), common);
    default:
      return ReportDone(CallJson(backend, RequestFor(files, arguments)), common);
  }
}

}  // namespace dormouse::cli
