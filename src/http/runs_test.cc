// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <condition_variable>

#include "http/test_server.h"

namespace dormouse::http {
namespace {

namespace asio = boost::asio;
using service::RunListener;
using service::RunRequest;
using service::RunResult;
using RunAnswer = asio::awaitable<Result<RunResult>>;

constexpr const char* kRuns = "/v1/sandboxes/sbx_1/code/runs";
constexpr const char* kStream = "/v1/sandboxes/sbx_1/code/runs/stream";
constexpr const char* kCode = R"({"code":"1","language":"python"})";

// A door that a run waits at until the test opens it.
class Gate {
 public:
  void Open() { open_ = true; }
  asio::awaitable<void> Wait() {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!open_) {
      timer.expires_after(std::chrono::milliseconds(2));
      co_await timer.async_wait(asio::use_awaitable);
    }
  }

 private:
  std::atomic<bool> open_ = false;
};

class RunsTest : public TestServer {
 protected:
  Gate gate_;  // outlives the threads, which end in TearDown()
};

TEST_F(RunsTest, AnswersWithTheDocumentedShape) {
  service_.run = [](RunRequest request, std::shared_ptr<RunListener>) -> RunAnswer {
    RunResult result = FakeService::ResultFor(request);
    result.out = {"a\n", true, 5'000};
    result.duration_ms = 12.6;
    result.usage.cpu_ms = 1.23456;
    result.exit_code = 3;
    result.status = scheduler::RunStatus::kExited;
    result.error = service::CodeError{"ValueError", "bad", {"line 1"}, 7};
    service::CodeOutput output;
    output.format = "json";
    output.value_json = "{\"a\": 1}";
    output.is_result = true;
    result.outputs = {output};
    result.files_written = {"/workspace/a"};
    co_return result;
  };
  const RawResponse response = Call("POST", kRuns, kCode);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("x-dormouse-run-id"), "run_1");
  const auto run = response.Json().at("run").as_object();
  EXPECT_EQ(run.at("stdout"), "a\n");
  EXPECT_EQ(run.at("stderr"), "");
  EXPECT_EQ(run.at("stdoutTruncated"), true);
  EXPECT_EQ(run.at("stdoutBytes"), 5'000);
  EXPECT_EQ(run.at("durationMs"), 13);
  EXPECT_EQ(run.at("status"), "exited");
  EXPECT_EQ(run.at("state"), "kept");
  EXPECT_EQ(run.at("exitCode"), 3);
  EXPECT_EQ(run.at("usage").as_object().at("cpuMs"), 1.235);
  EXPECT_TRUE(run.at("usage").as_object().at("fuelLimit").is_null());
  EXPECT_EQ(run.at("error").as_object().at("lineNumber"), 7);
  EXPECT_EQ(run.at("outputs").as_array().at(0).as_object().at("value").as_object().at("a"), 1);
  EXPECT_EQ(run.at("files").as_object().at("written").as_array().at(0), "/workspace/a");
}

TEST_F(RunsTest, PassesEveryFieldOn) {
  const RawResponse response =
      Call("POST", kRuns, R"({"code":"\tx = '\\n'\r\n","contextId":"cctx_7","binding":"PYTHON",
      "cwd":"/workspace/d","env":{"A":"b"},"stdin":"in","timeoutMs":1500,"fuel":9,"memoryBytes":1048576,
      "artifactPolicy":"promote","_crownestRequireCommandRead":true})");
  ASSERT_EQ(response.status, 200) << response.body;
  const RunRequest& run = service_.last_run;
  EXPECT_EQ(run.sandbox_id, "sbx_1");
  EXPECT_EQ(run.code, "\tx = '\\n'\r\n");
  EXPECT_EQ(run.context_id, "cctx_7");
  EXPECT_EQ(run.binding, "PYTHON");
  EXPECT_EQ(run.cwd, "/workspace/d");
  EXPECT_EQ(run.env.at("A"), "b");
  EXPECT_EQ(run.stdin_bytes, "in");
  EXPECT_EQ(run.timeout_ms, 1'500);
  EXPECT_EQ(run.fuel_us, 9);
  EXPECT_EQ(run.memory_bytes, 1'048'576);
  EXPECT_EQ(run.artifact_policy, service::ArtifactPolicy::kPromote);
}

TEST_F(RunsTest, BadFieldsAreNamedOnBothEndpoints) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"language":"python"})", "code"},
      {R"({"code":null,"language":"python"})", "code"},
      {R"({"code":5,"language":"python"})", "code"},
      {R"({"code":"1","language":null})", "language"},
      {R"({"code":"1","language":""})", "language"},
      {R"({"code":"1","contextId":""})", "contextId"},
      {R"({"code":"1","contextId":"a","contextName":"b"})", "contextName"},
      {R"({"code":"1","language":"python","timeoutMs":0})", "timeoutMs"},
      {R"({"code":"1","language":"python","timeoutMs":-1})", "timeoutMs"},
      {R"({"code":"1","language":"python","timeoutMs":1e12})", "timeoutMs"},
      {R"({"code":"1","language":"python","timeoutMs":"5"})", "timeoutMs"},
      {R"({"code":"1","language":"python","timeoutMs":null})", "timeoutMs"},
      {R"({"code":"1","language":"python","timeoutMs":600001})", "timeoutMs"},
      {R"({"code":"1","language":"python","artifactPolicy":"all"})", "artifactPolicy"},
      {R"({"code":"1","language":"python","timeout":5})", "timeout"},
  };
  for (const auto& [body, field] : cases) {
    for (const char* path : {kRuns, kStream}) {
      const RawResponse response = Call("POST", path, body);
      EXPECT_EQ(response.status, 400) << body;
      EXPECT_EQ(response.Header("content-type"), "application/json");
      EXPECT_EQ(response.ErrorField(), field) << body;
    }
  }
}

