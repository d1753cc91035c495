// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>

#include "http/test_server.h"

namespace dormouse::http {
namespace {

namespace json = boost::json;

service::WorkspaceRunEvent Event(std::int64_t seq, std::string type, std::string data = "") {
  service::WorkspaceRunEvent event;
  event.run_id = "wsr_1";
  event.seq = seq;
  event.type = std::move(type);
  event.data = std::move(data);
  return event;
}

class WorkspaceRunsTest : public TestServer {
 protected:
  FakeWorkspaceRuns& runs() { return service_.fake_workspace_runs; }
  std::string FaultOf(std::string_view method, std::string_view target, std::string_view body) {
    const RawResponse response = Call(method, target, body);
    EXPECT_EQ(response.status, 400) << body;
    return response.status == 400 ? response.ErrorField() : "";
  }
};

TEST_F(WorkspaceRunsTest, CreatePassesEveryField) {
  const RawResponse response = Call(
      "POST", "/v1/workspace-runs",
      R"({"command":"python a.py","artifacts":[{"path":"out","name":"n"},{"path":"b"}],"keepSandbox":true,
          "metadata":{"k":"v"},"sourceMetadata":{"n":[1,{}]},"projectId":"p","sandboxId":"s","template":"t",
          "templateVersionId":"tplv_t","timeoutMs":5})");
  ASSERT_EQ(response.status, 201) << response.body;
  const service::CreateWorkspaceRun& request = runs().last_create;
  EXPECT_EQ(request.command, "python a.py");
  ASSERT_EQ(request.artifacts.size(), 2u);
  EXPECT_EQ(request.artifacts[0].name, "n");
  EXPECT_TRUE(request.keep_sandbox);
  EXPECT_EQ(request.source_metadata, R"({"n":[1,{}]})");
  EXPECT_EQ(request.timeout_ms, 5);
  const json::object run = response.Json().at("workspaceRun").as_object();
  EXPECT_EQ(run.at("envKeys"), json::value(json::array{"TOKEN"}));
  EXPECT_EQ(run.at("cleanupStatus"), "pending");
  EXPECT_EQ(run.at("sourceMetadata"), json::value({{"branch", "m\u00e4in"}}));
}

TEST_F(WorkspaceRunsTest, BadFieldsAreNamed) {
  const std::string route = "/v1/workspace-runs";
  EXPECT_EQ(FaultOf("POST", route, "{}"), "command");
  EXPECT_EQ(FaultOf("POST", route, R"({"command":"x","artifacts":{}})"), "artifacts");
  EXPECT_EQ(FaultOf("POST", route, R"({"command":"x","artifacts":[1]})"), "artifacts");
  EXPECT_EQ(FaultOf("POST", route, R"({"command":"x","artifacts":[{"path":"a","x":"b"}]})"), "artifacts");
  EXPECT_EQ(FaultOf("POST", route, R"({"command":"x","sourceMetadata":"s"})"), "sourceMetadata");
  EXPECT_EQ(FaultOf("POST", route, R"({"command":"x","timeoutMs":600001})"), "timeoutMs");
  EXPECT_EQ(FaultOf("POST", route, R"({"command":"x","env":{}})"), "env");
  EXPECT_EQ(FaultOf("GET", route + "?status=gone", ""), "status");
  EXPECT_EQ(FaultOf("GET", route + "/wsr_1/events?limit=501", ""), "limit");
  EXPECT_EQ(FaultOf("GET", route + "/wsr_1/events?afterSeq=-1", ""), "afterSeq");
  EXPECT_EQ(FaultOf("GET", route + "/wsr_1/events?stream=1", ""), "stream");
  EXPECT_EQ(FaultOf("POST", route + "/wsr_1/archive-transfer", R"({"sha256":"ab","sizeBytes":1})"), "sha256");
  EXPECT_EQ(FaultOf("POST", route + "/wsr_1/start", R"({"x":1})"), "x");
}

TEST_F(WorkspaceRunsTest, ArchivesComeWithTheirDigestAndSize) {
  const std::string digest = Sha256("abc").Hex();
  const RawResponse response =
      Call("PUT", "/v1/workspace-runs/wsr_1/archive", "abc",
           "Content-Type: application/gzip\r\nX-CrowNest-Archive-Sha256: " + digest +
               "\r\nX-CrowNest-Archive-Size: 3\r\n");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(runs().last_upload.bytes, "abc");
  EXPECT_EQ(runs().last_upload.sha256, Sha256("abc"));
  EXPECT_EQ(runs().last_upload.size_bytes, 3u);
  EXPECT_TRUE(response.Json().at("archive").is_object());
  EXPECT_EQ(Call("PUT", "/v1/workspace-runs/wsr_1/archive", "abc", "Content-Type: application/zip\r\n").status,
            415);
}

TEST_F(WorkspaceRunsTest, ATooLargeArchiveIsRefusedByName) {
  RawClient client = Connect();
  client.Send("PUT /v1/workspace-runs/wsr_1/archive HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
              std::string(kTestKey) + "\r\nContent-Length: 99999999\r\n\r\n");
  const RawResponse response = client.Receive();
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.ErrorCode(), "archive_too_large");
}

