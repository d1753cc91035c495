// SPDX-License-Identifier: Apache-2.0
// Request and Response: HTTP messages as the API sees them, independent of how they travel.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/file_descriptor.h"

namespace dormouse::http {

// An event stream that has nothing to say says that it is alive, before proxies give up on it.
inline constexpr std::chrono::seconds kHeartbeat{15};

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;  // "GET"
  std::string target;  // path and query as sent, "/v1/sandboxes?limit=5"
  HeaderList headers;
  std::string body;
  // The body of a route that takes files as they are, in place of `body`. A handler may take the descriptor.
  std::shared_ptr<FileDescriptor> upload;
  std::string id;  // req_…, sent back as x-request-id

  // The first header of that name (any case), or nothing.
  std::optional<std::string_view> Header(std::string_view name) const;
};

// `length` bytes of an open file, from `offset` on.
struct FileBody {
  FileDescriptor descriptor;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A body that comes into being while it is sent. Destroyed when the reader is gone or the end was
// reached.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // The next bytes, never empty; nothing at the end. Waits as long as there is nothing to send.
  // Calls must not overlap, and all come from one strand.
  virtual boost::asio::awaitable<std::optional<std::string>> Next() = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  HeaderList headers;  // besides content-type, content-length and x-request-id
  std::variant<std::string, FileBody, std::unique_ptr<BodyStream>> body;
};

Response JsonResponse(int status, std::string json);

// The error envelope with the status and the headers that belong to it.
Response ErrorResponse(const Error& error, std::string_view request_id);
// For the few statuses of the transport that no Error code stands for.
Response TransportErrorResponse(int status, std::string_view message, std::string_view request_id);

}  // namespace dormouse::http
