// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "common/base64.h"
#include "service/service_fixture.h"
#include "store/store.h"

namespace dormouse::service {
namespace {

using std::string_literals::operator""s;

const std::string kPng = "\x89PNG\r\n\x1a\n"s + "pixels";

std::string Display(const std::string& mime, const std::string& value) {
  return "display {\"data\":{\"" + mime + "\":\"" + value + "\"}}";
}

class ArtifactsTest : public testing::ServiceTest {
 protected:
  Result<FileInfo> Write(const std::string& sandbox, const std::string& path,
                         const std::string& content) {
    Service::WriteFile request;
    request.sandbox_id = sandbox;
    request.path = path;
    request.content = content;
    return Await(service().Write(request));
  }
  Result<Artifact> Create(const std::string& sandbox, const std::string& path,
                          const std::string& name = "") {
    return Await(service().Create(CreateArtifact{sandbox, path, name}));
  }
  std::string Read(const std::string& id) {
    const auto opened = Await(service().OpenArtifact(id));
    if (!opened.ok()) return "error: " + opened.error().message;
    std::string bytes(opened->artifact.size_bytes + 1, '\0');
    bytes.resize(
        static_cast<std::size_t>(::pread(opened->descriptor.get(), bytes.data(), bytes.size(), 0)));
    return bytes;
  }
  std::vector<Artifact> List(const std::string& sandbox, bool historical = false) {
    ListArtifacts request;
    request.sandbox_id = sandbox;
    request.historical = historical;
    const auto page = Await(service().List(request));
    EXPECT_TRUE(page.ok()) << page.error().message;
    return page.ok() ? page->items : std::vector<Artifact>();
  }
  RunResult Promote(const std::string& sandbox, const std::string& code,
                    std::shared_ptr<RunListener> listener = nullptr, bool capture = false) {
    RunRequest request = Request(sandbox, "", code);
    request.artifact_policy = ArtifactPolicy::kPromote;
    request.capture_full_output = capture;
    auto result = Await(service().Run(request, std::move(listener)));
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? std::move(*result) : RunResult();
  }
  static std::string Summary(const CodeOutput& output) {
    if (output.kind == CodeOutput::Kind::kInline) return output.format + " inline";
    if (output.kind == CodeOutput::Kind::kArtifact) {
      return output.format + " artifact" + (output.active_content ? " active" : "");
    }
    return output.format + " " + output.reason;
  }
  static std::vector<std::string> Summaries(const RunResult& result) {
    std::vector<std::string> summaries;
    for (const CodeOutput& output : result.outputs) summaries.push_back(Summary(output));
    return summaries;
  }
};

TEST_F(ArtifactsTest, AFileBecomesAnArtifactThatOutlivesFileSandboxAndServer) {
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "report.csv", "a,b\n1,2\n").ok());
  const auto artifact = Create(sandbox, "report.csv");
  ASSERT_TRUE(artifact.ok()) << artifact.error().message;
  EXPECT_TRUE(artifact->id.starts_with("art_"));
  EXPECT_EQ(artifact->name, "report.csv");
  EXPECT_EQ(artifact->content_type, "text/csv");
  EXPECT_EQ(artifact->source_path, "/workspace/report.csv");
  EXPECT_EQ(artifact->size_bytes, 8u);
  EXPECT_EQ(artifact->sandbox_id, sandbox);
  EXPECT_EQ(artifact->sha256, Sha256("a,b\n1,2\n").Hex());
  ASSERT_TRUE(artifact->expires_at);
  EXPECT_EQ(*artifact->expires_at - artifact->created_at, std::chrono::hours(30 * 24));
  ASSERT_TRUE(Write(sandbox, "report.csv", "changed").ok());
  EXPECT_EQ(Read(artifact->id), "a,b\n1,2\n");
  ASSERT_TRUE(Await(service().DestroySandbox(sandbox)).ok());
  EXPECT_EQ(Create(sandbox, "report.csv").error().code, ErrorCode::kSandboxDestroyed);
  EXPECT_EQ(List(sandbox).size(), 1u);
  Close();
  EXPECT_EQ(Read(artifact->id), "a,b\n1,2\n");
  EXPECT_EQ(List(sandbox).size(), 1u);
}

