// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>

#include "http/test_server.h"

namespace dormouse::http {
namespace {

constexpr const char* kDownload = "/v1/artifacts/art_1/download";
constexpr const char* kArtifacts = "/v1/sandboxes/sbx_1/artifacts";
constexpr const char* kContent = "/v1/sandboxes/sbx_1/files/content";

class ArtifactsTest : public TestServer {};

TEST_F(ArtifactsTest, HasTheDocumentedShape) {
  service_.artifact = {.id = "art_1",
                       .org_id = "org_1",
                       .project_id = "prj_1",
                       .sandbox_id = "sbx_1",
                       .name = "a.html",
                       .content_type = "text/html",
                       .active_content = true,
                       .sha256 = "5ec",
                       .size_bytes = 10,
                       .source_path = "/workspace/a.html",
                       .created_at = service::Time(std::chrono::milliseconds(1)),
                       .expires_at = service::Time(std::chrono::milliseconds(2)),
                       .deleted_at = service::Time(std::chrono::milliseconds(3))};
  const RawResponse response = Call("POST", kArtifacts, R"({"path":"a.html","name":"n"})");
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body,
            R"({"artifact":{"id":"art_1","orgId":"org_1","projectId":"prj_1","sandboxId":"sbx_1",)"
            R"("name":"a.html","objectKey":"sandboxes/sbx_1/artifacts/art_1","contentType":"text/html",)"
            R"("activeContent":true,"sizeBytes":10,"sha256":"5ec","sourcePath":"/workspace/a.html",)"
            R"("createdAt":"1970-01-01T00:00:00.001Z","retentionExpiresAt":"1970-01-01T00:00:00.002Z",)"
            R"("deletedAt":"1970-01-01T00:00:00.003Z"}})");
  EXPECT_EQ(service_.last_artifact.path, "a.html");
  EXPECT_EQ(service_.last_artifact.name, "n");
  EXPECT_EQ(service_.last_artifact.sandbox_id, "sbx_1");
  EXPECT_EQ(Call("POST", kArtifacts, "{}").ErrorField(), "path");
  EXPECT_EQ(Call("POST", kArtifacts, R"({"path":"a","names":"b"})").ErrorField(), "names");
  EXPECT_EQ(Call("GET", "/v1/artifacts/art_1").status, 200);
  EXPECT_EQ(Call("DELETE", "/v1/artifacts/art_1").status, 200);
}

TEST_F(ArtifactsTest, ListsPagesAndTombstonesOnRequest) {
  EXPECT_EQ(Call("GET", kArtifacts).body.substr(0, 9), "{\"data\":[");
  EXPECT_FALSE(service_.last_artifact_list.historical);
  EXPECT_EQ(Call("GET", std::string(kArtifacts) + "?include=historical&limit=7&cursor=c").status, 200);
  EXPECT_TRUE(service_.last_artifact_list.historical);
  EXPECT_EQ(service_.last_artifact_list.page.limit, 7u);
  EXPECT_EQ(service_.last_artifact_list.page.cursor, "c");
  EXPECT_EQ(Call("GET", std::string(kArtifacts) + "?include=all").ErrorField(), "include");
}

TEST_F(ArtifactsTest, CreationCanBeRepeated) {
  const std::string body = R"({"path":"a"})";
  EXPECT_EQ(Call("POST", kArtifacts, body, "Idempotency-Key: k\r\n").status, 201);
  const RawResponse again = Call("POST", kArtifacts, body, "Idempotency-Key: k\r\n");
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.Header("idempotency-replayed"), "true");
}

TEST_F(ArtifactsTest, DownloadsAreMadeHarmless) {
  service_.artifact.name = "../x/p\xC3\xA4ge.html";
  service_.artifact.content_type = "text/html";
  service_.artifact.active_content = true;
  const RawResponse response = Call("GET", kDownload);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "0123456789");
  EXPECT_EQ(response.Header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(response.Header("x-content-type-options"), "nosniff");
  EXPECT_EQ(response.Header("content-security-policy"), "sandbox; default-src 'none'");
  EXPECT_EQ(response.Header("cross-origin-resource-policy"), "same-origin");
  EXPECT_EQ(response.Header("content-disposition"),
            "attachment; filename=\"p_ge.html\"; filename*=UTF-8''p%C3%A4ge.html");
  service_.artifact.active_content = false;
  service_.artifact.may_show_inline = true;
  service_.artifact.name = "..";
  EXPECT_EQ(Call("GET", kDownload).Header("content-disposition"), "inline; filename=\"artifact\"");
}