TEST_F(RunsTest, StreamIsLinesOfAsciiJson) {
  service_.run = [](RunRequest request, std::shared_ptr<RunListener> listener) -> RunAnswer {
    listener->OnStart("run_1", "cctx_1");
    listener->OnStdout("a\r\n\xE2\x80\xA8\xF0\x9F\x98\x80");
    listener->OnStderr("e\n");
    listener->OnError({"E", "m", {}, {}});
    co_return FakeService::ResultFor(request);
  };
  const RawResponse response = Call("POST", kStream, kCode);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("content-type"), "text/event-stream");
  EXPECT_EQ(response.Header("x-dormouse-run-id"), "run_1");
  EXPECT_EQ(response.Header("x-dormouse-context-id"), "cctx_1");
  const std::string begin =
      "event: stdout\ndata: {\"type\":\"stdout\",\"data\":\"a\\r\\n\\u2028\\ud83d\\ude00\"}\n\n"
      "event: stderr\ndata: {\"type\":\"stderr\",\"data\":\"e\\n\"}\n\n"
      "event: error\ndata: "
      "{\"type\":\"error\",\"data\":{\"name\":\"E\",\"message\":\"m\",\"traceback\":[]}}\n\n"
      "event: complete\ndata: {\"type\":\"complete\",\"data\":{\"runId\":\"run_1\",";
  EXPECT_EQ(response.body.substr(0, begin.size()), begin);
  EXPECT_TRUE(response.body.ends_with("}}\n\n"));
  for (const char c : response.body) EXPECT_TRUE((c >= 0x20 && c < 0x7F) || c == '\n');
}

TEST_F(RunsTest, HeadersAndTextArriveWhileTheRunGoesOn) {
  service_.run = [this](RunRequest request, std::shared_ptr<RunListener> listener) -> RunAnswer {
    listener->OnStart("run_1", "cctx_1");
    listener->OnStdout("early");
    co_await gate_.Wait();
    co_return FakeService::ResultFor(request);
  };
  RawClient client = Connect();
  client.Send(Message("POST", kStream, kCode));
  std::string seen;
  while (seen.find("early") == std::string::npos && !::testing::Test::HasFailure())
    seen = client.Peek();
  EXPECT_EQ(seen.find("complete"), std::string::npos);
  gate_.Open();
  EXPECT_NE(client.Receive().body.find("event: complete"), std::string::npos);
}

TEST_F(RunsTest, FailuresBeforeTheStartArePlainJson) {
  service_.run = [](RunRequest, std::shared_ptr<RunListener>) -> RunAnswer {
    co_return Error(ErrorCode::kUnsupportedCodeLanguage, "no such language",
                    {{"field", "language"}});
  };
  const RawResponse response = Call("POST", kStream, kCode);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.ErrorCode(), "unsupported_code_language");
}

TEST_F(RunsTest, FailuresAfterTheStartAreAnEvent) {
  service_.run = [](RunRequest, std::shared_ptr<RunListener> listener) -> RunAnswer {
    listener->OnStart("run_1", "cctx_1");
    co_return Error(ErrorCode::kStorageFull, "disk full");
  };
  const RawResponse response = Call("POST", kStream, kCode);
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("\"code\":\"resource_allocation_failed\""), std::string::npos);
  EXPECT_EQ(response.body.find("event: complete"), std::string::npos);
}

TEST_F(RunsTest, ExceptionsOfTheServiceAreInternalErrors) {
  service_.run = [](RunRequest, std::shared_ptr<RunListener>) -> RunAnswer {
    throw std::runtime_error("secret detail");
    co_return Error();
  };
  for (const char* path : {kRuns, kStream}) {
    const RawResponse response = Call("POST", path, kCode);
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body.find("secret"), std::string::npos);
  }
}

