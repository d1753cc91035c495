// SPDX-License-Identifier: Apache-2.0
#include "http/response_head.h"

#include <chrono>
#include <cstdio>

#include "http/text.h"

namespace dormouse::http {
namespace {

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

void AppendHeader(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ");
  for (const char c : value) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) head.push_back(c);
  }
  head.append("\r\n");
}

void AppendFraming(std::string& head, const Response& response, const Framing& framing) {
  if (const auto* const text = std::get_if<std::string>(&response.body)) {
    AppendHeader(head, "content-length", std::to_string(text->size()));
  } else if (const auto* const file = std::get_if<FileBody>(&response.body)) {
    AppendHeader(head, "content-length", std::to_string(file->length));
  } else if (!framing.http_1_0) {
    AppendHeader(head, "transfer-encoding", "chunked");
  }
}

}  // namespace

std::string FormatHead(const Response& response, std::string_view request_id,
                       const Framing& framing) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " ";
  head.append(ReasonOf(response.status)).append("\r\n");
  AppendHeader(head, "date", FormatHttpDate(std::chrono::system_clock::now()));
  // Without a body there is nothing whose type and length could be told.
  const bool has_body = response.status != 304 && response.status != 204;
  if (has_body) AppendHeader(head, "content-type", response.content_type);
  AppendHeader(head, "x-content-type-options", "nosniff");
  AppendHeader(head, "x-request-id", request_id);
  for (const auto& [name, value] : response.headers) AppendHeader(head, name, value);
  if (has_body) AppendFraming(head, response, framing);
  if (!framing.keep_alive) {
    AppendHeader(head, "connection", "close");
  } else if (framing.http_1_0) {
    AppendHeader(head, "connection", "keep-alive");
  }
  head.append("\r\n");
  return head;
}

std::string FormatChunkSize(std::size_t size) {
  char line[24];
  const int length = std::snprintf(line, sizeof(line), "%zx\r\n", size);
  return std::string(line, static_cast<std::size_t>(length));
}

}  // namespace dormouse::http