TEST_F(ArtifactsTest, RefusesWhatCannotBecomeOne) {
  config.artifact_bytes = 1'024;
  const std::string sandbox = NewSandbox();
  EXPECT_EQ(Create(sandbox, "missing").error().code, ErrorCode::kFileNotFound);
  EXPECT_EQ(Create(sandbox, "/workspace").error().code, ErrorCode::kPathIsDirectory);
  EXPECT_EQ(Create(sandbox, "/etc/passwd").error().code, ErrorCode::kPathOutsideWorkspace);
  ASSERT_TRUE(Write(sandbox, "big", std::string(1'025, 'x')).ok());
  EXPECT_EQ(Create(sandbox, "big").error().code, ErrorCode::kFileTooLarge);
  EXPECT_EQ(Create(sandbox, "big", "a\nb").error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(Create("sbx_none", "big").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Await(service().GetArtifact("art_none")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Await(service().GetArtifact("nonsense")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Await(service().List(ListArtifacts{.sandbox_id = "sbx_none"})).error().code,
            ErrorCode::kNotFound);
}

TEST_F(ArtifactsTest, ADeletedOneIsATombstone) {
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "a", "1").ok());
  const std::string id = Create(sandbox, "a")->id;
  const auto deleted = Await(service().DeleteArtifact(id));
  ASSERT_TRUE(deleted.ok());
  ASSERT_TRUE(deleted->deleted_at);
  EXPECT_TRUE(deleted->sha256.empty());
  EXPECT_EQ(Await(service().DeleteArtifact(id))->deleted_at, deleted->deleted_at) << "again";
  EXPECT_EQ(Await(service().GetArtifact(id))->deleted_at, deleted->deleted_at);
  EXPECT_EQ(Await(service().OpenArtifact(id)).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(List(sandbox).empty());
  EXPECT_EQ(List(sandbox, true).size(), 1u);
}

TEST_F(ArtifactsTest, RetentionEndsThemAtOnceAndTheSweepFollows) {
  config.artifact_retention = std::chrono::milliseconds(300);
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "a", "1").ok());
  const auto artifact = Create(sandbox, "a");
  ASSERT_TRUE(artifact.ok());
  EXPECT_TRUE(Eventually([&] { return !Await(service().OpenArtifact(artifact->id)).ok(); }));
  const auto ended = Await(service().GetArtifact(artifact->id));
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->deleted_at, artifact->expires_at);
  EXPECT_TRUE(List(sandbox).empty());
  // Housekeeping looks once a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
  Close();
  auto store = store::OpenSqliteStore({.directory = config.data_directory, .step_hook = {}});
  ASSERT_TRUE(store.ok());
  const auto row = (*store)->ReadArtifact(artifact->id);
  ASSERT_TRUE(row.ok() && *row);
  EXPECT_TRUE((*row)->deleted_ms);
  EXPECT_FALSE((*row)->digest) << "the bytes are let go";
}

TEST_F(ArtifactsTest, TheQuotaHoldsAndDeletionGivesRoomBack) {
  config.artifact_sandbox_bytes = 3 * 4'096;
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "large", std::string(8'192, 'x')).ok());
  ASSERT_TRUE(Write(sandbox, "small", "x").ok());
  const auto large = Create(sandbox, "large");
  ASSERT_TRUE(large.ok());
  ASSERT_TRUE(Create(sandbox, "small").ok()) << "counts as 4096 bytes";
  EXPECT_EQ(Create(sandbox, "small").error().code, ErrorCode::kQuotaExceeded);
  const RunResult run = Promote(sandbox, Display("text/html", "<b>"));
  EXPECT_EQ(Summaries(run), std::vector<std::string>{"html quota_exceeded"});
  Close();
  EXPECT_EQ(Create(sandbox, "small").error().code, ErrorCode::kQuotaExceeded) << "after a restart";
  ASSERT_TRUE(Await(service().DeleteArtifact(large->id)).ok());
  ASSERT_TRUE(Await(service().DeleteArtifact(large->id)).ok());
  EXPECT_TRUE(Create(sandbox, "small").ok());
  EXPECT_TRUE(Create(sandbox, "small").ok());
  EXPECT_EQ(Create(sandbox, "small").error().code, ErrorCode::kQuotaExceeded);
  EXPECT_TRUE(Create(NewSandbox(), "small").error().code == ErrorCode::kFileNotFound);
}

TEST_F(ArtifactsTest, PagesGoThroughAll) {
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "a", "1").ok());
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(Create(sandbox, "a", std::to_string(i)).ok());
  ListArtifacts request;
  request.sandbox_id = sandbox;
  request.page.limit = 3;
  std::set<std::string> seen;
  int pages = 0;
  do {
    const auto page = Await(service().List(request));
    ASSERT_TRUE(page.ok());
    for (const Artifact& artifact : page->items) EXPECT_TRUE(seen.insert(artifact.name).second);
    request.page.cursor = page->next_cursor;
    ++pages;
  } while (!request.page.cursor.empty());
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(pages, 3);
}

TEST_F(ArtifactsTest, PromotedOutputsAreThereWhenTheRunIs) {
  const std::string sandbox = NewSandbox();
  const RunResult run = Promote(
      sandbox, "display {\"data\":{\"text/plain\":\"t\",\"image/png\":\"" + Base64Encode(kPng) + "\"}}\n" +
                   Display("text/html", "<p>") + "\n" + Display("image/svg+xml", "<svg onload='1'/>") +
                   "\n" + Display("image/png", Base64Encode("<html>")) + "\n" +
                   Display("image/jpeg", "AAAA") + "\n" + Display("image/png", "no base64!"));
  const std::vector<std::string> wanted = {"text inline",
                                           "png artifact",
                                           "html artifact active",
                                           "svg artifact active",
                                           "png unsafe_active_content",
                                           "jpeg unsupported_format",
                                           "png unsupported_format"};
  EXPECT_EQ(Summaries(run), wanted);
  EXPECT_EQ(Read(run.outputs[1].artifact_id), kPng);
  const auto png = Await(service().GetArtifact(run.outputs[1].artifact_id));
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(png->name, "output-2.png");
  EXPECT_EQ(png->run_id, run.run_id);
  EXPECT_EQ(png->content_type, "image/png");
  EXPECT_TRUE(png->may_show_inline);
  EXPECT_TRUE(Await(service().GetArtifact(run.outputs[2].artifact_id))->active_content);
  EXPECT_EQ(List(sandbox).size(), 3u);
}

TEST_F(ArtifactsTest, LargeDataIsPromotedOnlyWhenAsked) {
  config.inline_output_bytes = 1'024;
  config.promoted_output_bytes = 4'096;
  const std::string sandbox = NewSandbox();
  const std::string value(2'000, 'x'), huge(5'000, 'x');
  EXPECT_EQ(Run(sandbox, "", Display("application/json", value)).outputs[0].reason, "output_too_large");
  const RunResult run = Promote(sandbox, Display("application/json", value) + "\n" +
                                             Display("application/json", "small") + "\n" +
                                             Display("application/vnd.vegalite.v5+json", value) + "\n" +
                                             Display("application/json", huge) + "\n" +
                                             Display("text/plain", value));
  const std::vector<std::string> wanted = {"json artifact", "json inline", "chart artifact",
                                           "json output_too_large", "text inline"};
  EXPECT_EQ(Summaries(run), wanted);
  EXPECT_EQ(Read(run.outputs[0].artifact_id), "\"" + value + "\"");
  EXPECT_EQ(Await(service().GetArtifact(run.outputs[0].artifact_id))->name, "output-1.json");
}

TEST_F(ArtifactsTest, ACallerWithoutTheRightGetsNone) {
  const std::string sandbox = NewSandbox();
  RunRequest request = Request(sandbox, "", Display("text/html", "x"));
  request.artifact_policy = ArtifactPolicy::kPromote;
  request.may_create_artifacts = false;
  const auto run = Await(service().Run(request, nullptr));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->outputs[0].reason, "artifact_scope_required");
  request.capture_full_output = true;
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kForbidden);
}

