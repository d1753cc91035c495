// SPDX-License-Identifier: Apache-2.0
// Connection: serves the requests of one client connection, one after the other.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>

#include "http/api.h"
#include "service/config.h"

namespace dormouse::http {

// Waits for an operation of Asio; the error code is part of what it gives.
inline constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

// Threads: everything runs on the socket's strand; FinishSoon() and Close() may be called from
// anywhere.
class Connection {
 public:
  virtual ~Connection() = default;

  // Borrows `api` and `limits`.
  static std::shared_ptr<Connection> Make(boost::asio::ip::tcp::socket socket, const Api& api,
                                          const service::ConnectionLimits& limits);

  // Ends when the connection does.
  virtual boost::asio::awaitable<void> Serve() = 0;
  // Answers 503 and closes.
  virtual boost::asio::awaitable<void> TurnAway() = 0;
  // Ends after the request in progress, or at once if there is none.
  virtual void FinishSoon() = 0;
  virtual void Close() = 0;
};

}  // namespace dormouse::http
