// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "common/sha256.h"
#include "service/service_fixture.h"

namespace dormouse::service {
namespace {

class FilesTest : public testing::ServiceTest {
 protected:
  Result<FileInfo> Write(const std::string& sandbox, const std::string& path,
                         const std::string& content) {
    Service::WriteFile request;
    request.sandbox_id = sandbox;
    request.path = path;
    request.content = content;
    return Await(service().Write(request));
  }
  std::string Read(const std::string& sandbox, const std::string& path) {
    const auto file = Await(service().OpenFile(sandbox, path));
    if (!file.ok()) return "error: " + file.error().message;
    std::string text(file->info.size_bytes + 1, '\0');
    text.resize(static_cast<std::size_t>(::pread(file->descriptor.get(), text.data(), text.size(), 0)));
    return text;
  }
  std::vector<std::string> Names(const std::string& sandbox, const std::string& path) {
    std::vector<std::string> names;
    const auto files = Await(service().ListFiles(sandbox, path));
    if (!files.ok()) return {"error: " + files.error().message};
    for (const FileInfo& file : *files) names.push_back(file.name);
    return names;
  }
};

TEST_F(FilesTest, ContextsAndClientsSeeEachOthersFiles) {
  const std::string sandbox = NewSandbox();
  const std::string a = NewContext(sandbox), b = NewContext(sandbox);
  ASSERT_TRUE(Write(sandbox, "in", "from client").ok());
  const RunResult first = Run(sandbox, a, "cat in\nwrite out from-a");
  EXPECT_EQ(first.out.text, "from client");
  EXPECT_EQ(first.files_written, std::vector<std::string>{"/workspace/out"});
  EXPECT_EQ(Run(sandbox, b, "cat out").out.text, "from-a");
  EXPECT_EQ(Read(sandbox, "/workspace/out"), "from-a");
  const RunResult removed = Run(sandbox, b, "remove in");
  EXPECT_EQ(removed.files_deleted, std::vector<std::string>{"/workspace/in"});
  EXPECT_EQ(Names(sandbox, "."), std::vector<std::string>{"out"});
  Run(sandbox, a, "cat in");
  EXPECT_FALSE(world->last_full_manifest);
  Evict(sandbox, a);
  EXPECT_EQ(Run(sandbox, a, "cat in\ncat out").out.text, "no such filefrom-a");
  EXPECT_TRUE(world->last_full_manifest);
  Close();
  EXPECT_EQ(Read(sandbox, "out"), "from-a");
}

TEST_F(FilesTest, LargeFilesGoByFileAndComeBackWhole) {
  const std::string sandbox = NewSandbox();
  Run(sandbox, "", "big blob 3000000");
  const std::string blob = Read(sandbox, "blob");
  EXPECT_EQ(blob, std::string(3'000'000, 'x'));
  Run(sandbox, "", "copy blob blob2");
  EXPECT_EQ(Await(service().Info(sandbox))->workspace_bytes, 6'000'000u);
}

TEST_F(FilesTest, LastCommitToAPathWinsAndLostParentsComeBack) {
  const std::string sandbox = NewSandbox();
  const std::string a = NewContext(sandbox), b = NewContext(sandbox);
  Run(sandbox, a, "mkdir d\nwrite d/old x");
  auto slow = Begin(service().Run(Request(sandbox, b, "write d/new from-b\nwrite both from-b\nsleep"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  Run(sandbox, a, "remove d/old\nremove d\nwrite both from-a");
  ASSERT_TRUE(Await(service().InterruptContext(sandbox, b)).ok());
  ASSERT_TRUE(slow.get().ok());
  EXPECT_EQ(Names(sandbox, "."), (std::vector<std::string>{"both", "d"}));
  EXPECT_EQ(Names(sandbox, "d"), std::vector<std::string>{"new"});
  EXPECT_EQ(Read(sandbox, "both"), "from-b");
}

TEST_F(FilesTest, ContentOfAReplacedFileStaysReadableForARunThatWasToldOfIt) {
  const std::string sandbox = NewSandbox();
  const std::string context = NewContext(sandbox);
  ASSERT_TRUE(Write(sandbox, "f", "first").ok());
  Run(sandbox, context, "ls");
  auto slow = Begin(service().Run(Request(sandbox, context, "sleep"), nullptr));
  ASSERT_TRUE(WaitForRunning(1));
  ASSERT_TRUE(Write(sandbox, "f", "second").ok());
  ASSERT_TRUE(Await(service().InterruptContext(sandbox, context)).ok());
  ASSERT_TRUE(slow.get().ok());
  EXPECT_EQ(Run(sandbox, context, "cat f").out.text, "second");
}

TEST_F(FilesTest, FileOperationsReportWhatIsWrong) {
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "file", "x").ok());
  EXPECT_EQ(Write(sandbox, "no/such/dir", "x").error().code, ErrorCode::kParentDirectoryNotFound);
  EXPECT_EQ(Write(sandbox, "file/below", "x").error().code, ErrorCode::kPathNotDirectory);
  EXPECT_EQ(Write(sandbox, "/etc/passwd", "x").error().code, ErrorCode::kPathOutsideWorkspace);
  EXPECT_EQ(Write(sandbox, "../../etc/passwd", "x").error().code, ErrorCode::kPathOutsideWorkspace);
  EXPECT_EQ(Write(sandbox, "", "x").error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(Write(sandbox, std::string(256, 'n'), "x").error().code, ErrorCode::kInvalidRequest);
  EXPECT_TRUE(Write(sandbox, std::string(255, 'n'), "x").ok());
  EXPECT_EQ(Write(sandbox, std::string("a\0b", 3), "x").error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(Write(sandbox, "\xff", "x").error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(Write(sandbox, "large", std::string(config.direct_file_bytes + 1, 'x')).error().code,
            ErrorCode::kFileTooLarge);
  Service::MakeDirectory make{sandbox, "file", false};
  EXPECT_EQ(Await(service().Make(make)).error().code, ErrorCode::kFileAlreadyExists);
  make = {sandbox, "a/b/c", true};
  EXPECT_EQ(Await(service().Make(make))->path, "/workspace/a/b/c");
  EXPECT_EQ(Await(service().DeleteFile(sandbox, "a")).error().code, ErrorCode::kDirectoryNotEmpty);
  EXPECT_EQ(Await(service().DeleteFile(sandbox, "none")).error().code, ErrorCode::kFileNotFound);
  EXPECT_EQ(Await(service().OpenFile(sandbox, "a")).error().code, ErrorCode::kPathIsDirectory);
  EXPECT_EQ(Await(service().Move({sandbox, "file", "a/b", true})).error().code,
            ErrorCode::kPathIsDirectory);
  EXPECT_EQ(Await(service().Move({sandbox, "a", "a/b/x", true})).error().code,
            ErrorCode::kInvalidRequest);
  EXPECT_EQ(Await(service().Move({sandbox, "a", "moved", false}))->path, "/workspace/moved");
  EXPECT_EQ(Names(sandbox, "moved/b"), std::vector<std::string>{"c"});
}

TEST_F(FilesTest, QuotaHoldsForClientsAndRuns) {
  config.workspace_bytes = 1u << 20;
  config.workspace_files = 3;
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "a", "1").ok());
  ASSERT_TRUE(Write(sandbox, "b", "2").ok());
  ASSERT_TRUE(Write(sandbox, "c", "3").ok());
  EXPECT_EQ(Write(sandbox, "d", "4").error().code, ErrorCode::kQuotaExceeded);
  const RunResult over = Run(sandbox, "", "set x 1\nwrite d 4");
  EXPECT_TRUE(over.stale);
  EXPECT_NE(over.stale_reason.find("limit 3"), std::string::npos);
  EXPECT_EQ(Names(sandbox, ".").size(), 3u);
  // Making room saves everything.
  const RunResult fits = Run(sandbox, "", "get x\nremove a");
  EXPECT_EQ(fits.out.text, "1");
  EXPECT_FALSE(fits.stale);
  EXPECT_EQ(Names(sandbox, "."), (std::vector<std::string>{"b", "c", "d"}));
}

TEST_F(FilesTest, LinksOfGuestsLeadNowhereOutside) {
  const std::string sandbox = NewSandbox();
  ASSERT_TRUE(Write(sandbox, "real", "inside").ok());
  Run(sandbox, "", "link good real\nlink abs /workspace/real\nlink etc /etc/passwd\nlink up ../../etc/passwd\nlink loop loop");
  EXPECT_EQ(Read(sandbox, "good"), "inside");
  EXPECT_EQ(Read(sandbox, "abs"), "inside");
  EXPECT_EQ(Await(service().OpenFile(sandbox, "etc")).error().code, ErrorCode::kPathOutsideWorkspace);
  EXPECT_EQ(Await(service().OpenFile(sandbox, "up")).error().code, ErrorCode::kPathOutsideWorkspace);
  EXPECT_EQ(Await(service().OpenFile(sandbox, "loop")).error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(Write(sandbox, "etc", "x").error().code, ErrorCode::kPathOutsideWorkspace);
  EXPECT_EQ(Await(service().StatFile(sandbox, "etc"))->type, FileType::kSymlink);
  EXPECT_TRUE(Await(service().DeleteFile(sandbox, "etc")).ok());
}

}  // namespace
}  // namespace dormouse::service
