// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "http/byte_range.h"
#include "http/handlers.h"
#include "http/text.h"

namespace dormouse::http {
namespace {

// Bytes to hand out, and what is to be said of them.
struct Download {
  FileDescriptor descriptor;
  std::uint64_t size_bytes = 0;
  std::string content_type = "application/octet-stream";
  std::string etag;  // quoted; empty: none
  HeaderList headers;
};

Result<std::string> ParsePath(const Call& call) {
  DORMOUSE_TRY(call.query.RefuseOthers({"path"}));
  return call.query.Require("path");
}

// Whether a list of entity tags has `etag`, compared weakly (RFC 9110 §13.1.2).
bool NamesTag(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view item = TrimSpaces(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (item == "*") return true;
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == etag) return true;
  }
  return false;
}

ByteRange WantedRange(const Request& request, const Download& download) {
  const auto header = request.Header("range");
  const auto condition = request.Header("if-range");
  // Without a validator of ours a conditional range never holds.
  const bool holds = !condition || (!download.etag.empty() && *condition == download.etag);
  if (!header || !holds) return {ByteRange::Kind::kWhole, 0, download.size_bytes};
  return ParseRange(*header, download.size_bytes);
}

Response Respond(const Request& request, Download download) {
  Response response;
  response.content_type = std::move(download.content_type);
  response.headers = std::move(download.headers);
  if (!download.etag.empty()) response.headers.emplace_back("etag", download.etag);
  const auto known = request.Header("if-none-match");
  if (known && !download.etag.empty() && NamesTag(*known, download.etag)) {
    response.status = 304;
    return response;
  }
  const std::uint64_t size_bytes = download.size_bytes;
  const ByteRange range = WantedRange(request, download);
  if (range.kind == ByteRange::Kind::kUnsatisfiable) {
    Response refusal = TransportErrorResponse(
        416, "the range lies outside the file of " + std::to_string(size_bytes) + " bytes",
        request.id);
    refusal.headers.emplace_back("content-range", "bytes */" + std::to_string(size_bytes));
    return refusal;
  }
  response.headers.emplace_back("accept-ranges", "bytes");
  if (range.kind == ByteRange::Kind::kPart) {
    response.status = 206;
    response.headers.emplace_back("content-range",
                                  "bytes " + std::to_string(range.offset) + "-" +
                                      std::to_string(range.offset + range.length - 1) + "/" +
                                      std::to_string(size_bytes));
  }
  response.body = FileBody{std::move(download.descriptor), range.offset, range.length};
  return response;
}

// The last part of a name that may look like a path.
std::string_view FileNameOf(std::string_view name) {
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  return name.empty() || name == "." || name == ".." ? std::string_view("artifact") : name;
}

Download DownloadOf(service::Service::OpenedArtifact opened) {
  const service::Artifact& artifact = opened.artifact;
  const bool is_text = artifact.content_type.starts_with("text/");
  Download download;
  download.size_bytes = artifact.size_bytes;
  download.content_type = artifact.content_type + (is_text ? "; charset=utf-8" : "");
  download.etag = "\"" + artifact.sha256 + "\"";
  download.headers = {
      {"content-disposition",
       ContentDisposition(artifact.may_show_inline ? Disposition::kInline : Disposition::kAttachment,
                          FileNameOf(artifact.name))},
      // Untrusted code wrote it: should a browser show it all the same, it runs nothing, loads nothing, and belongs to no
      // origin.
      {"content-security-policy", "sandbox; default-src 'none'"},
      {"cross-origin-resource-policy", "same-origin"},
      {"last-modified", FormatHttpDate(artifact.created_at)},
      // The bytes never change, but the artifact may be deleted: caches must ask.
      {"cache-control", "private, no-cache"},
  };
  download.descriptor = std::move(opened.descriptor);
  return download;
}

}  // namespace

HandlerResult DownloadFile(const Call& call) {
  DORMOUSE_CO_ASSIGN(auto path, ParsePath(call));
  DORMOUSE_CO_ASSIGN(auto file, co_await call.service.OpenFile(call.path[0], std::move(path)));
  Download download;
  download.size_bytes = file.info.size_bytes;
  download.headers = {
      {"content-disposition", ContentDisposition(Disposition::kAttachment, file.info.name)},
      {"last-modified", FormatHttpDate(file.info.modified_at)},
      {"cache-control", "no-store"},
  };
  download.descriptor = std::move(file.descriptor);
  co_return Respond(call.request, std::move(download));
}

HandlerResult DownloadArtifact(const Call& call) {
  DORMOUSE_CO_TRY(call.query.RefuseOthers({}));
  DORMOUSE_CO_ASSIGN(auto opened, co_await call.service.OpenArtifact(call.path[0]));
  co_return Respond(call.request, DownloadOf(std::move(opened)));
}

}  // namespace dormouse::http
