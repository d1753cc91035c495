// SPDX-License-Identifier: Apache-2.0
#include "http/upload.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "http/handlers.h"
#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

Result<bool> Flag(const Query& query, std::string_view name, bool otherwise) {
  DORMOUSE_ASSIGN(const auto value, query.Get(name));
  if (!value) return otherwise;
  if (*value == "true") return true;
  if (*value == "false") return false;
  return Error(ErrorCode::kInvalidRequest, std::string(name) + " must be true or false",
               {{"field", std::string(name)}});
}

}  // namespace

Result<service::Service::UploadTarget> ParseUpload(const Request& head, const Query& query,
                                                   const std::string& sandbox_id) {
  constexpr std::string_view kBytes = "application/octet-stream";
  if (const auto type = head.Header("content-type")) {
    const std::string_view bare = TrimSpaces(type->substr(0, std::min(type->find(';'), type->size())));
    if (!EqualsIgnoringCase(bare, kBytes)) {
      return Error(ErrorCode::kUnsupportedMediaType, "the content type must be application/octet-stream");
    }
  }
  DORMOUSE_TRY(query.RefuseOthers({"path", "createParents", "overwrite"}));
  service::Service::UploadTarget target;
  target.sandbox_id = sandbox_id;
  DORMOUSE_ASSIGN(target.path, query.Require("path"));
  DORMOUSE_ASSIGN(target.create_parents, Flag(query, "createParents", false));
  DORMOUSE_ASSIGN(target.overwrite, Flag(query, "overwrite", true));
  return target;
}

Result<void> WriteUpload(const FileDescriptor& file, std::uint64_t done_bytes,
                         std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(done_bytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write an upload", errno);
    done_bytes += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Error UploadTooLarge(const service::Service::Upload& upload) {
  const std::string limit = std::to_string(upload.limit_bytes);
  if (upload.too_large == ErrorCode::kUploadSizeMismatch) {
    return Error(upload.too_large, "the upload has more than the announced " + limit + " bytes",
                 {{"limit", limit}});
  }
  return Error(upload.too_large, "the workspace has room for " + limit + " bytes more",
               {{"limit", limit}});
}

HandlerResult UploadFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto target, ParseUpload(call.request, call.query, call.path[0]));
  if (!call.request.upload) co_return Error(ErrorCode::kInternal, "an upload without its file");
  DORMOUSE_CO_ASSIGN(const auto file,
                     co_await call.service.FinishUpload(std::move(target),
                                                        std::move(*call.request.upload)));
  co_return ThingResponse(200, "file", file);
}

}  // namespace dormouse::http
