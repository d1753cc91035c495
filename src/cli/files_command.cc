// SPDX-License-Identifier: Apache-2.0
#include "cli/files_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <cerrno>

#include "cli/local_file.h"
#include "cli/output.h"
#include "cli/resolve.h"
#include "common/file_descriptor.h"
#include "http/text.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;
using Action = FilesArguments::Action;

constexpr std::uint64_t kMaxUploadBytes = 256u << 20;

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

int List(Backend& backend, const CommonArguments& common, const std::string& target) {
  const auto files = ListUnpaged(backend, target);
  if (!files.ok()) return ReportError(files.error(), common.json);
  if (common.json) {
    PrintJson(json::object{{"data", *files}});
  } else {
    PrintFiles(*files);
  }
  return kExitOk;
}

int Read(Backend& backend, const CommonArguments& common, const std::string& target,
         const std::string& local_file) {
  FileDescriptor opened;
  int fd = STDOUT_FILENO;
  std::optional<Error> fault;
  const auto answer = backend.Send({"GET", target, {}}, [&](std::string_view bytes) {
    // Opened late: a file that cannot be downloaded must not truncate a local one.
    if (!local_file.empty() && local_file != "-" && !opened.valid()) {
      opened = FileDescriptor(
          ::open(local_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
      if (!opened.valid()) {
        fault = SystemError("creating " + local_file, errno);
        return false;
      }
      fd = opened.get();
    }
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        fault = SystemError("writing", errno);
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  });
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (fault) return ReportError(*fault, common.json);
  if (!local_file.empty() && local_file != "-" && !opened.valid()) {
    // An empty file has no bytes that would have made it.
    opened =
        FileDescriptor(::open(local_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!opened.valid())
      return ReportError(SystemError("creating " + local_file, errno), common.json);
  }
  return kExitOk;
}

Result<ApiRequest> RequestFor(const std::string& files, const FilesArguments& arguments) {
  switch (arguments.action) {
    case Action::kWrite: {
      const std::string local = arguments.local_file.empty() ? "-" : arguments.local_file;
      DORMOUSE_ASSIGN(const std::string bytes, ReadLocalFile(local, kMaxUploadBytes));
      return ApiRequest{"PUT", files,
                        json::object{{"path", arguments.path},
                                     {"content", http::Base64Encode(bytes)},
                                     {"encoding", "base64"},
                                     {"createParents", arguments.parents}}};
    }
    case Action::kDelete:
      return ApiRequest{"DELETE", files + PathQuery(arguments.path), {}};
    case Action::kMkdir:
      return ApiRequest{"POST", files + "/mkdir",
                        json::object{{"path", arguments.path}, {"parents", arguments.parents}}};
    case Action::kMove:
      return ApiRequest{
          "POST", files + "/move",
          json::object{
              {"from", arguments.path}, {"to", arguments.to}, {"overwrite", arguments.overwrite}}};
    default:
      return ApiRequest{"GET", files + "/stat" + PathQuery(arguments.path), {}};
  }
}

}  // namespace

int FilesCommand(Backend& backend, const CommonArguments& common, const FilesArguments& arguments) {
  const bool writes = arguments.action == Action::kWrite || arguments.action == Action::kMkdir;
  const auto sandbox_id =
      ResolveSandbox(backend, arguments.sandbox, writes ? Missing::kCreate : Missing::kFail);
  if (!sandbox_id.ok()) return ReportError(sandbox_id.error(), common.json);
  const std::string files = SandboxPath(*sandbox_id, "/files");
  if (arguments.action == Action::kList) {
    return List(backend, common, files + PathQuery(arguments.path));
  }
  if (arguments.action == Action::kRead) {
    return Read(backend, common, files + "/download" + PathQuery(arguments.path),
                arguments.local_file);
  }
  const auto request = RequestFor(files, arguments);
  if (!request.ok()) return ReportError(request.error(), common.json);
  auto answer = CallJson(backend, *request);
  if (!answer.ok()) return ReportError(answer.error(), common.json);
  if (common.json) {
    PrintJson(*answer);
  } else if (arguments.action == Action::kStat) {
    const auto file = Unwrap(std::move(answer), "file");
    if (!file.ok()) return ReportError(file.error(), common.json);
    PrintFiles(json::array{*file});
  }
  return kExitOk;
}

}  // namespace dormouse::cli
