// SPDX-License-Identifier: Apache-2.0
#include "http/byte_range.h"
#include "http/handlers.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

Result<std::string> ParsePath(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"path"}));
  return call.query.Require("path");
}

ByteRange WantedRange(const Request& request, std::uint64_t size) {
  const auto header = request.Header("range");
  // Contents have no validator that a client could send in If-Range, so a conditional range never
  // holds.
  if (!header || request.Header("if-range")) return {ByteRange::Kind::kWhole, 0, size};
  return ParseRange(*header, size);
}

}  // namespace

HandlerResult DownloadFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto path, ParsePath(call));
  DORMOUSE_CO_ASSIGN(auto file, co_await call.service.OpenFile(call.path[0], std::move(path)));
  const std::uint64_t size = file.info.size_bytes;
  const ByteRange range = WantedRange(call.request, size);
  if (range.kind == ByteRange::Kind::kUnsatisfiable) {
    Response response = TransportErrorResponse(
        416, "the range lies outside the file of " + std::to_string(size) + " bytes",
        call.request.id);
    response.headers.emplace_back("content-range", "bytes */" + std::to_string(size));
    co_return response;
  }
  Response response;
  response.content_type = "application/octet-stream";
  response.headers.emplace_back("content-disposition", AttachmentDisposition(file.info.name));
  response.headers.emplace_back("accept-ranges", "bytes");
  response.headers.emplace_back("last-modified", FormatHttpDate(file.info.modified_at));
  response.headers.emplace_back("cache-control", "no-store");
  if (range.kind == ByteRange::Kind::kPart) {
    response.status = 206;
    response.headers.emplace_back("content-range",
                                  "bytes " + std::to_string(range.offset) + "-" +
                                      std::to_string(range.offset + range.length - 1) + "/" +
                                      std::to_string(size));
  }
  response.body = FileBody{std::move(file.descriptor), range.offset, range.length};
  co_return response;
}

}  // namespace dormouse::http
