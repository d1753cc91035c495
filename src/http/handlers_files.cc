// SPDX-License-Identifier: Apache-2.0
#include "common/utf8.h"
#include "http/body_reader.h"
#include "http/download_url.h"
#include "http/file_content.h"
#include "http/handlers.h"
#include "http/json.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

constexpr std::string_view kUtf8 = "utf8";
constexpr std::string_view kBase64 = "base64";

Result<std::string> RequiredPath(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"path"}));
  return call.query.Require("path");
}

Error InvalidContent(std::string message) {
  return Error(ErrorCode::kInvalidFileEncoding, std::move(message), {{"field", "content"}});
}

Error TooLarge(std::uint64_t size, std::uint64_t limit) {
  return Error(ErrorCode::kFileTooLarge,
               "the file has " + std::to_string(size) + " bytes, the limit of direct access is " +
                   std::to_string(limit),
               {{"limit", std::to_string(limit)}, {"actual", std::to_string(size)}});
}

Result<service::Service::WriteFile> ParseWrite(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::Service::WriteFile request;
  request.sandbox_id = call.path[0];
  request.path = body.RequiredString("path");
  request.content = body.RequiredString("content");
  const bool is_base64 = body.Choice("encoding", {kUtf8, kBase64}).value_or(0) == 1;
  request.create_parents = body.Boolean("createParents").value_or(false);
  request.overwrite = body.Boolean("overwrite").value_or(true);
  DORMOUSE_TRY(body.Finish());
  if (is_base64) {
    auto bytes = Base64Decode(request.content);
    if (!bytes) return InvalidContent("content is not padded standard base64");
    request.content = *std::move(bytes);
  }
  if (request.content.size() > call.config.direct_file_bytes) {
    return TooLarge(request.content.size(), call.config.direct_file_bytes);
  }
  return request;
}

Result<service::Service::MoveFile> ParseMove(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::Service::MoveFile request;
  request.sandbox_id = call.path[0];
  request.from = body.RequiredString("from");
  request.to = body.RequiredString("to");
  request.overwrite = body.Boolean("overwrite").value_or(false);
  DORMOUSE_TRY(body.Finish());
  return request;
}

Result<service::Service::MakeDirectory> ParseMake(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  service::Service::MakeDirectory request;
  request.sandbox_id = call.path[0];
  request.path = body.RequiredString("path");
  request.parents = body.Boolean("parents").value_or(false);
  DORMOUSE_TRY(body.Finish());
  return request;
}

struct Read {
  std::string path;
  bool is_base64 = false;
};

Result<Read> ParseRead(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"path", "encoding"}));
  Read read;
  DORMOUSE_ASSIGN(read.path, call.query.Require("path"));
  DORMOUSE_ASSIGN(const auto encoding, call.query.Get("encoding"));
  read.is_base64 = encoding == kBase64;
  if (encoding && !read.is_base64 && *encoding != kUtf8) {
    return Error(ErrorCode::kInvalidRequest, "encoding must be utf8 or base64",
                 {{"field", "encoding"}});
  }
  return read;
}

Result<std::string> ParseDownloadUrl(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({}));
  DORMOUSE_ASSIGN(BodyReader body, BodyReader::Parse(call.request));
  std::string path = body.RequiredString("path");
  DORMOUSE_TRY(body.Finish());
  return path;
}

}  // namespace

HandlerResult ListFiles(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({"path"}));
  DORMOUSE_CO_ASSIGN(auto path, call.query.Get("path"));
  DORMOUSE_CO_ASSIGN(const auto files,
                     co_await call.service.ListFiles(call.path[0], path.value_or("/workspace")));
  co_return ListResponse(files);
}

HandlerResult WriteFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseWrite(call));
  DORMOUSE_CO_ASSIGN(const auto file, co_await call.service.Write(std::move(request)));
  co_return ThingResponse(200, "file", file);
}

HandlerResult DeleteFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto path, RequiredPath(call));
  DORMOUSE_CO_TRY(co_await call.service.DeleteFile(call.path[0], std::move(path)));
  co_return JsonResponse(200, "{\"deleted\":true}");
}

HandlerResult StatFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto path, RequiredPath(call));
  DORMOUSE_CO_ASSIGN(const auto file,
                     co_await call.service.StatFile(call.path[0], std::move(path)));
  co_return ThingResponse(200, "file", file);
}

HandlerResult ReadFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto read, ParseRead(call));
  DORMOUSE_CO_ASSIGN(const auto file,
                     co_await call.service.OpenFile(call.path[0], std::move(read.path)));
  const std::uint64_t limit = call.config.direct_file_bytes;
  if (file.info.size_bytes > limit) co_return TooLarge(file.info.size_bytes, limit);
  std::string content;
  DORMOUSE_CO_TRY(ReadContent(file.descriptor.get(), 0, file.info.size_bytes, content));
  if (!read.is_base64 && !IsValidUtf8(content)) {
    co_return InvalidContent("the file is not UTF-8 text; read it as base64");
  }
  JsonWriter json;
  json.BeginObject().Field("content", read.is_base64 ? Base64Encode(content) : content);
  json.Field("encoding", read.is_base64 ? kBase64 : kUtf8);
  json.Field("path", file.info.path).Field("sizeBytes", file.info.size_bytes).EndObject();
  co_return JsonResponse(200, json.Take());
}

HandlerResult MakeDirectory(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseMake(call));
  DORMOUSE_CO_ASSIGN(const auto file, co_await call.service.Make(std::move(request)));
  co_return ThingResponse(200, "file", file);
}

HandlerResult MoveFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto request, ParseMove(call));
  DORMOUSE_CO_ASSIGN(const auto file, co_await call.service.Move(std::move(request)));
  co_return ThingResponse(200, "file", file);
}

HandlerResult DownloadUrl(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto path, ParseDownloadUrl(call));
  // Opened, not only looked at: a link to what cannot be downloaded helps nobody.
  DORMOUSE_CO_ASSIGN(const auto file,
                     co_await call.service.OpenFile(call.path[0], std::move(path)));
  co_return DownloadUrlResponse(
      call.request, "/v1/sandboxes/" + PercentEncode(call.path[0], Slash::kEncode) +
                        "/files/download?path=" + PercentEncode(file.info.path, Slash::kKeep));
}

}  // namespace dormouse::http