TEST_F(RunsTest, TextThatWaitsIsJoinedAndCutBetweenCharacters) {
  constexpr int kTimes = 100'000;
  service_.run = [](RunRequest request, std::shared_ptr<RunListener> listener) -> RunAnswer {
    listener->OnStart("run_1", "cctx_1");
    for (int i = 0; i < kTimes; ++i) listener->OnStdout("\xF0\x9F\x98\x80");
    co_return FakeService::ResultFor(request);
  };
  const RawResponse response = Call("POST", kStream, kCode);
  std::string text;
  std::size_t events = 0;
  std::size_t at = 0;
  constexpr std::string_view kBegin = "event: stdout\ndata: ";
  while ((at = response.body.find(kBegin, at)) != std::string::npos) {
    const std::size_t end = response.body.find('\n', at + kBegin.size());
    const auto event =
        boost::json::parse(response.body.substr(at + kBegin.size(), end - at - kBegin.size()));
    text += std::string(event.as_object().at("data").as_string());
    at = end;
    ++events;
  }
  EXPECT_EQ(text.size(), 4u * kTimes);
  EXPECT_LT(events, 1'000u);
}

TEST_F(RunsTest, TheRunGoesOnWhenItsReaderLeaves) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  service_.run = [&](RunRequest request, std::shared_ptr<RunListener> listener) -> RunAnswer {
    listener->OnStart("run_1", "cctx_1");
    co_await gate_.Wait();
    for (int i = 0; i < 1'000; ++i) listener->OnStdout(std::string(1'000, 'x'));
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
    co_return FakeService::ResultFor(request);
  };
  RawClient client = Connect();
  client.Send(Message("POST", kStream, kCode));
  client.Peek();
  client.Close();
  gate_.Open();
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(10), [&] { return ended; }));
  lock.unlock();
  const RawResponse later = Call("GET", std::string(kRuns) + "/run_1");
  EXPECT_EQ(later.status, 200);
  EXPECT_EQ(later.Json().at("run").as_object().at("runId"), "run_1");
  EXPECT_EQ(Call("GET", std::string(kRuns) + "/run_2").status, 404);
}

TEST_F(RunsTest, ARepeatedStreamGivesTheResultAlone) {
  std::atomic<int> runs = 0;
  service_.run = [&runs](RunRequest request, std::shared_ptr<RunListener> listener) -> RunAnswer {
    ++runs;
    listener->OnStart("run_1", "cctx_1");
    listener->OnStdout("text");
    co_return FakeService::ResultFor(request);
  };
  const RawResponse first = Call("POST", kStream, kCode, "Idempotency-Key: k\r\n");
  const RawResponse again = Call("POST", kStream, kCode, "Idempotency-Key: k\r\n");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(again.Header("content-type"), "text/event-stream");
  EXPECT_TRUE(again.body.starts_with("event: complete\n"));
  EXPECT_TRUE(first.body.ends_with(again.body));
}

TEST_F(RunsTest, ARunningKeyIsRefused) {
  service_.run = [this](RunRequest request, std::shared_ptr<RunListener> listener) -> RunAnswer {
    listener->OnStart("run_1", "cctx_1");
    co_await gate_.Wait();
    co_return FakeService::ResultFor(request);
  };
  RawClient client = Connect();
  client.Send(Message("POST", kStream, kCode, "Idempotency-Key: k\r\n"));
  client.Peek();
  client.Close();
  const RawResponse again = Call("POST", kStream, kCode, "Idempotency-Key: k\r\n");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.ErrorCode(), "idempotency_request_in_progress");
  gate_.Open();
}

TEST_F(RunsTest, OldClientsGetTheStreamWithoutChunks) {
  RawClient client = Connect();
  client.Send("POST " + std::string(kStream) + " HTTP/1.0\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: " +
              std::to_string(std::string_view(kCode).size()) + "\r\n\r\n" + kCode);
  std::string all;
  for (std::string seen = client.Peek(); seen.size() > all.size(); seen = client.Peek()) all = seen;
  EXPECT_NE(all.find("connection: close"), std::string::npos);
  EXPECT_EQ(all.find("transfer-encoding"), std::string::npos);
  EXPECT_TRUE(all.ends_with("}}\n\n"));
}

TEST_F(RunsTest, AConnectionServesMoreAfterAStream) {
  RawClient client = Connect();
  client.Send(Message("POST", kStream, kCode));
  EXPECT_EQ(client.Receive().status, 200);
  client.Send(Message("GET", "/healthz"));
  EXPECT_EQ(client.Receive().status, 200);
}

}  // namespace
}  // namespace dormouse::http
