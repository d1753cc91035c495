// SPDX-License-Identifier: Apache-2.0
#include "cli/files_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <cerrno>

#include "cli/download.h"
#include "cli/output.h"
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

void PrintFiles(const json::array& files) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& item : files) {
    if (!item.is_object()) continue;
    const json::object& file = item.get_object();
    const std::string type = Cell(file, "type");
    std::string name = Cell(file, "name");
    if (type == "directory") name += "/";
    if (type == "symlink") name += " -> " + Cell(file, "target");
    rows.push_back({Cell(file, "mode"), Cell(file, "sizeBytes"), Cell(file, "modifiedAt"), name});
  }
  PrintTable(rows);
}

int ListFiles(Backend& backend, const CommonArguments& common, const std::string& target) {
  const auto files = ListUnpaged(backend, target);
  if (!files.ok()) return ReportError(files.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *files}});
  } else {
    PrintFiles(*files);
  }
  return kExitOk;
}

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

Result<json::value> Write(Backend& backend, const std::string& files,
                          const FilesArguments& arguments) {
  const bool from_stdin = arguments.local_file.empty() || arguments.local_file == "-";
  FileDescriptor opened;
  if (!from_stdin) {
    opened = FileDescriptor(::open(arguments.local_file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.valid()) return SystemError("opening " + arguments.local_file, errno);
  }
  ApiRequest request{"PUT", files + "/content" + PathQuery(arguments.path), {}};
  if (arguments.parents) request.target += "&createParents=true";
  request.upload = from_stdin ? STDIN_FILENO : opened.get();
  return CallJson(backend, request);
}

}  // namespace

int FilesCommand(Backend& backend, const CommonArguments& common, const FilesArguments& arguments) {
  const bool writes = arguments.action == FilesAction::kWrite || arguments.action == FilesAction::kMkdir;
  const auto sandbox_id =
      ResolveSandbox(backend, arguments.sandbox, writes ? Missing::kCreate : Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  const std::string files = SandboxPath(*sandbox_id, "/files");
  if (arguments.action == FilesAction::kList) {
    return ListFiles(backend, common, files + PathQuery(arguments.path));
  }
  if (arguments.action == FilesAction::kRead) {
    return Download(backend, files + "/download" + PathQuery(arguments.path), arguments.local_file,
                    common.json);
  }
  auto answer = arguments.action == FilesAction::kWrite ? Write(backend, files, arguments)
                                                   : CallJson(backend, RequestFor(files, arguments));
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
  } else if (arguments.action == FilesAction::kStat) {
    const auto file = Unwrap(std::move(answer), "file");
    if (!file.ok()) return ReportError(file.error(), common.json);
    PrintFiles(json::array{*file});
  }
  return kExitOk;
}

}  // namespace dormouse::cli
