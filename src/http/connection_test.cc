// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <future>

#include "http/test_server.h"

namespace dormouse::http {
namespace {

using std::chrono::milliseconds;

class ConnectionTest : public TestServer {
 protected:
  RawResponse SendRaw(std::string_view bytes) {
    RawClient client = Connect();
    client.Send(bytes);
    return client.Receive();
  }
};

class ImpatientServer : public ConnectionTest {
 protected:
  void SetUp() override {
    Start({.limits = {.max_connections = 2,
                      .header_bytes = 2'048,
                      .idle_timeout = milliseconds(300),
                      .header_timeout = milliseconds(200),
                      .body_timeout = milliseconds(200),
                      .body_deadline = milliseconds(500),
                      .write_timeout = milliseconds(300)}});
  }
};

TEST_F(ConnectionTest, ServesManyRequestsOnOneConnection) {
  RawClient client = Connect();
  for (int i = 0; i < 50; ++i) {
    client.Send(Message("GET", "/v1/sandboxes/sbx_1"));
    const RawResponse response = client.Receive();
    ASSERT_EQ(response.status, 200);
    EXPECT_EQ(response.Header("connection"), "");
  }
}

TEST_F(ConnectionTest, AnswersPipelinedRequestsInOrder) {
  RawClient client = Connect();
  std::string all;
  for (int i = 0; i < 30; ++i) {
    all += Message("POST", "/v1/sandboxes", "{\"metadata\":{\"n\":\"x\"}}");
    all += Message("GET", "/v1/nothing");
    all += Message("GET", "/healthz");
  }
  client.Send(all);
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(client.Receive().status, 201);
    ASSERT_EQ(client.Receive().status, 404);
    ASSERT_EQ(client.Receive().status, 200);
  }
}

TEST_F(ConnectionTest, ARequestInSinglePiecesOfOneByteIsServed) {
  RawClient client = Connect();
  for (const char c : Message("POST", "/v1/sandboxes", "{\"ttlMs\":5}"))
    client.Send(std::string_view(&c, 1));
  EXPECT_EQ(client.Receive().status, 201);
}

TEST_F(ConnectionTest, TakesChunkedBodies) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) +
              "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ttl\r\n6\r\nMs\":5}\r\n0\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 201);
  EXPECT_EQ(service_.last_create.ttl_ms, 5);
  client.Send(Message("GET", "/healthz"));
  EXPECT_EQ(client.Receive().status, 200);
}

TEST_F(ConnectionTest, ClosesWhenAsked) {
  RawClient client = Connect();
  client.Send(Message("GET", "/healthz", "", "Connection: close\r\n"));
  EXPECT_EQ(client.Receive().Header("connection"), "close");
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(ConnectionTest, SpeaksHttp10) {
  RawClient client = Connect();
  client.Send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.Receive().Header("connection"), "close");
  EXPECT_TRUE(client.AtEnd());
  RawClient again = Connect();
  again.Send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(again.Receive().Header("connection"), "keep-alive");
  again.Send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(again.Receive().status, 200);
}

TEST_F(ConnectionTest, MalformedRequestsGetTheEnvelope) {
  for (const char* bytes :
       {"\x16\x03\x01 hello\r\n\r\n", "GET\r\n\r\n", "GET /healthz\r\n\r\n",
        "GET  /healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nBad Header: x\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n",                        // no Host
        "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",  // two of them
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nx",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nContent-Length: "
        "1\r\n\r\nx",
        "POST /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /health#z HTTP/1.1\r\nHost: x\r\n\r\n", "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    const RawResponse response = SendRaw(bytes);
    EXPECT_EQ(response.status, 400) << bytes;
    if (response.status != 0) EXPECT_EQ(response.ErrorCode(), "invalid_request") << bytes;
  }
}

TEST_F(ConnectionTest, OtherVersionsOfHttpAreRefused) {
  EXPECT_EQ(SendRaw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status, 505);
}

TEST_F(ConnectionTest, BrokenChunksAreRefused) {
  const RawResponse response =
      SendRaw("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_EQ(response.status, 400);
}

TEST_F(ConnectionTest, TakesTheAbsoluteForm) {
  EXPECT_EQ(SendRaw("GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
}

TEST_F(ConnectionTest, LargeHeadsAreRefused) {
  const RawResponse response =
      SendRaw("GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + std::string(64 << 10, 'a') + "\r\n\r\n");
  EXPECT_EQ(response.status, 431);
}

TEST_F(ConnectionTest, LargeBodiesAreRefusedBeforeTheyAreRead) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: 99999999999\r\n\r\n");
  const RawResponse response = client.Receive();
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.Header("connection"), "close");
}

TEST_F(ConnectionTest, ARefusalIsSeenByAClientThatGoesOnSending) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: 3000000\r\n\r\n");
  EXPECT_TRUE(client.Send(std::string(3'000'000, 'x')));
  EXPECT_EQ(client.Receive().status, 413);
}

TEST_F(ConnectionTest, LargeChunkedBodiesAreRefused) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n" +
              std::string(0x20000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 413);
}

TEST_F(ConnectionTest, NobodyWithoutAKeyMakesUsReadABody) {
  RawClient client = Connect();
  client.Send(
      "POST /v1/sandboxes/sbx_1/code/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n");
  const RawResponse response = client.Receive();
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.Header("connection"), "close");
}

