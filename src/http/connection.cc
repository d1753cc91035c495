// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "common/random_id.h"
#include "http/file_content.h"
#include "http/response_head.h"
#include "http/text.h"
#include "http/upload.h"

namespace dormouse::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Parser = beast::http::request_parser<beast::http::string_body>;
using UploadParser = beast::http::request_parser<beast::http::buffer_body>;

constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::size_t kUploadReadBytes = 64 << 10;
// Pieces in which bodies go out; each has the whole write timeout.
constexpr std::size_t kPieceBytes = 256 << 10;
// After a refusal the rest of the request is read and dropped for so long, so that the client sees
// the answer and not a reset connection.
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kLingerBytes = 64 << 20;

std::string NewRequestId() { return "req_" + RandomId(24); }

class ConnectionImpl : public Connection, public std::enable_shared_from_this<ConnectionImpl> {
 public:
  ConnectionImpl(asio::ip::tcp::socket socket, const Api& api,
                 const service::ConnectionLimits& limits)
      : api_(api),
        limits_(limits),
        stream_(std::move(socket)),
        buffer_(limits.header_bytes + kReadBytes) {}

  asio::awaitable<void> Serve() override;
  asio::awaitable<void> TurnAway() override;
  void FinishSoon() override {
    finishing_ = true;
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      if (self->idle_) self->stream_.cancel();
    });
  }
  void Close() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->stream_.close(); });
  }

 private:
  // What the connection does after a request.
  enum class Next { kRequest, kLinger, kClose };

  static Next AfterResponse(bool sent, const Framing& framing) {
    return sent && framing.keep_alive ? Next::kRequest : Next::kClose;
  }
  asio::awaitable<Next> ServeOne();
  // True when there are bytes of a request.
  asio::awaitable<bool> WaitForRequest();
  // Reads all of the body into the parser; body_limit if it has more than `limit` bytes.
  asio::awaitable<error_code> ReadBody(Parser& parser, std::uint64_t limit);
  // Writes the body to the upload's file; kLinger or kClose if a refusal ended the request.
  asio::awaitable<std::optional<Next>> ReceiveUpload(Parser& head, const Admission& admission,
                                                     Request& request, const Framing& framing);
  asio::awaitable<Result<error_code>> ReadUpload(UploadParser& parser,
                                                 const service::Service::Upload& upload);
  asio::awaitable<bool> SendContinue();
  asio::awaitable<Next> Answer(Request request, Admission admission, Framing framing);
  asio::awaitable<Next> Refuse(Response response, std::string_view request_id,
                               const Framing& framing);
  asio::awaitable<Next> RefuseMalformed(error_code failure);
  asio::awaitable<bool> SendResponse(Response response, std::string_view request_id,
                                     Framing framing);
  asio::awaitable<bool> SendBytes(std::string_view head, std::string_view body);
  asio::awaitable<bool> SendFile(std::string_view head, const FileBody& file);
  asio::awaitable<bool> SendStream(std::string_view head, BodyStream& body, bool chunked);
  template <typename Buffers>
  asio::awaitable<bool> Write(const Buffers& buffers);
  asio::awaitable<void> Linger();

  const Api& api_;
  const service::ConnectionLimits& limits_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  HeaderList common_headers_;  // of every response to the request at hand
  bool idle_ = true;
  std::atomic<bool> finishing_ = false;  // set from any thread
};

bool WaitsForContinue(const Parser& parser) {
  return parser.get().version() >= 11 &&
         EqualsIgnoringCase(std::string_view(parser.get()[beast::http::field::expect]),
                            "100-continue");
}

// Beast passes over a coding that it does not know, and would take the body for the next request. HTTP/1.0 has none.
bool HasForeignCoding(const Parser& parser) {
  const auto [first, last] = parser.get().equal_range(beast::http::field::transfer_encoding);
  return std::any_of(first, last, [&](const auto& field) {
    return parser.get().version() < 11 || !EqualsIgnoringCase(field.value(), "chunked");
  });
}

Request HeadOf(const Parser& parser) {
  Request request;
  request.id = NewRequestId();
  request.method = std::string(parser.get().method_string());
  request.target = std::string(parser.get().target());
  for (const auto& field : parser.get()) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  return request;
}

