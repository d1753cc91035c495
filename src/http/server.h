// SPDX-License-Identifier: Apache-2.0
// Server: an HTTP/1.1 listener in front of an Api.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"
#include "http/api.h"
#include "service/config.h"

namespace dormouse::http {

struct ServerOptions {
  std::string address =
      "127.0.0.1:8787";  // "1.2.3.4:80", "[::1]:80", "localhost:80"; port 0: any free one
  service::ConnectionLimits limits;
};

// Threads: every call may be made from any thread.
class Server {
 public:
  virtual ~Server() = default;  // after Stop()

  // Listens at once; serves on `executor`. Borrows `api`. kInvalidRequest for an address that is
  // none.
  static Result<std::shared_ptr<Server>> Listen(boost::asio::any_io_executor executor,
                                                const Api& api, ServerOptions options);

  virtual std::string url() const = 0;  // "http://127.0.0.1:8787"
  virtual std::uint16_t port() const = 0;

  // Takes no new connections and closes the idle ones; requests in progress go on and are the last
  // on theirs.
  virtual void StopAccepting() = 0;
  // StopAccepting, then waits for the connections to end, at most for `grace`; then closes the
  // rest.
  virtual boost::asio::awaitable<void> Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace dormouse::http