TEST_F(ConnectionTest, ContinuesWhenTheClientWaitsForIt) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 100);
  client.Send("{}");
  EXPECT_EQ(client.Receive().status, 201);
}

TEST_F(ConnectionTest, AClientThatClosesItsSideStillGetsTheAnswer) {
  RawClient client = Connect();
  client.Send(Message("GET", "/healthz"));
  client.ShutDownSending();
  EXPECT_EQ(client.Receive().status, 200);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(ImpatientServer, DropsIdleConnections) {
  RawClient client = Connect();
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(ImpatientServer, DropsClientsThatDripTheirHead) {
  RawClient client = Connect();
  client.Send("GET /healthz HT");
  client.Receive();
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(ImpatientServer, DropsClientsThatStopInTheBody) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: 10\r\n\r\n{");
  client.Receive();
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(ImpatientServer, DropsClientsThatDripTheirBodyForEver) {
  RawClient client = Connect();
  client.Send("POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: 1000\r\n\r\n");
  const auto start = std::chrono::steady_clock::now();
  while (client.Send(" ") && std::chrono::steady_clock::now() - start < std::chrono::seconds(5)) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST_F(ImpatientServer, DropsClientsThatDoNotRead) {
  service_.files = {{"/workspace/big", std::string(64 << 20, 'x')}};
  RawClient client = Connect();
  client.Send(Message("GET", "/v1/sandboxes/sbx_1/files/download?path=/workspace/big"));
  std::this_thread::sleep_for(milliseconds(1'000));
  EXPECT_EQ(client.Receive().status, 0);  // cut short
}

TEST_F(ImpatientServer, AnswersTheConnectionsThatAreTooMany) {
  RawClient first = Connect();
  first.Send(Message("GET", "/healthz"));
  EXPECT_EQ(first.Receive().status, 200);
  RawClient second = Connect();
  second.Send(Message("GET", "/healthz"));
  EXPECT_EQ(second.Receive().status, 200);
  RawClient third = Connect();
  const RawResponse response = third.Receive();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.ErrorCode(), "resource_allocation_failed");
  EXPECT_EQ(response.Header("retry-after"), "1");
}

TEST_F(ConnectionTest, StoppingLetsARequestInProgressEnd) {
  std::promise<void> started;
  std::promise<void> go_on;
  std::shared_future<void> may_go_on = go_on.get_future().share();
  service_.run = [&started, may_go_on](service::RunRequest request,
                                       std::shared_ptr<service::RunListener>)
      -> boost::asio::awaitable<Result<service::RunResult>> {
    started.set_value();
    may_go_on.wait();  // blocks one of the two threads, which the test can spare
    co_return FakeService::ResultFor(request);
  };
  RawClient idle = Connect();
  RawClient busy = Connect();
  busy.Send(
      Message("POST", "/v1/sandboxes/sbx_1/code/runs", R"({"code":"1","language":"python"})"));
  started.get_future().wait();
  server_->StopAccepting();
  EXPECT_TRUE(idle.AtEnd());
  go_on.set_value();
  const RawResponse response = busy.Receive();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("connection"), "close");
  EXPECT_TRUE(busy.AtEnd());
}

}  // namespace
}  // namespace dormouse::http