asio::awaitable<void> ConnectionImpl::Serve() {
  error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  Next next = Next::kRequest;
  while (next == Next::kRequest && co_await WaitForRequest()) next = co_await ServeOne();
  if (next == Next::kLinger) co_await Linger();
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

asio::awaitable<void> ConnectionImpl::TurnAway() {
  const std::string id = NewRequestId();
  const Error busy(ErrorCode::kUnavailable, "the server has as many connections as it takes");
  (void)co_await SendResponse(ErrorResponse(busy, id), id, Framing{.keep_alive = false});
  co_await Linger();
  stream_.close();
}

asio::awaitable<bool> ConnectionImpl::WaitForRequest() {
  if (finishing_) co_return false;
  if (buffer_.size() > 0) co_return true;  // the client pipelines
  idle_ = true;
  stream_.expires_after(limits_.idle_timeout);
  const auto [failure, bytes] =
      co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kAwait);
  idle_ = false;
  if (failure) co_return false;
  buffer_.commit(bytes);
  co_return true;
}

asio::awaitable<ConnectionImpl::Next> ConnectionImpl::ServeOne() {
  common_headers_.clear();
  Parser parser;
  parser.header_limit(limits_.header_bytes);
  parser.body_limit(boost::none);  // checked against the route's own limit below
  stream_.expires_after(limits_.header_timeout);
  if (const auto [failure, bytes] =
          co_await beast::http::async_read_header(stream_, buffer_, parser, kAwait);
      failure) {
    co_return co_await RefuseMalformed(failure);
  }
  Request request = HeadOf(parser);
  const std::string id = request.id;
  Framing framing{.keep_alive = parser.keep_alive() && !finishing_,
                  .http_1_0 = parser.get().version() < 11,
                  .head_only = request.method == "HEAD"};
  if (parser.get().version() >= 11 && parser.get().count(beast::http::field::host) != 1) {
    co_return co_await Refuse(
        TransportErrorResponse(400, "exactly one Host header is required", id), id, framing);
  }
  if (HasForeignCoding(parser)) {
    co_return co_await Refuse(
        TransportErrorResponse(400, "the only transfer coding taken is chunked, in HTTP/1.1", id), id,
        framing);
  }
  auto admission = api_.Admit(request, Api::Trust::kChecked, common_headers_);
  if (!admission.ok()) {
    Response refusal = ErrorResponse(admission.error(), id);
    // A request without a body is over: its connection can go on.
    if (!parser.is_done()) co_return co_await Refuse(std::move(refusal), id, framing);
    const bool sent = co_await SendResponse(std::move(refusal), id, framing);
    co_return AfterResponse(sent, framing);
  }
  if (admission->match.route->body == BodySize::kUpload) {
    const auto refused = co_await ReceiveUpload(parser, *admission, request, framing);
    if (refused) co_return *refused;
    co_return co_await Answer(std::move(request), std::move(admission).value(), framing);
  }
  const std::uint64_t limit = admission->body_limit;
  const error_code failure = co_await ReadBody(parser, limit);
  if (failure == beast::http::error::body_limit) {
    const Error too_large(admission->match.route->body == BodySize::kArchive
                              ? ErrorCode::kArchiveTooLarge
                              : ErrorCode::kPayloadTooLarge,
                          "the body is larger than " + std::to_string(limit) + " bytes",
                          {{"limit", std::to_string(limit)}});
    co_return co_await Refuse(ErrorResponse(too_large, id), id, framing);
  }
  if (failure) co_return co_await RefuseMalformed(failure);
  request.body = std::move(parser.get().body());
  co_return co_await Answer(std::move(request), std::move(admission).value(), framing);
}

asio::awaitable<ConnectionImpl::Next> ConnectionImpl::Answer(Request request, Admission admission,
                                                             Framing framing) {
  const std::string id = request.id;
  Response response = co_await api_.Handle(std::move(request), std::move(admission));
  framing.keep_alive = framing.keep_alive && !finishing_;
  const bool sent = co_await SendResponse(std::move(response), id, framing);
  co_return AfterResponse(sent, framing);
}

