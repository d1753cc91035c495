// SPDX-License-Identifier: Apache-2.0
#include "cli/http_backend.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/serialize.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cerrno>
#include <vector>

namespace dormouse::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::size_t kMaxErrorBytes = 1 << 20;
constexpr std::size_t kUploadPieceBytes = 256 << 10;

struct Origin {
  std::string host;  // without brackets
  std::string port;
  std::string host_header;
  std::string prefix;  // before /v1, without a trailing slash
};

Result<Origin> ParseOrigin(const std::string& url) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed || parsed->host().empty()) {
    return Error(ErrorCode::kInvalidRequest,
                 "\"" + url + "\" is not a URL such as http://127.0.0.1:8787");
  }
  if (parsed->scheme() != "http") {
    return Error(ErrorCode::kInvalidRequest,
                 "only http:// servers can be reached from here; put TLS into a tunnel or proxy");
  }
  Origin origin;
  origin.host = parsed->host_address();
  origin.port = parsed->has_port() ? std::string(parsed->port()) : "80";
  origin.host_header = std::string(parsed->encoded_host_and_port());
  origin.prefix = std::string(parsed->encoded_path());
  while (origin.prefix.ends_with('/')) origin.prefix.pop_back();
  return origin;
}

// A server that refuses an upload says so at once, and reads no further.
bool HasAnswered(asio::ip::tcp::socket& socket) {
  pollfd waiting{socket.native_handle(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

class HttpBackend : public Backend {
 public:
  HttpBackend(std::string url, Origin origin, std::string api_key)
      : url_(std::move(url)), origin_(std::move(origin)), api_key_(std::move(api_key)) {}

  std::string Description() const override { return "server " + url_; }

  Result<void> Send(const ApiRequest& request, const Sink& sink) override {
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    error_code failure;
    const auto endpoints =
        asio::ip::tcp::resolver(context).resolve(origin_.host, origin_.port, failure);
    if (!failure) asio::connect(socket, endpoints, failure);
    if (failure) return Unreachable(failure);
    if (request.upload >= 0) {
      DORMOUSE_TRY(SendUpload(socket, request, failure));
    } else {
      beast::http::write(socket, MessageFor(request), failure);
    }
    // A server that refuses early answers before it has read everything: its answer is what counts.
    const error_code write_failure = failure;
    auto answer = Receive(socket, request, sink);
    if (!answer.ok() && write_failure) return Unreachable(write_failure);
    return answer;
  }

 private:
  Error Unreachable(const error_code& failure) const {
    return Error(ErrorCode::kUnavailable, "cannot reach " + url_ + ": " + failure.message());
  }

  beast::http::request<beast::http::string_body> MessageFor(const ApiRequest& request) const {
    beast::http::request<beast::http::string_body> message;
    message.version(11);
    message.method_string(request.method);
    message.target(origin_.prefix + request.target);
    message.set(beast::http::field::host, origin_.host_header);
    message.set(beast::http::field::user_agent, "dormouse-cli/" DORMOUSE_VERSION);
    message.set(beast::http::field::connection, "close");
    if (!api_key_.empty()) message.set(beast::http::field::authorization, "Bearer " + api_key_);
    if (request.body) {
      message.set(beast::http::field::content_type, "application/json");
      message.body() = boost::json::serialize(*request.body);
    }
    message.prepare_payload();
    return message;
  }

  // Of unknown length: the descriptor may be a pipe. `failure` is that of the connection.
  Result<void> SendUpload(asio::ip::tcp::socket& socket, const ApiRequest& request,
                          error_code& failure) const {
    beast::http::request<beast::http::buffer_body> message(MessageFor(request).base());
    message.set(beast::http::field::content_type, "application/octet-stream");
    message.erase(beast::http::field::content_length);
    message.chunked(true);
    message.body() = {nullptr, 0, true};
    beast::http::request_serializer<beast::http::buffer_body> serializer(message);
    beast::http::write_header(socket, serializer, failure);
    std::vector<char> piece(kUploadPieceBytes);
    while (!failure && message.body().more && !HasAnswered(socket)) {
      const ssize_t length = ::read(request.upload, piece.data(), piece.size());
      if (length < 0 && errno == EINTR) continue;
      if (length < 0) return SystemError("reading the file", errno);
      message.body().data = length > 0 ? piece.data() : nullptr;
      message.body().size = static_cast<std::size_t>(length);
      message.body().more = length > 0;
      beast::http::write(socket, serializer, failure);
      if (failure == beast::http::error::need_buffer) failure = {};
      if (!failure && request.progress != nullptr) {
        request.progress->Add(static_cast<std::uint64_t>(length));
      }
    }
    return {};
  }

  Result<void> Receive(asio::ip::tcp::socket& socket, const ApiRequest& request,
                       const Sink& sink) const {
    boost::beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    error_code failure;
    beast::http::read_header(socket, buffer, parser, failure);
    if (failure) return Unreachable(failure);
    const int status = static_cast<int>(parser.get().result_int());
    const bool success = status >= 200 && status < 300;
    Progress* const progress = request.upload < 0 ? request.progress : nullptr;
    if (progress != nullptr && success && parser.content_length()) {
      progress->Expect(*parser.content_length());
    }
    if (const auto run_id = parser.get().find("x-dormouse-run-id");
        request.on_run && run_id != parser.get().end()) {
      request.on_run(std::string(run_id->value()));
    }
    std::string error_body;
    std::array<char, 16384> piece;
    while (!parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      beast::http::read_some(socket, buffer, parser, failure);
      if (failure && failure != beast::http::error::need_buffer) return Unreachable(failure);
      const std::string_view bytes(piece.data(), piece.size() - parser.get().body().size);
      if (bytes.empty()) continue;
      if (success) {
        if (!sink(bytes)) return {};
        if (progress != nullptr) progress->Add(bytes.size());
      } else if (error_body.size() < kMaxErrorBytes) {
        error_body.append(bytes);
      }
    }
    if (!success) return ErrorOfResponse(status, error_body);
    return {};
  }

  const std::string url_;
  const Origin origin_;
  const std::string api_key_;
};

}  // namespace

Result<std::unique_ptr<Backend>> MakeHttpBackend(const std::string& url, std::string api_key) {
  DORMOUSE_ASSIGN(Origin origin, ParseOrigin(url));
  for (const char c : api_key) {
    if (c <= ' ' || c == 0x7F) {
      return Error(ErrorCode::kInvalidRequest, "the API key holds characters that no key has");
    }
  }
  return std::unique_ptr<Backend>(
      std::make_unique<HttpBackend>(url, std::move(origin), std::move(api_key)));
}

}  // namespace dormouse::cli