TEST_F(ArtifactsTest, ARolledBackRunLeavesNone) {
  const std::string sandbox = NewSandbox();
  auto recorder = std::make_shared<testing::Recorder>();
  const RunResult run = Promote(sandbox, Display("text/html", "x") + "\nprint y\ncrash", recorder, true);
  EXPECT_EQ(run.state, scheduler::StateOutcome::kRolledBack);
  EXPECT_EQ(Summaries(run), std::vector<std::string>{"html not_saved"});
  EXPECT_TRUE(run.stdout_artifact_id.empty());
  EXPECT_TRUE(List(sandbox, true).empty());
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"start", run.run_id}, {"stdout", "y"}, {"output", "html"}, {"error", "EngineCrash"}};
  EXPECT_EQ(recorder->events(), wanted);
}

// Fetches each artifact at the moment its event comes.
class Fetcher : public RunListener {
 public:
  explicit Fetcher(std::function<std::string(const std::string& id)> read) : read_(std::move(read)) {}
  void OnStart(const std::string&, const std::string&) override {}
  void OnStdout(std::string_view text) override { order += "[" + std::string(text) + "]"; }
  void OnStderr(std::string_view) override {}
  void OnError(const CodeError&) override {}
  void OnOutput(const CodeOutput& output) override {
    order += output.format + " ";
    if (output.kind == CodeOutput::Kind::kArtifact) fetched.push_back(read_(output.artifact_id));
  }
  std::string order;
  std::vector<std::string> fetched;

 private:
  const std::function<std::string(const std::string& id)> read_;
};

