// SPDX-License-Identifier: Apache-2.0
// What clients send is hostile: any bytes on a connection, through the parser, the router and every handler, over a service
// that keeps nothing. "KEY" in the input stands for a valid key, so that inputs get past the door.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/fake_service.h"
#include "http/server.h"

namespace {

using dormouse::FileDescriptor;
namespace http = dormouse::http;

constexpr std::chrono::seconds kPatience{5};

// One server for all inputs, driven by this thread alone.
struct World {
  boost::asio::io_context io;
  http::FakeService service;
  http::Api api{service, dormouse::service::Config(), io.get_executor()};
  std::shared_ptr<http::Server> server;

  World() {
    http::ServerOptions options;
    options.address = "127.0.0.1:0";
    auto listening = http::Server::Listen(io.get_executor(), api, options);
    if (!listening.ok()) std::abort();
    server = *std::move(listening);
  }
};

std::string WithKey(std::string_view input) {
  std::string bytes(input);
  const std::size_t at = bytes.find("KEY");
  if (at != std::string::npos) bytes.replace(at, 3, http::kTestKey);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World* const world = new World();
  const FileDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(world->server->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return 0;

  const std::string bytes = WithKey({reinterpret_cast<const char*>(data), size});
  // All fits the socket's buffer; then nothing more comes, so the server must answer and close.
  (void)!::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(client.get(), SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  char answer[4096];
  while (true) {
    world->io.restart();
    world->io.run_one_for(std::chrono::milliseconds(1));
    const ssize_t got = ::recv(client.get(), answer, sizeof(answer), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return 0;
    // A connection that is left open forever is a fault as well.
    if (std::chrono::steady_clock::now() > deadline) std::abort();
  }
}