TEST_F(ArtifactsTest, KnownBytesAreNotSentAgain) {
  EXPECT_EQ(Call("GET", kDownload).Header("etag"), "\"5ec\"");
  for (const char* known : {"\"5ec\"", "W/\"5ec\"", "\"a\", \"5ec\"", "*"}) {
    RawClient client = Connect();
    client.Send(Message("GET", kDownload, "", "If-None-Match: " + std::string(known) + "\r\n"));
    const RawResponse response = client.Receive(true);
    EXPECT_EQ(response.status, 304) << known;
    EXPECT_EQ(response.Header("etag"), "\"5ec\"");
    EXPECT_EQ(response.Header("content-length"), "");
    client.Send(Message("GET", "/healthz"));
    EXPECT_EQ(client.Receive().status, 200) << "the connection goes on";
  }
  EXPECT_EQ(Call("GET", kDownload, "", "If-None-Match: \"other\"\r\n").status, 200);
}

TEST_F(ArtifactsTest, RangesHoldForTheSameBytes) {
  const RawResponse part = Call("GET", kDownload, "", "Range: bytes=2-4\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(Call("GET", kDownload, "", "Range: bytes=2-4\r\nIf-Range: \"5ec\"\r\n").status, 206);
  EXPECT_EQ(Call("GET", kDownload, "", "Range: bytes=2-4\r\nIf-Range: \"old\"\r\n").status, 200);
  EXPECT_EQ(Call("GET", kDownload, "", "Range: bytes=10-\r\n").status, 416);
  const RawResponse head = Call("HEAD", kDownload);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("content-length"), "10");
}

TEST_F(ArtifactsTest, DownloadUrlIsOurOwn) {
  const RawResponse response = Call("POST", "/v1/artifacts/art_1/download-url");
  EXPECT_EQ(response.status, 200);
  const auto json = response.Json();
  EXPECT_EQ(json.at("url"), "http://localhost/v1/artifacts/art_1/download");
  EXPECT_EQ(json.at("authMode"), "api_key");
  EXPECT_EQ(json.at("method"), "GET");
  EXPECT_EQ(json.at("headers").as_object().at("x-content-type-options"), "nosniff");
}

TEST_F(ArtifactsTest, RunsSayWhatTheirOutputsBecame) {
  service_.run = [](service::RunRequest request, std::shared_ptr<service::RunListener>)
      -> boost::asio::awaitable<Result<service::RunResult>> {
    service::RunResult result = FakeService::ResultFor(request);
    service::CodeOutput output;
    output.kind = service::CodeOutput::Kind::kArtifact;
    output.format = "svg";
    output.artifact_id = "art_7";
    output.content_type = "image/svg+xml";
    output.size_bytes = 5;
    output.active_content = true;
    result.outputs = {output};
    result.stdout_artifact_id = "art_8";
    co_return result;
  };
  const auto run =
      Call("POST", "/v1/sandboxes/sbx_1/code/runs",
           R"({"code":"1","language":"python","artifactPolicy":"promote","captureFullOutput":true})")
          .Json()
          .at("run")
          .as_object();
  EXPECT_TRUE(service_.last_run.capture_full_output);
  EXPECT_EQ(service_.last_run.artifact_policy, service::ArtifactPolicy::kPromote);
  EXPECT_TRUE(service_.last_run.may_create_artifacts);
  EXPECT_EQ(boost::json::serialize(run.at("outputs")),
            R"([{"kind":"artifact","format":"svg","artifactId":"art_7","contentType":"image/svg+xml",)"
            R"("sizeBytes":5,"activeContent":true,"isResult":false}])");
  EXPECT_EQ(run.at("stdoutArtifactId"), "art_8");
  EXPECT_FALSE(run.contains("stderrArtifactId"));
}

