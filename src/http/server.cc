// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <set>

#include "http/connection.h"

namespace dormouse::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// When the process is out of descriptors, accepting again at once would only burn CPU.
constexpr std::chrono::milliseconds kAcceptPause{100};
// Connections that are being told that there is no room.
constexpr std::size_t kMaxTurnedAway = 64;

Error BadAddress(const std::string& address) {
  return Error(
      ErrorCode::kInvalidRequest,
      "cannot listen on \"" + address + "\": expected ADDRESS:PORT, for example 127.0.0.1:8787");
}

Result<tcp::endpoint> ParseAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return BadAddress(address);
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") host = "127.0.0.1";
  if (host.empty() || host == "*") host = "0.0.0.0";
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [rest, bad_port] = std::from_chars(address.data() + colon + 1, end, port);
  error_code bad_host;
  const auto ip = asio::ip::make_address(host, bad_host);
  if (bad_host || bad_port != std::errc() || rest != end) return BadAddress(address);
  return tcp::endpoint(ip, port);
}

class ServerImpl : public Server, public std::enable_shared_from_this<ServerImpl> {
 public:
  ServerImpl(asio::any_io_executor executor, const Api& api, ServerOptions options)
      : executor_(executor),
        strand_(asio::make_strand(executor)),
        api_(api),
        options_(std::move(options)),
        acceptor_(strand_),
        ended_(strand_) {}

  Result<void> Open() {
    DORMOUSE_ASSIGN(const tcp::endpoint wanted, ParseAddress(options_.address));
    error_code failure;
    (void)acceptor_.open(wanted.protocol(), failure);
    if (!failure) (void)acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) (void)acceptor_.bind(wanted, failure);
    if (!failure) (void)acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (!failure) endpoint_ = acceptor_.local_endpoint(failure);
    if (failure) return SystemError("listening on " + options_.address, failure.value());
    asio::co_spawn(strand_, Accept(shared_from_this()), asio::detached);
    return {};
  }

  std::string url() const override {
    const std::string host = endpoint_.address().is_v6()
                                 ? "[" + endpoint_.address().to_string() + "]"
                                 : endpoint_.address().to_string();
    return "http://" + host + ":" + std::to_string(endpoint_.port());
  }
  std::uint16_t port() const override { return endpoint_.port(); }

  void StopAccepting() override {
    asio::dispatch(strand_, [self = shared_from_this()] {
      self->stopping_ = true;
      error_code ignored;
      (void)self->acceptor_.close(ignored);
      for (const auto& connection : self->connections_) connection->FinishSoon();
    });
  }

  asio::awaitable<void> Stop(std::chrono::milliseconds grace) override {
    StopAccepting();
    co_await asio::co_spawn(strand_, WaitForConnections(shared_from_this(), grace),
                            asio::use_awaitable);
  }

 private:
  using ConnectionPtr = std::shared_ptr<Connection>;

  // Coroutines hold the server by a parameter, not by `this` alone: it must not end before they do.
  static asio::awaitable<void> Accept(std::shared_ptr<ServerImpl> self) {
    while (!self->stopping_) {
      auto [failure, socket] =
          co_await self->acceptor_.async_accept(asio::make_strand(self->executor_), kAwait);
      if (!failure) {
        self->TryToTake(std::move(socket));
      } else if (!self->stopping_) {
        spdlog::warn("accepting a connection failed: {}", failure.message());
        asio::steady_timer pause(self->strand_, kAcceptPause);
        (void)co_await pause.async_wait(kAwait);
      }
    }
  }

  // Being out of memory for one connection must not end the listening.
  void TryToTake(tcp::socket socket) {
    try {
      Take(std::move(socket));
    } catch (const std::exception&) {
      LogFailure(std::current_exception());
    }
  }

  void Take(tcp::socket socket) {
    const bool full = connections_.size() >= options_.limits.max_connections;
    if (full && connections_.size() >= options_.limits.max_connections + kMaxTurnedAway)
      return;  // closes it
    const auto strand = socket.get_executor();
    auto connection = Connection::Make(std::move(socket), api_, options_.limits);
    connections_.insert(connection);
    asio::co_spawn(strand, full ? TurnAway(connection) : Serve(connection),
                   [self = shared_from_this(), connection](std::exception_ptr failure) {
                     if (failure) LogFailure(failure);
                     asio::dispatch(self->strand_, [self, connection] {
                       self->connections_.erase(connection);
                       if (self->connections_.empty()) self->ended_.cancel();
                     });
                   });
  }

  static asio::awaitable<void> Serve(ConnectionPtr connection) { co_await connection->Serve(); }
  static asio::awaitable<void> TurnAway(ConnectionPtr connection) {
    co_await connection->TurnAway();
  }

  static void LogFailure(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& exception) {
      spdlog::error("a connection ended with an exception: {}", exception.what());
    }
  }

  static asio::awaitable<void> WaitForConnections(std::shared_ptr<ServerImpl> self,
                                                  std::chrono::milliseconds grace) {
    for (const std::chrono::milliseconds patience : {grace, std::chrono::milliseconds(1'000)}) {
      if (self->connections_.empty()) co_return;
      self->ended_.expires_after(patience);
      (void)co_await self->ended_.async_wait(kAwait);
      for (const auto& connection : self->connections_) connection->Close();
    }
  }

  const asio::any_io_executor executor_;
  const asio::strand<asio::any_io_executor> strand_;
  const Api& api_;
  const ServerOptions options_;
  tcp::endpoint endpoint_;

  // On the strand only.
  tcp::acceptor acceptor_;
  asio::steady_timer ended_;  // cancelled when the last connection ends
  std::set<ConnectionPtr> connections_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace

Result<std::shared_ptr<Server>> Server::Listen(asio::any_io_executor executor, const Api& api,
                                               ServerOptions options) {
  auto server = std::make_shared<ServerImpl>(std::move(executor), api, std::move(options));
  DORMOUSE_TRY(server->Open());
  return std::shared_ptr<Server>(std::move(server));
}

}  // namespace dormouse::http
