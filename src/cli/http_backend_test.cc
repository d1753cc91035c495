// SPDX-License-Identifier: Apache-2.0
#include "cli/http_backend.h"

#include "cli/resolve.h"
#include "cli/run_command.h"
#include "cli/run_printer.h"
#include "http/test_server.h"

namespace dormouse::cli {
namespace {

namespace json = boost::json;

class HttpBackendTest : public http::TestServer {
 protected:
  std::unique_ptr<Backend> MakeBackend(std::string key = std::string(http::kTestKey)) {
    auto backend = MakeHttpBackend(server_->url(), std::move(key));
    EXPECT_TRUE(backend.ok());
    return std::move(*backend);
  }
};

TEST_F(HttpBackendTest, CallsAndReportsErrorsAsTheServerSentThem) {
  const auto backend = MakeBackend();
  const auto sandbox = Unwrap(CallJson(*backend, {"GET", "/v1/sandboxes/sbx_1", {}}), "sandbox");
  ASSERT_TRUE(sandbox.ok());
  EXPECT_EQ(TextOf(*sandbox, "id"), "sbx_1");
  const auto missing = CallJson(*backend, {"GET", "/v1/sandboxes/sbx_2", {}});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message, "no such sandbox");
  const auto method = CallJson(*backend, {"DELETE", "/v1/sandboxes", {}});
  ASSERT_FALSE(method.ok());
  EXPECT_EQ(method.error().code, ErrorCode::kMethodNotAllowed);
}

TEST_F(HttpBackendTest, SaysThatAKeyIsWrong) {
  const auto answer = CallJson(*MakeBackend("wrong"), {"GET", "/v1/bindings", {}});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnauthorized);
}

TEST_F(HttpBackendTest, SaysThatNobodyListens) {
  const std::string url = server_->url();
  TearDown();
  const auto backend = MakeHttpBackend(url, "");
  const auto answer = CallJson(**backend, {"GET", "/v1/bindings", {}});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
}

TEST_F(HttpBackendTest, RefusesUrlsThatItCannotReach) {
  for (const char* url : {"", "127.0.0.1:80", "https://localhost", "http://", "nonsense"}) {
    EXPECT_FALSE(MakeHttpBackend(url, "").ok()) << url;
  }
  EXPECT_FALSE(MakeHttpBackend("http://localhost", "a\r\nb").ok());
}

TEST_F(HttpBackendTest, StreamsTheEventsOfARun) {
  service_.run = [](service::RunRequest request, std::shared_ptr<service::RunListener> listener)
      -> boost::asio::awaitable<Result<service::RunResult>> {
    listener->OnStart("run_1", "cctx_1");
    listener->OnStdout("\xF0\x9F\x98\x80\n");
    service::RunResult result = http::FakeService::ResultFor(request);
    result.status = scheduler::RunStatus::kExited;
    result.exit_code = 7;
    co_return result;
  };
  const auto backend = MakeBackend();
  const ResolvedContext context{
      .sandbox_id = "sbx_1", .context_id = "", .language = "python", .binding = ""};
  std::string text;
  RunPrinter printer(Unsaved::kHeldByServer);
  const auto ended = CallEvents(
      *backend, {"POST", SandboxPath("sbx_1", "/code/runs/stream"), RunBody(context, "1")},
      [&](const json::object& event) {
        if (TextOf(event, "type") == "stdout") text += TextOf(event, "data");
        if (TextOf(event, "type") == "complete") printer.OnEvent(event);
      });
  EXPECT_TRUE(ended.ok());
  EXPECT_EQ(text, "\xF0\x9F\x98\x80\n");
  EXPECT_EQ(printer.exit_code(), 7);
}

TEST_F(HttpBackendTest, DownloadsBytesExactly) {
  std::string content;
  for (int i = 0; i < 3'000'000; ++i) content.push_back(static_cast<char>(i * 31));
  service_.files = {{"/workspace/f", content}};
  std::string received;
  const auto answer =
      MakeBackend()->Send({"GET", SandboxPath("sbx_1", "/files/download?path=/workspace/f"), {}},
                          [&received](std::string_view bytes) {
                            received.append(bytes);
                            return true;
                          });
  EXPECT_TRUE(answer.ok());
  EXPECT_TRUE(received == content);
}

TEST_F(HttpBackendTest, UploadsBytesExactly) {
  std::string content;
  for (int i = 0; i < 900'000; ++i) content.push_back(static_cast<char>(i * 31));
  const FileDescriptor file(::memfd_create("local", MFD_CLOEXEC));
  ASSERT_EQ(::pwrite(file.get(), content.data(), content.size(), 0),
            static_cast<ssize_t>(content.size()));
  ApiRequest request{"PUT", SandboxPath("sbx_1", "/files/content?path=/workspace/f"), {}};
  request.upload = file.get();
  const auto answer = CallText(*MakeBackend(), request);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_TRUE(service_.files["/workspace/f"] == content);
  service_.upload_limit = 1'000;
  ASSERT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(CallText(*MakeBackend(), request).error().code, ErrorCode::kQuotaExceeded);
}

TEST_F(HttpBackendTest, FindsSandboxesByName) {
  const auto backend = MakeBackend();
  EXPECT_EQ(*ResolveSandbox(*backend, "sbx_9", Missing::kFail), "sbx_9");
  EXPECT_EQ(*ResolveSandbox(*backend, "a b", Missing::kFail), "sbx_1");
  EXPECT_EQ(service_.last_list.metadata.at("name"), "a b");
}

TEST_F(HttpBackendTest, MakesANamedContextOnDemand) {
  const auto backend = MakeBackend();
  ContextChoice where;
  where.context = "main";
  const auto context = ResolveContext(*backend, where, Missing::kCreate, "python");
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(context->context_id, "cctx_1");
  EXPECT_EQ(service_.last_context.name, "main");
  EXPECT_EQ(service_.last_context.language, "python");
  EXPECT_FALSE(ResolveContext(*backend, where, Missing::kFail, "python").ok());
}

TEST(ExitCodeOfRun, FollowsTheStatus) {
  const auto code = [](const char* text) { return ExitCodeOfRun(json::parse(text).as_object()); };
  EXPECT_EQ(code(R"({"status":"ok"})"), 0);
  EXPECT_EQ(code(R"({"status":"error"})"), 1);
  EXPECT_EQ(code(R"({"status":"timeout"})"), 1);
  EXPECT_EQ(code(R"({"status":"exited","exitCode":0})"), 0);
  EXPECT_EQ(code(R"({"status":"exited","exitCode":125})"), 125);
  EXPECT_EQ(code(R"({"status":"exited","exitCode":126})"), 1);
  EXPECT_EQ(code(R"({"status":"exited","exitCode":-1})"), 1);
}

}  // namespace
}  // namespace dormouse::cli