asio::awaitable<error_code> ConnectionImpl::ReadBody(Parser& parser, std::uint64_t limit) {
  const auto announced = parser.content_length();
  if (announced && *announced > limit) co_return beast::http::error::body_limit;
  parser.body_limit(limit);
  if (!parser.is_done() && buffer_.size() == 0 && WaitsForContinue(parser)) {
    if (!co_await SendContinue()) co_return asio::error::broken_pipe;
  }
  const auto deadline = Clock::now() + limits_.body_deadline;
  while (!parser.is_done()) {
    stream_.expires_at(std::min(deadline, Clock::now() + limits_.body_timeout));
    const auto [failure, bytes] =
        co_await beast::http::async_read_some(stream_, buffer_, parser, kAwait);
    if (failure) co_return failure;
  }
  co_return error_code();
}

asio::awaitable<bool> ConnectionImpl::SendContinue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  co_return co_await Write(asio::buffer(kContinue));
}

asio::awaitable<std::optional<ConnectionImpl::Next>> ConnectionImpl::ReceiveUpload(
    Parser& head, const Admission& admission, Request& request, const Framing& framing) {
  auto upload = co_await api_.BeginUpload(request, admission);
  if (!upload.ok()) {
    co_return co_await Refuse(ErrorResponse(upload.error(), request.id), request.id, framing);
  }
  const auto announced = head.content_length();
  if (announced && *announced > upload->limit_bytes) {
    const Error error = UploadTooLarge(*upload);
    co_return co_await Refuse(ErrorResponse(error, request.id), request.id, framing);
  }
  if (!head.is_done() && buffer_.size() == 0 && WaitsForContinue(head)) {
    if (!co_await SendContinue()) co_return Next::kClose;
  }
  UploadParser parser(std::move(head));
  const Result<error_code> read = co_await ReadUpload(parser, *upload);
  if (!read.ok()) {
    co_return co_await Refuse(ErrorResponse(read.error(), request.id), request.id, framing);
  }
  if (*read) co_return co_await RefuseMalformed(*read);
  request.upload = std::make_shared<FileDescriptor>(std::move(upload->file));
  co_return std::nullopt;
}

asio::awaitable<Result<error_code>> ConnectionImpl::ReadUpload(
    UploadParser& parser, const service::Service::Upload& upload) {
  parser.body_limit(boost::none);
  std::vector<char> piece(kUploadReadBytes);
  std::uint64_t done_bytes = 0;
  const auto deadline = Clock::now() + limits_.upload_deadline;
  while (!parser.is_done()) {
    parser.get().body() = {piece.data(), piece.size(), true};
    stream_.expires_at(std::min(deadline, Clock::now() + limits_.body_timeout));
    const auto [failure, bytes] =
        co_await beast::http::async_read_some(stream_, buffer_, parser, kAwait);
    if (failure && failure != beast::http::error::need_buffer) co_return failure;
    const std::size_t length = piece.size() - parser.get().body().size;
    if (length > upload.limit_bytes - done_bytes) co_return UploadTooLarge(upload);
    DORMOUSE_CO_TRY(WriteUpload(upload.file, done_bytes, {piece.data(), length}));
    done_bytes += length;
  }
  co_return error_code();
}

asio::awaitable<ConnectionImpl::Next> ConnectionImpl::Refuse(Response response,
                                                             std::string_view request_id,
                                                             const Framing& framing) {
  Framing last = framing;
  last.keep_alive = false;
  co_return co_await SendResponse(std::move(response), request_id, last) ? Next::kLinger
                                                                         : Next::kClose;
}

asio::awaitable<ConnectionImpl::Next> ConnectionImpl::RefuseMalformed(error_code failure) {
  using beast::http::error;
  int status = 400;
  std::string message = "the request is not valid HTTP: " + failure.message();
  if (failure == error::header_limit || failure == error::buffer_overflow) {
    status = 431;
    message = "the request's head, the head of a chunk or the trailers are larger than " +
              std::to_string(limits_.header_bytes) + " bytes";
  } else if (failure == beast::error::timeout) {
    status = 408;
    message = "the request did not arrive in time";
  } else if (failure == error::bad_version) {
    status = 505;
    message = "the request line does not end with HTTP/1.0 or HTTP/1.1";
  } else if (failure.category() != beast::http::make_error_code(error::bad_method).category() ||
             failure == error::partial_message || failure == error::end_of_stream) {
    co_return Next::kClose;  // the client is gone
  }
  // A timeout has closed the socket, so a client that was too slow sees only that.
  const std::string id = NewRequestId();
  co_return co_await Refuse(TransportErrorResponse(status, message, id), id,
                            Framing{.keep_alive = false});
}

