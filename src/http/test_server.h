// SPDX-License-Identifier: Apache-2.0
// TestServer: the whole HTTP side on a loopback port, over a FakeService. RawClient: a client that
// sends any bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/parse.hpp>
#include <thread>

#include "http/fake_service.h"
#include "http/server.h"

namespace dormouse::http {

struct RawResponse {
  int status = 0;
  std::string head;
  std::string body;  // without chunk framing

  std::string Header(std::string_view name) const {
    const std::string key = "\r\n" + std::string(name) + ": ";
    const std::size_t start = head.find(key);
    if (start == std::string::npos) return "";
    const std::size_t value = start + key.size();
    return head.substr(value, head.find("\r\n", value) - value);
  }
  boost::json::object Json() const { return boost::json::parse(body).as_object(); }
  std::string ErrorCode() const {
    return std::string(Json().at("error").as_object().at("code").as_string());
  }
  std::string ErrorField() const {
    const boost::json::object envelope = Json();
    const boost::json::object& error = envelope.at("error").as_object();
    if (!error.contains("details")) return "";
    return std::string(error.at("details").as_object().at("field").as_string());
  }
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  // False when the server does not read any more.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next response. Status 0 when the connection ended before one was complete.
  RawResponse Receive(bool head_only = false) {
    RawResponse response;
    while (pending_.find("\r\n\r\n") == std::string::npos) {
      if (!Fill()) return {};
    }
    const std::size_t end = pending_.find("\r\n\r\n") + 4;
    response.head = pending_.substr(0, end);
    pending_.erase(0, end);
    const int status = std::stoi(response.head.substr(9, 3));
    if (head_only || status == 100) {
      response.status = status;
      return response;
    }
    const bool complete = response.Header("transfer-encoding") == "chunked"
                              ? ReceiveChunks(response.body)
                              : Take(std::stoul(response.Header("content-length")), response.body);
    response.status = complete ? status : 0;
    return response;
  }

  // Waits for at least one more byte of a body; everything that came so far.
  std::string Peek() {
    Fill();
    return pending_;
  }

  bool AtEnd() { return pending_.empty() && !Fill(); }
  void ShutDownSending() { ::shutdown(fd_.get(), SHUT_WR); }
  void Close() { fd_.reset(); }

 private:
  static constexpr int kPatienceMs = 10'000;

  bool Fill() {
    pollfd readable{fd_.get(), POLLIN, 0};
    if (::poll(&readable, 1, kPatienceMs) != 1) {
      ADD_FAILURE() << "the server sent nothing in time";
      return false;
    }
    char piece[65536];
    const ssize_t length = ::recv(fd_.get(), piece, sizeof(piece), 0);
    if (length <= 0) return false;
    pending_.append(piece, static_cast<std::size_t>(length));
    return true;
  }
  bool Take(std::size_t length, std::string& out) {
    while (pending_.size() < length) {
      if (!Fill()) return false;
    }
    out += pending_.substr(0, length);
    pending_.erase(0, length);
    return true;
  }
  bool ReceiveChunks(std::string& body) {
    while (true) {
      while (pending_.find("\r\n") == std::string::npos) {
        if (!Fill()) return false;
      }
      const std::size_t size = std::stoul(pending_, nullptr, 16);
      pending_.erase(0, pending_.find("\r\n") + 2);
      std::string line_end;
      if (!Take(size, body) || !Take(2, line_end)) return false;
      EXPECT_EQ(line_end, "\r\n");
      if (size == 0) return true;
    }
  }

  FileDescriptor fd_;
  std::string pending_;
};

class TestServer : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }
  void Start(ServerOptions options) {
    options.address = "127.0.0.1:0";
    api_ = std::make_unique<Api>(service_, config_, context_.get_executor());
    auto server = Server::Listen(context_.get_executor(), *api_, std::move(options));
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = *server;
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { context_.run(); });
  }
  void TearDown() override {
    if (server_ != nullptr) {
      boost::asio::co_spawn(context_, server_->Stop(std::chrono::seconds(5)),
                            boost::asio::use_future)
          .get();
    }
    work_.reset();
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    server_.reset();
  }

  RawClient Connect() { return RawClient(server_->port()); }

  static std::string Message(std::string_view method, std::string_view target,
                             std::string_view body = {}, std::string_view headers = {}) {
    std::string message = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
    message += "Host: localhost\r\nAuthorization: Bearer " + std::string(kTestKey) + "\r\n";
    message += headers;
    if (!body.empty() || method == "POST" || method == "PUT") {
      message += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    return message + "\r\n" + std::string(body);
  }
  RawResponse Call(std::string_view method, std::string_view target, std::string_view body = {},
                   std::string_view headers = {}) {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(Message(method, target, body, headers)));
    return client.Receive(method == "HEAD");
  }

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(context_);
  FakeService service_;
  service::Config config_;
  std::unique_ptr<Api> api_;
  std::shared_ptr<Server> server_;
  std::vector<std::thread> threads_;
};

}  // namespace dormouse::http