TEST_F(WorkspaceRunsTest, AStagedUploadAnswersWithoutBody) {
  RawClient client = Connect();
  client.Send(Message("PUT", "/v1/workspace-runs/wsr_1/archive-transfer/upl_1", "abc",
                      "Content-Type: application/gzip\r\n"));
  const RawResponse response = client.Receive(true);
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.Header("content-length"), "");
  EXPECT_EQ(response.Header("content-type"), "");
  // The connection goes on.
  client.Send(Message("GET", "/v1/workspace-runs/wsr_1"));
  EXPECT_EQ(client.Receive().status, 200);
  runs().upload_limit = 2;
  const RawResponse refused = Call("PUT", "/v1/workspace-runs/wsr_1/archive-transfer/upl_1", "abc");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.ErrorCode(), "upload_size_mismatch");
}

TEST_F(WorkspaceRunsTest, EventsArePaged) {
  runs().events = {Event(1, "status", "running"), Event(2, "stdout", "a"), Event(3, "stdout", "b")};
  const json::object page = Call("GET", "/v1/workspace-runs/wsr_1/events?afterSeq=1&limit=1").Json();
  EXPECT_EQ(page.at("data").as_array().size(), 1u);
  EXPECT_EQ(page.at("data").as_array()[0].as_object().at("data"), "a");
  EXPECT_EQ(page.at("hasMore"), true);
  EXPECT_EQ(page.at("nextSeq"), 2);
  const json::object rest = Call("GET", "/v1/workspace-runs/wsr_1/events?afterSeq=3").Json();
  EXPECT_EQ(rest.at("hasMore"), false);
  EXPECT_FALSE(rest.contains("nextSeq"));
}

TEST_F(WorkspaceRunsTest, TheStreamIsAsciiLinesAndEndsWithTerminal) {
  runs().run.status = "succeeded";
  runs().run.finished_ms = 3'000;
  runs().run.last_seq = 2;
  runs().events = {Event(1, "stdout", "\u00e4\u2028\n\r"), Event(2, "terminal")};
  const RawResponse response = Call("GET", "/v1/workspace-runs/wsr_1/events?stream=true");
  ASSERT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("content-type"), "text/event-stream");
  EXPECT_TRUE(response.body.starts_with("event: stdout\nid: 1\ndata: {\"type\":\"stdout\",\"seq\":1,")) << response.body;
  EXPECT_NE(response.body.find("\"data\":\"\\u00e4\\u2028\\n\\r\""), std::string::npos) << response.body;
  for (const char c : response.body) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F));
  EXPECT_NE(response.body.find("event: terminal\nid: 2\n"), std::string::npos);
  EXPECT_NE(response.body.find("\"workspaceRun\":{"), std::string::npos);
  // Whoever comes back after the end gets the end again.
  const RawResponse again = Call("GET", "/v1/workspace-runs/wsr_1/events?stream=true&afterSeq=2");
  EXPECT_TRUE(again.body.starts_with("event: terminal\nid: 2\n")) << again.body;
}

TEST_F(WorkspaceRunsTest, EvidenceIsTheRunInBrief) {
  const json::object evidence =
      Call("GET", "/v1/workspace-runs/wsr_1/evidence").Json().at("evidence").as_object();
  EXPECT_EQ(evidence.at("workspaceRunId"), "wsr_1");
  EXPECT_EQ(evidence.at("orchestrationSucceeded"), false);
  EXPECT_EQ(evidence.at("artifactIds"), json::array());
}

}  // namespace
}  // namespace dormouse::http