asio::awaitable<bool> ConnectionImpl::SendResponse(Response response, std::string_view request_id,
                                                   Framing framing) {
  response.headers.insert(response.headers.end(), common_headers_.begin(), common_headers_.end());
  auto* const stream = std::get_if<std::unique_ptr<BodyStream>>(&response.body);
  // The end of a body of unknown length is a last chunk, or for old clients the end of the
  // connection.
  if (stream != nullptr && framing.http_1_0) framing.keep_alive = false;
  const std::string head = FormatHead(response, request_id, framing);
  bool sent = false;
  if (framing.head_only) {
    sent = co_await SendBytes(head, {});
  } else if (stream != nullptr) {
    sent = co_await SendStream(head, **stream, !framing.http_1_0);
  } else if (const auto* const file = std::get_if<FileBody>(&response.body)) {
    sent = co_await SendFile(head, *file);
  } else {
    sent = co_await SendBytes(head, std::get<std::string>(response.body));
  }
  co_return sent && (stream == nullptr || !framing.http_1_0);
}

template <typename Buffers>
asio::awaitable<bool> ConnectionImpl::Write(const Buffers& buffers) {
  stream_.expires_after(limits_.write_timeout);
  const auto [failure, bytes] = co_await asio::async_write(stream_, buffers, kAwait);
  co_return !failure;
}

asio::awaitable<bool> ConnectionImpl::SendBytes(std::string_view head, std::string_view body) {
  const std::string_view first = body.substr(0, kPieceBytes);
  if (!co_await Write(std::array<asio::const_buffer, 2>{asio::buffer(head), asio::buffer(first)}))
    co_return false;
  for (body.remove_prefix(first.size()); !body.empty();) {
    const std::string_view piece = body.substr(0, kPieceBytes);
    if (!co_await Write(asio::buffer(piece))) co_return false;
    body.remove_prefix(piece.size());
  }
  co_return true;
}

asio::awaitable<bool> ConnectionImpl::SendFile(std::string_view head, const FileBody& file) {
  if (!co_await Write(asio::buffer(head))) co_return false;
  std::string piece;
  for (std::uint64_t done = 0; done < file.length;) {
    const std::uint64_t length = std::min<std::uint64_t>(kPieceBytes, file.length - done);
    // Too late for an error response: the connection ends before the announced length, which every
    // client notices.
    if (!ReadContent(file.descriptor.get(), file.offset + done, length, piece).ok()) {
      co_return false;
    }
    if (!co_await Write(asio::buffer(piece))) co_return false;
    done += length;
  }
  co_return true;
}

asio::awaitable<bool> ConnectionImpl::SendStream(std::string_view head, BodyStream& body,
                                                 bool chunked) {
  if (!co_await Write(asio::buffer(head))) co_return false;
  while (auto piece = co_await body.Next()) {
    const std::string open = chunked ? FormatChunkSize(piece->size()) : "";
    const std::string_view close = chunked ? "\r\n" : "";
    if (!co_await Write(std::array<asio::const_buffer, 3>{asio::buffer(open), asio::buffer(*piece),
                                                          asio::buffer(close)})) {
      co_return false;
    }
  }
  if (!chunked) co_return true;
  constexpr std::string_view kLastChunk = "0\r\n\r\n";
  co_return co_await Write(asio::buffer(kLastChunk));
}

asio::awaitable<void> ConnectionImpl::Linger() {
  error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  const auto deadline = Clock::now() + kLinger;
  std::size_t dropped = 0;
  std::array<char, kReadBytes> waste;
  while (dropped < kLingerBytes) {
    stream_.expires_at(deadline);
    const auto [failure, bytes] = co_await stream_.async_read_some(asio::buffer(waste), kAwait);
    if (failure) break;
    dropped += bytes;
  }
}

}  // namespace

std::shared_ptr<Connection> Connection::Make(asio::ip::tcp::socket socket, const Api& api,
                                             const service::ConnectionLimits& limits) {
  return std::make_shared<ConnectionImpl>(std::move(socket), api, limits);
}

}  // namespace dormouse::http