TEST_F(ArtifactsTest, AnOutputsEventComesWhenItsArtifactCanBeFetched) {
  const std::string sandbox = NewSandbox();
  auto fetcher = std::make_shared<Fetcher>([this](const std::string& id) { return Read(id); });
  Promote(sandbox,
          Display("text/plain", "1") + "\nprint a\n" + Display("text/html", "first") + "\nprint b\n" +
              Display("text/latex", "2") + "\n" + Display("text/html", "second") + "\nprint c",
          fetcher);
  EXPECT_EQ(fetcher->order, "text [a][b][c]html latex html ");
  EXPECT_EQ(fetcher->fetched, (std::vector<std::string>{"first", "second"}));
}

TEST_F(ArtifactsTest, FullStreamsBecomeArtifacts) {
  config.stream_bytes = 1'024;
  config.captured_stream_bytes = 40'000;
  const std::string sandbox = NewSandbox();
  const std::string line(3'000, 'o');
  std::string code;
  for (int i = 0; i < 10; ++i) code += "print " + line + "\n";
  const RunResult run = Promote(sandbox, code + "err short", nullptr, true);
  EXPECT_TRUE(run.out.truncated);
  EXPECT_EQ(run.out.total_bytes, 30'000u);
  EXPECT_EQ(Read(run.stdout_artifact_id), std::string(30'000, 'o'));
  EXPECT_EQ(Read(run.stderr_artifact_id), "short");
  const auto out = Await(service().GetArtifact(run.stdout_artifact_id));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->name, "stdout.txt");
  EXPECT_EQ(out->content_type, "text/plain");
  const RunResult more = Promote(sandbox, code + code, nullptr, true);
  EXPECT_EQ(more.out.total_bytes, 60'000u);
  EXPECT_EQ(Read(more.stdout_artifact_id).size(), 40'000u) << "its beginning";
  EXPECT_TRUE(more.stderr_artifact_id.empty()) << "nothing was written";
  const RunResult binary = Promote(sandbox, "hex ff00", nullptr, true);
  EXPECT_EQ(Read(binary.stdout_artifact_id), "\xff\0"s);
  EXPECT_EQ(Await(service().GetArtifact(binary.stdout_artifact_id))->content_type,
            "application/octet-stream");
  EXPECT_TRUE(Promote(sandbox, "print x").stdout_artifact_id.empty());
  RunRequest request = Request(sandbox, "", "print x");
  request.capture_full_output = true;
  EXPECT_EQ(Await(service().Run(request, nullptr)).error().code, ErrorCode::kInvalidRequest);
}

TEST_F(ArtifactsTest, EqualContentsAreStoredOnceAndKeptForTheLast) {
  const std::string sandbox = NewSandbox();
  const std::string page(50'000, 'p');
  const RunResult run = Promote(sandbox, Display("text/html", page) + "\n" + Display("text/html", page));
  ASSERT_EQ(run.outputs.size(), 2u);
  ASSERT_TRUE(Await(service().DeleteArtifact(run.outputs[0].artifact_id)).ok());
  EXPECT_EQ(Read(run.outputs[1].artifact_id), page);
}

TEST_F(ArtifactsTest, UploadsOfAnySizeBecomeFiles) {
  const std::string sandbox = NewSandbox();
  const std::string content(3'000'000, 'u');
  const Service::UploadTarget target{sandbox, "dir/big", true, true};
  auto upload = Await(service().BeginUpload(target));
  ASSERT_TRUE(upload.ok()) << upload.error().message;
  EXPECT_EQ(upload->limit_bytes, config.workspace_bytes);
  ASSERT_EQ(::pwrite(upload->file.get(), content.data(), content.size(), 0),
            static_cast<ssize_t>(content.size()));
  const auto file = Await(service().FinishUpload(target, std::move(upload->file)));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->size_bytes, content.size());
  const auto opened = Await(service().OpenFile(sandbox, "dir/big"));
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(*Sha256OfFile(opened->descriptor.get()), Sha256(content));
  EXPECT_EQ(Await(service().BeginUpload({sandbox, "none/x", false, true})).error().code,
            ErrorCode::kParentDirectoryNotFound);
  EXPECT_EQ(Await(service().BeginUpload({sandbox, "dir/big", false, false})).error().code,
            ErrorCode::kFileAlreadyExists);
  EXPECT_EQ(Await(service().BeginUpload({sandbox, "dir", false, true})).error().code,
            ErrorCode::kPathIsDirectory);
}

TEST_F(ArtifactsTest, AnUploadsRoomIsWhatTheQuotaLeaves) {
  config.workspace_bytes = 10'000;
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "a", std::string(4'000, 'x')).ok());
  EXPECT_EQ(Await(service().BeginUpload({sandbox, "b"}))->limit_bytes, 6'000u);
  EXPECT_EQ(Await(service().BeginUpload({sandbox, "a"}))->limit_bytes, 10'000u);
}

}  // namespace
}  // namespace dormouse::service