class UploadTest : public TestServer {};

TEST_F(UploadTest, TakesBytesOfAnyKindWithAndWithoutALength) {
  std::string content;
  for (int i = 0; i < 300'000; ++i) content.push_back(static_cast<char>(i * 7));
  const std::string target = std::string(kContent) + "?path=%2Fworkspace%2Fa&createParents=true&overwrite=false";
  const RawResponse sized = Call("PUT", target, content, "Content-Type: application/octet-stream\r\n");
  EXPECT_EQ(sized.status, 200) << sized.body;
  EXPECT_TRUE(service_.files["/workspace/a"] == content);
  EXPECT_TRUE(service_.last_upload.create_parents);
  EXPECT_FALSE(service_.last_upload.overwrite);
  RawClient client = Connect();
  std::string head = Message("PUT", std::string(kContent) + "?path=b");
  head.replace(head.find("Content-Length: 0"), 17, "Transfer-Encoding: chunked");
  client.Send(head);
  for (int i = 0; i < 1'000; ++i) client.Send("5\r\nhello\r\n");
  client.Send("0\r\n\r\n");
  EXPECT_EQ(client.Receive().status, 200);
  EXPECT_EQ(service_.files["b"].size(), 5'000u);
  client.Send(Message("PUT", std::string(kContent) + "?path=c"));
  EXPECT_EQ(client.Receive().status, 200) << "an empty file, on the same connection";
  EXPECT_EQ(service_.files["c"], "");
}

TEST_F(UploadTest, RefusesBeforeItReads) {
  service_.upload_limit = 1'000;
  const std::string target = std::string(kContent) + "?path=a";
  RawClient large = Connect();
  std::string head = Message("PUT", target, std::string(1'001, 'x'));
  head.resize(head.find("\r\n\r\n") + 4);
  large.Send(head);
  const RawResponse refused = large.Receive();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.ErrorCode(), "quota_exceeded");
  RawClient chunked = Connect();
  head = Message("PUT", target);
  head.replace(head.find("Content-Length: 0"), 17, "Transfer-Encoding: chunked");
  chunked.Send(head + "3e9\r\n" + std::string(1'001, 'x') + "\r\n");
  EXPECT_EQ(chunked.Receive().status, 429);
  EXPECT_EQ(Call("PUT", target, "x", "Content-Type: application/json\r\n").status, 415);
  EXPECT_EQ(Call("PUT", kContent, "x").ErrorField(), "path");
  EXPECT_EQ(Call("PUT", target + "&overwrite=yes", "x").ErrorField(), "overwrite");
  service_.failure = Error(ErrorCode::kSandboxDestroyed, "gone");
  EXPECT_EQ(Call("PUT", target, "x").status, 410);
  EXPECT_TRUE(service_.files.empty());
}

TEST_F(UploadTest, AnswersWhoWaitsForLeave) {
  RawClient client = Connect();
  std::string message = Message("PUT", std::string(kContent) + "?path=a", "hello", "Expect: 100-continue\r\n");
  client.Send(message.substr(0, message.size() - 5));
  EXPECT_EQ(client.Receive().status, 100);
  client.Send("hello");
  EXPECT_EQ(client.Receive().status, 200);
  EXPECT_EQ(service_.files["a"], "hello");
}

TEST_F(UploadTest, ABrokenUploadLeavesNoFile) {
  RawClient client = Connect();
  std::string message = Message("PUT", std::string(kContent) + "?path=a", std::string(1'000, 'x'));
  client.Send(message.substr(0, message.size() - 1));
  client.ShutDownSending();
  EXPECT_TRUE(client.AtEnd());
  EXPECT_TRUE(service_.files.empty());
  RawClient malformed = Connect();
  message = Message("PUT", std::string(kContent) + "?path=a");
  message.replace(message.find("Content-Length: 0"), 17, "Transfer-Encoding: chunked");
  malformed.Send(message + "zz\r\n");
  EXPECT_EQ(malformed.Receive().status, 400);
}

}  // namespace
}  // namespace dormouse::http
